"""A message of a type that nobody handles is acknowledged.

## What it does
Reports the default branch on a field of the body, such as its type, that does nothing, or only logs, and after which the
message counts as done.

## Why it matters
A producer that is deployed before its consumer, or a typing error, sends messages that the consumer does not know yet. They
are deleted. Given back, they wait in the queue, or in the dead-letter queue, until somebody looks.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      switch (message.body.type) {
        case "created":
          await env.KV.put(message.body.id, "created");
          break;
        default:
          console.warn("unknown type", message.body.type);
      }
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
            match message.body["type"]:
                case "created":
                    await self.env.KV.put(message.body["id"], "created")
                case _:
                    print("unknown type")
            message.ack()
```

## Good
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      switch (message.body.type) {
        case "created":
          await env.KV.put(message.body.id, "created");
          message.ack();
          break;
        default:
          console.warn("unknown type", message.body.type);
          message.retry({ delaySeconds: 3600 });
      }
    }
  },
};
```
"""

from __future__ import annotations

import re

from cfq_lint.facts import limits
from cfq_lint.model.finding import Severity
from cfq_lint.rules import signs
from cfq_lint.rules._ways import counts_as_done, every_way, keyword, order, per_queue, text_at, untouched
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.ways.state import DEFAULT_ARM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.following.handling import Handled
    from cfq_lint.worker_code.ways.marks import Mark


_SAYS_SO = re.compile(
    r"unknown|unsupported|unrecogni|unhandled|unexpected|no handler|not handled|not supported|invalid type", re.IGNORECASE
)


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each default branch, at its start."""
    arms = {arm for consuming in per_queue(code) for arm in _acked(consuming.handled)}
    for arm in sorted(arms, key=order):
        if arm.is_case or _SAYS_SO.search(text_at(code, arm)):
            message = (
                "a message of a type that nobody handles is acknowledged, and so deleted; give it back with retry(), and it"
                " reaches the dead-letter queue"
            )
            yield RULE.finding(keyword(code, arm), message)


def _acked(handled: Handled) -> Iterator[Mark]:
    if not any(state.done for state in handled.ended):
        return
    for state in every_way(handled):
        if state in handled.ended and counts_as_done(state) and untouched(state):
            yield from (mark for guard, mark in state.guards if guard == DEFAULT_ARM)


RULE = Rule(
    "CFQ836",
    "unknown-message-acked",
    Severity.INFO,
    limits.PAGE_BATCHING,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.DEFAULT_ARM,),
    check=check,
)
