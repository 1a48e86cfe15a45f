"""A failure of a message's work is caught, and the message counts as done.

## What it does
Reports a `catch` after which the message is neither given back nor written down anywhere, and the handler goes on to its
end: also `allSettled()` of whose results the failed ones are only logged, a result that says that it failed, and an
acknowledgement in `finally`. A body that can never be right may be passed over, and so may what comes beside work that is
done.

## Why it matters
When the handler returns, every message that nothing was said of is acknowledged. An error that was caught and logged is no
failure for the queue: the message is gone, and was never processed.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await env.KV.put(message.body.id, "done");
      } catch (error) {
        console.error(error);
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
            except Exception as error:
                print(error)
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
      }
    }
  },
};
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Severity
from cfq_lint.rules import signs
from cfq_lint.rules._ways import (
    calls,
    counts_as_done,
    every_way,
    has_failed,
    is_given_back,
    is_plain,
    keyword,
    line_of,
    once,
    per_queue,
    related,
)
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.following.effects import is_aside
from cfq_lint.worker_code.ways.state import ACKS, LAST, OF_ERROR, OF_STATUS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code, Consuming
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.ways.marks import Mark
    from cfq_lint.worker_code.ways.state import State


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each place where a failure is caught, or looked at."""
    for mark, work in once(found for consuming in per_queue(code) for found in _swallowed(consuming)):
        message = (
            f"what fails here ({line_of(work, mark)}) is passed over, and the message counts as done: it is lost; call"
            " retry(), or throw"
        )
        yield RULE.finding(keyword(code, mark), message, related=(related(code, work, "what may fail"),))


def _swallowed(consuming: Consuming) -> Iterator[tuple[Mark, Mark]]:
    if consuming.is_dead_letters:
        return  # there it ends
    handled = consuming.handled
    known = calls(handled)
    ways = handled.ended | (frozenset(state for state in handled.raised if state.settled in ACKS))
    said_apart = {mark for mark, states in _acked(consuming) if all(state.failed or state.noted for state in states)}
    for state in every_way(handled):
        failure = state.failed
        if state not in ways or failure is None or not has_failed(state) or not counts_as_done(state) or not is_plain(state):
            continue
        if state.done or state.lost or state.noted or state.after or state.settled_at in said_apart:
            continue
        if any(state.tells(guard) for guard in (OF_ERROR, OF_STATUS, LAST)) or is_given_back(handled, failure.caught):
            continue
        called = known.get(failure.at)
        if called is None or not is_aside(called):
            yield failure.caught, failure.at


def _acked(consuming: Consuming) -> Iterator[tuple[Mark, set[State]]]:
    """The acknowledgements in so many words: one that only what failed comes to is another rule's."""
    for settled in consuming.handled.settled:
        if settled.how in ACKS:
            yield settled.mark, settled.states


RULE = Rule(
    "CFQ821",
    "failure-swallowed",
    Severity.WARNING,
    limits.PAGE_BATCHING,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.CAUGHT_FAILURE,),
    check=check,
)
