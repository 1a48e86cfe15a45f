"""A message is given back without any delay.

## What it does
Reports `retry()` and `retryAll()` without `delaySeconds`, where the consumer has no `retry_delay` either.

## Why it matters
A message that is given back is ready at once. All its attempts are spent within seconds, long before a service that is down
is back, and then it is dead-lettered or deleted.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await env.KV.put(message.body.id, "done");
        message.ack();
      } catch (error) {
        message.retry();
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
            except Exception:
                message.retry()
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
from cfq_lint.model.finding import Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._ways import order, per_queue, settling
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.ways.retrying import is_plain
from cfq_lint.worker_code.ways.state import RETRIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code, Consuming
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.ways.marks import Mark


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each call, at the name of its method."""
    found: dict[Mark, Consuming] = {}
    for consuming in per_queue(code):
        if consuming.retry_delay or not consuming.max_retries:
            continue
        for settled in consuming.handled.settled:
            if settled.how in RETRIES and is_plain(settled):
                found.setdefault(settled.mark, consuming)
    for mark in sorted(found, key=order):
        consumer = found[mark].consumer
        message = (
            "the message comes back at once, and all attempts are spent in seconds; give a delay, as { delaySeconds: 60 },"
            " or set retry_delay on the consumer"
        )
        if code.is_python:
            message = message.replace("{ delaySeconds: 60 }", "delaySeconds=60")
        related = (Related(consumer.place, "no retry_delay here"),)
        yield RULE.finding(settling(code, mark), message, related=related, environment=consumer.environment)


RULE = Rule(
    "CFQ829",
    "retry-without-delay",
    Severity.INFO,
    limits.PAGE_BATCHING,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.RETRY_PLAIN,),
    check=check,
)
