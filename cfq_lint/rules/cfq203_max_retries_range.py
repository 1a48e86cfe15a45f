"""`max_retries` is not an integer from 0 to 100.

## What it does
Reports a number of retries that Cloudflare refuses. 0 is allowed: one delivery, then the dead-letter queue.

## Why it matters
wrangler checks only that it is a number, so the deploy fails at the API with code 100127. No number makes a message safe for
ever; what does is a dead-letter queue that somebody consumes.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_retries": 1000, "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_retries": 5, "dead_letter_queue": "orders-dlq" }] } }
```

## Fix
Unsafe: writes the nearest number that is allowed.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.keys import CONSUMER_KEYS
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules._ranges import out_of_range
from cfq_lint.rules.rule import CONSUMER, UNSAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Consumer


def check(consumer: Consumer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the number."""
    return out_of_range(RULE, consumer, CONSUMER_KEYS["max_retries"])


RULE = Rule(
    "CFQ203",
    "max-retries-range",
    Severity.ERROR,
    limits.PAGE_LIMITS,
    limits.READ_LIMITS,
    fix=UNSAFE,
    limits=("max_retries_min", "max_retries_max", "max_retries_default"),
    visit=CONSUMER,
    signs=("max_retries",),
    check=check,
)
