"""A `return` in the loop over messages ends the handler.

## What it does
Reports a `return` that leaves a loop over the batch's messages, where a batch may hold more than one, unless the batch was
given back or acknowledged as a whole before it. In a function that is called for each element it ends that call alone.

## Why it matters
The handler returns normally, and all messages that were not settled yet are acknowledged: the rest of the batch is lost
without having been looked at.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      if (!message.body.id) {
        message.ack();
        return;
      }
      await env.KV.put(message.body.id, "done");
      message.ack();
    }
  },
};
```
```py
from workers import WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            if message.body["id"] is None:
                message.ack()
                return None
            await self.env.KV.put(message.body["id"], "done")
            message.ack()
```

## Good
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      if (!message.body.id) {
        message.ack();
        continue;
      }
      await env.KV.put(message.body.id, "done");
      message.ack();
    }
  },
};
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Severity
from cfq_lint.rules import signs
from cfq_lint.rules._ways import keyword, order, per_queue, related
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.ways.state import ACK_ALL, PERHAPS, RETRY_ALL, WORK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.following.handling import Handled
    from cfq_lint.worker_code.ways.marks import Mark


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each `return`."""
    found = {mark: loop for consuming in per_queue(code) if consuming.batch_size > 1 for mark, loop in _left(consuming.handled)}
    for mark in sorted(found, key=order):
        message = "this ends the handler, not the turn of the loop: the rest of the batch is acknowledged; write continue"
        yield RULE.finding(keyword(code, mark), message, related=(related(code, found[mark], "the loop that it leaves"),))


def _left(handled: Handled) -> Iterator[tuple[Mark, Mark]]:
    works = {loop for called in handled.called if called.effect in {WORK, PERHAPS} and called.related for loop in called.loops}
    works |= {loop for settled in handled.settled for loop in settled.loops}
    for mark, loop, states in handled.left:
        if loop in works and any(state.settled not in {ACK_ALL, RETRY_ALL} and not state.flag(("rest",)) for state in states):
            yield mark, loop


RULE = Rule(
    "CFQ825",
    "return-in-loop",
    Severity.WARNING,
    limits.PAGE_BATCHING,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.LEFT_LOOP,),
    check=check,
)
