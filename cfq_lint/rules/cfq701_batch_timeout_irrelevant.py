"""A batch of one never waits, so its timeout means nothing.

## What it does
Reports a consumer with `max_batch_size` 1 and a `max_batch_timeout`.

## Why it matters
The first message fills the batch. Whoever set the timeout expects a wait that never comes.

## Bad
```jsonc
{ "queues": { "consumers": [
  { "queue": "orders", "max_batch_size": 1, "max_batch_timeout": 30, "dead_letter_queue": "orders-dlq" }
] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_batch_size": 1, "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import CONSUMER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Consumer


def check(consumer: Consumer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the timeout's key."""
    size, timeout = consumer.field("max_batch_size"), consumer.field("max_batch_timeout")
    if size is not None and size.integer == 1 and timeout is not None and timeout.integer:
        message = "max_batch_timeout has no effect with max_batch_size 1: the first message fills the batch"
        yield RULE.finding(timeout.key_place, message, environment=consumer.environment)


RULE = Rule(
    "CFQ701",
    "batch-timeout-irrelevant",
    Severity.INFO,
    limits.PAGE_BATCHING,
    limits.READ_LIMITS,
    visit=CONSUMER,
    signs=(signs.TIMEOUT,),
    check=check,
)
