"""A write gets its key only while the message is consumed.

## What it does
Reports a key of KV or R2, or the key of a row, that the handler makes of chance or of the time, where nothing else tells that
the message was written before. Tables and keys of logs and events are passed over.

## Why it matters
Delivery is at least once: the same message may come again, also after it was acknowledged. A key that is made at delivery
is another one then, and the message is written twice. Made by the producer, it travels with the message.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await env.KV.put(`report:${crypto.randomUUID()}`, JSON.stringify(message.body));
        message.ack();
      } catch (error) {
        message.retry({ delaySeconds: 60 });
      }
    }
  },
};
```
```py
import uuid

from workers import WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            row = self.env.DB.prepare("INSERT INTO orders (id, amount) VALUES (?, ?)")
            try:
                await row.bind(str(uuid.uuid4()), message.body["amount"]).run()
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
        await env.KV.put(`report:${message.body.id}`, JSON.stringify(message.body));
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
from cfq_lint.rules._ways import order, per_queue, token
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.ways.keys import made_here
from cfq_lint.worker_code.ways.state import OF_READ, WIDENED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.ways.marks import Mark


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each write, at its call."""
    found: dict[Mark, str] = {}
    for consuming in per_queue(code):
        for called in consuming.handled.called:
            kind = made_here(called) if called.is_awaited and (called.related or called.loops) else ""
            if kind and not any(state.tells(OF_READ) or state.tells(WIDENED) for state in called.reached):
                found.setdefault(called.mark, kind)
    for mark in sorted(found, key=order):
        message = (
            f"the {found[mark]} of this write is made at delivery: where the message comes again, it is written twice; take"
            " what came with the message, or its id"
        )
        yield RULE.finding(token(code, mark), message)


RULE = Rule(
    "CFQ831",
    "key-made-while-consuming",
    Severity.WARNING,
    limits.PAGE_GUARANTEES,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.FRESH_KEY,),
    check=check,
)
