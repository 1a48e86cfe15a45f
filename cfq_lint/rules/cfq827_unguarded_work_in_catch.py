"""Work in a `catch` may throw before `retry()` is reached.

## What it does
Reports what is awaited in a `catch`, or behind another look at a failure, before the message is given back, where nothing
catches a failure of that in turn.

## Why it matters
A note of the failure often fails for the same reason as the work. Then the handler throws: `retry()` is never called, its
delay is lost, and the whole batch comes back instead of the one message.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await env.KV.put(message.body.id, "done");
        message.ack();
      } catch (error) {
        await env.DB.prepare("INSERT INTO errors VALUES (?)").bind(String(error)).run();
        message.retry({ delaySeconds: 60 });
      }
    }
  },
};
```
```py
from workers import WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            try:
                await self.env.KV.put(message.body["id"], "done")
                message.ack()
            except Exception as error:
                await self.env.DB.prepare("INSERT INTO errors VALUES (?)").bind(str(error)).run()
                message.retry(delaySeconds=60)
```

## Good
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await env.KV.put(message.body.id, "done");
        message.ack();
      } catch (error) {
        message.retry({ delaySeconds: 60 });
        try {
          await env.DB.prepare("INSERT INTO errors VALUES (?)").bind(String(error)).run();
        } catch (second) {
          console.error(second);
        }
      }
    }
  },
};
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._ways import calls, nearest, order, per_queue, settling, stands_in, token
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.following.effects import returns_errors
from cfq_lint.worker_code.ways.state import PERHAPS, RETRY, TELL, TIDY, in_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.following.handling import Handled
    from cfq_lint.worker_code.ways.marks import Mark
    from cfq_lint.worker_code.ways.state import Failure, State
    from cfq_lint.worker_code.ways.values import Called


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each piece of work, at its call."""
    found = {
        work: retry for consuming in per_queue(code) if consuming.batch_size > 1 for work, retry in _risked(consuming.handled)
    }
    for work in sorted(found, key=order):
        message = (
            "where this fails too, retry() is not reached: the whole batch comes back, and at once; call retry() first, or"
            " catch what this throws"
        )
        yield RULE.finding(token(code, work), message, related=(Related(settling(code, found[work]), "not reached then"),))


def _risked(handled: Handled) -> Iterator[tuple[Mark, Mark]]:
    known = calls(handled)
    escaping = {
        _at(known, state.error[1], failure) for state, failure in _failed(handled.raised) if state.error and not state.settled
    }
    for settled in handled.settled:
        if settled.how != RETRY:
            continue
        for state, failure in _failed(in_order(settled.states)):
            called = known.get(state.risked) if state.risked is not None else None
            at = _at(known, called.mark, failure) if called is not None else None
            if called is None or at is None or state.settled or at not in escaping:
                continue
            if called.effect in {TELL, TIDY} or (called.effect == PERHAPS and not called.related) or returns_errors(called):
                continue
            yield at, settled.mark


def _failed(states: Iterable[State]) -> Iterator[tuple[State, Failure]]:
    for state in states:
        failure = state.failed or state.noted
        if failure is not None:
            yield state, failure


def _at(known: dict[Mark, Called], mark: Mark, failure: Failure) -> Mark | None:
    """The place in the `catch` that leads to a call, None where the call comes after that."""
    at = nearest(known[mark], failure.caught) if mark in known else mark
    return at if not failure.caught.is_catch or stands_in(at, failure.caught) else None


RULE = Rule(
    "CFQ827",
    "unguarded-work-in-catch",
    Severity.WARNING,
    limits.PAGE_BATCHING,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.WORK_IN_CATCH,),
    check=check,
)
