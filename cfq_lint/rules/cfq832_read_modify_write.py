"""A value is read, counted up and written back.

## What it does
Reports a write of what was read from the same store and then added to, where nothing tells that the message was counted
before.

## Why it matters
Delivery is at least once: a message that comes again counts twice. Two batches at once may read the same value, and then
one of them is lost.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        const total = Number(await env.KV.get("total")) + message.body.amount;
        await env.KV.put("total", String(total));
        message.ack();
      } catch (error) {
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
                total = int(await self.env.KV.get("total")) + message.body["amount"]
                await self.env.KV.put("total", str(total))
                message.ack()
            except Exception:
                message.retry(delaySeconds=60)
```

## Good
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await env.DB.prepare("INSERT INTO amounts (id, amount) VALUES (?, ?) ON CONFLICT DO NOTHING")
          .bind(message.body.id, message.body.amount)
          .run();
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
from cfq_lint.rules._ways import order, per_queue, related, token
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.ways.keys import counted_up
from cfq_lint.worker_code.ways.state import READ

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code, Consuming
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.ways.marks import Mark


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each write, at its call."""
    found = {write: read for consuming in per_queue(code) for write, read in _counted(consuming)}
    for write in sorted(found, key=order):
        message = (
            "what is written here was read and added to: where the message comes again, it counts twice; keep a row for each"
            " message and its id, or note which ids are counted"
        )
        yield RULE.finding(token(code, write), message, related=(related(code, found[write], "read here"),))


def _counted(consuming: Consuming) -> Iterator[tuple[Mark, Mark]]:
    handled = consuming.handled
    for called in handled.called:
        read = counted_up(called) if called.is_awaited and (called.related or called.loops) else None
        if read is None:
            continue
        others = [
            each for each in handled.called if each.effect == READ and each is not read and each.related and each.is_checked
        ]
        if not others:
            yield called.mark, read.mark


RULE = Rule(
    "CFQ832",
    "read-modify-write",
    Severity.WARNING,
    limits.PAGE_GUARANTEES,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.COUNTED_UP,),
    check=check,
)
