"""A batch that does not wait is hardly ever full.

## What it does
Reports a consumer with `max_batch_timeout` 0 and a `max_batch_size` above 1.

## Why it matters
With timeout 0 messages are delivered at once, so batches stay small unless messages arrive together; whoever raised the size
hoped for fewer invocations.

## Bad
```jsonc
{ "queues": { "consumers": [
  { "queue": "orders", "max_batch_size": 50, "max_batch_timeout": 0, "dead_letter_queue": "orders-dlq" }
] } }
```

## Good
```jsonc
{ "queues": { "consumers": [
  { "queue": "orders", "max_batch_size": 50, "max_batch_timeout": 5, "dead_letter_queue": "orders-dlq" }
] } }
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
    """At most one finding a consumer, at the timeout."""
    size, timeout = consumer.field("max_batch_size"), consumer.field("max_batch_timeout")
    if size is not None and (size.integer or 0) > 1 and timeout is not None and timeout.integer == 0:
        message = f"max_batch_timeout 0 delivers at once; a batch of {size.integer} seldom fills, a second or two would help"
        yield RULE.finding(timeout.place, message, environment=consumer.environment)


RULE = Rule(
    "CFQ702",
    "zero-timeout-large-batch",
    Severity.INFO,
    limits.PAGE_BATCHING,
    limits.READ_LIMITS,
    limits=("batch_timeout_min", "batch_timeout_default"),
    visit=CONSUMER,
    signs=(signs.TIMEOUT,),
    check=check,
)
