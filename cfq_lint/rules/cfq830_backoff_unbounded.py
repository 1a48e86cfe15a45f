"""A retry's delay grows beyond what is allowed.

## What it does
Computes the delay that `retry()` is given for each attempt that the consumer's `max_retries` allows, and reports one that
exceeds 86400 seconds. What is not certain, such as a value from elsewhere, is passed over.

## Why it matters
A delay may be 24 hours at most. With a base of 30 seconds the fourth power is beyond that: the retry is refused, just where
the message needs most patience.

## Bad
```jsonc
{
  "name": "shop", "main": "src/index.ts",
  "queues": { "consumers": [{ "queue": "orders", "max_retries": 5, "dead_letter_queue": "orders-dlq" }] }
}
```
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await env.KV.put(message.body.id, "done");
        message.ack();
      } catch (error) {
        message.retry({ delaySeconds: 30 ** message.attempts });
      }
    }
  },
};
```

## Good
```jsonc
{
  "name": "shop", "main": "src/index.ts",
  "queues": { "consumers": [{ "queue": "orders", "max_retries": 5, "dead_letter_queue": "orders-dlq" }] }
}
```
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await env.KV.put(message.body.id, "done");
        message.ack();
      } catch (error) {
        message.retry({ delaySeconds: Math.min(3600, 30 ** message.attempts) });
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
from cfq_lint.rules._ways import order, per_queue, token
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.ways.delays import most
from cfq_lint.worker_code.ways.marks import Mark
from cfq_lint.worker_code.ways.retrying import delay_of
from cfq_lint.worker_code.ways.state import RETRIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code, Consuming
    from cfq_lint.model.finding import Finding


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each call, at the delay."""
    found: dict[int, tuple[Mark, Consuming, int, int]] = {}
    for consuming in per_queue(code):
        for settled in consuming.handled.settled:
            delay = delay_of(settled.node) if settled.how in RETRIES else None
            if delay is None:
                continue
            for attempt in range(1, consuming.max_retries + 1):
                seconds = most(delay, settled.room, attempt, code.program)
                if seconds is not None and seconds > limits.DELAY_SECONDS_MAX:
                    found.setdefault(id(delay), (Mark(delay, settled.mark.module), consuming, attempt, int(seconds)))
                    break
    for mark, consuming, attempt, seconds in sorted(found.values(), key=lambda each: order(each[0])):
        field = consuming.consumer.field("max_retries")
        related = (Related(field.place, f"{consuming.max_retries} retries are allowed here"),) if field is not None else ()
        message = (
            f"at attempt {attempt} this is {seconds:,} seconds, and a delay may be {limits.DELAY_SECONDS_MAX:,} at most; bound"
            f" it with {'min' if code.is_python else 'Math.min'}()"
        )
        yield RULE.finding(token(code, mark), message, related=related)


RULE = Rule(
    "CFQ830",
    "backoff-unbounded",
    Severity.WARNING,
    limits.PAGE_BATCHING,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.RETRY_GROWS,),
    check=check,
)
