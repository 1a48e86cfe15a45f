"""What failed is acknowledged.

## What it does
Reports `ack()` where only messages come whose work has failed, in a `catch` or behind a look at a response. On the last
attempt too, where the consumer has a dead-letter queue. Not where the body can never be right, where the error is looked at
first to tell what may be tried again, or where the failure is written down or sent on.

## Why it matters
An acknowledged message is deleted: it is not tried again, and it does not reach the dead-letter queue, which gets only what
was given back until its attempts were spent.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await env.KV.put(message.body.id, "done");
        message.ack();
      } catch (error) {
        if (message.attempts < 3) message.retry({ delaySeconds: 60 });
        else message.ack();
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
                print(error)
                message.ack()
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
from cfq_lint.rules._ways import has_failed, is_plain, line_of, once, per_queue, related, settling
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.ways.state import (
    ACKS,
    INVALID,
    LAST,
    OF_BODY,
    OF_ERROR,
    OF_READ,
    OF_STATUS,
    RETRIES,
    WIDENED,
    in_order,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code, Consuming
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.ways.marks import Mark


_DECIDES = (OF_READ, OF_BODY, WIDENED)
"""Where something of that kind was asked, and what failed is given back on other ways, somebody decided which is which."""


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each acknowledgement, at the name of its method."""
    for mark, (why, work) in once(found for consuming in per_queue(code) for found in _acked(consuming)):
        yield RULE.finding(settling(code, mark), why, related=(related(code, work, "what failed"),))


def _acked(consuming: Consuming) -> Iterator[tuple[Mark, tuple[str, Mark]]]:
    if consuming.is_dead_letters:
        return  # there it ends
    is_sent_on = any(
        each.on_env and each.name in {"send", "sendBatch"} and each.is_awaited for each in consuming.handled.called
    )
    for settled in consuming.handled.settled:
        states = [state for state in in_order(settled.states) if not state.settled]
        if settled.how not in ACKS or not states or not all(state.failed or state.noted for state in states):
            continue
        for state in states:
            failure = state.failed or state.noted
            assert failure is not None, "each of them failed"
            if failure.kind == INVALID or not is_plain(state) or state.done:
                continue
            if state.tells(OF_ERROR) or state.tells(OF_STATUS):
                continue
            if state.knows(LAST):
                if consuming.dead_letter_queue and not is_sent_on:
                    yield settled.mark, (_on_the_last(consuming, line_of(failure.at, settled.mark)), failure.at)
                continue
            if (
                has_failed(state)
                and state.noted is None
                and not (_is_tried_again(consuming, failure.caught) and any(state.tells(each) for each in _DECIDES))
            ):
                said = (
                    f"what failed ({line_of(failure.at, settled.mark)}) is acknowledged here, and so deleted: it is not tried"
                    " again and reaches no dead-letter queue; give it back with retry()"
                )
                yield settled.mark, (said, failure.at)


def _on_the_last(consuming: Consuming, line: str) -> str:
    return (
        f"what failed ({line}) is acknowledged on its last attempt, so {consuming.dead_letter_queue!r} never gets it;"
        " give it back with retry(), and the queue moves it there when its attempts are spent"
    )


def _is_tried_again(consuming: Consuming, caught: Mark) -> bool:
    handled = consuming.handled
    return any(
        caught in {each.caught for each in (state.failed, state.noted) if each is not None} and state.settled in RETRIES
        for state in handled.ended
    )


RULE = Rule(
    "CFQ822",
    "failure-acked",
    Severity.WARNING,
    limits.PAGE_DEAD_LETTERS,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.ACKED_FAILURE,),
    check=check,
)
