"""A consumer does not say how often it retries.

## What it does
Reports a consumer without `max_retries`. Off by default.

## Why it matters
The default of 3 is a fair number, but how often to try, and what four deliveries cost, should be a decision that a reader can
see.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_retries": 3, "dead_letter_queue": "orders-dlq" }] } }
```

## Fix
Safe: writes the default, 3.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.edits import add_after
from cfq_lint.model.finding import Finding, Fix, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import CONSUMER, SAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Consumer


def check(consumer: Consumer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the queue's name."""
    queue = consumer.queue
    if queue is None or not consumer.is_push or consumer.means("max_retries"):
        return
    default = limits.RETRIES_DEFAULT
    message = f"the consumer of {consumer.queue_name!r} leaves `max_retries` at the default of {default}; write the number down"
    fix = Fix(f"write max_retries {default}", (add_after(consumer.node, queue, "max_retries", str(default)),), safe=True)
    yield RULE.finding(queue.place, message, environment=consumer.environment, fix=fix)


RULE = Rule(
    "CFQ311",
    "max-retries-implicit",
    Severity.INFO,
    limits.PAGE_BATCHING,
    limits.READ_LIMITS,
    fix=SAFE,
    default=False,
    limits=("max_retries_default", "max_retries_max"),
    visit=CONSUMER,
    signs=(signs.CONSUMERS,),
    check=check,
)
