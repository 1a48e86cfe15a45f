"""`max_batch_timeout` is not an integer from 0 to 60 seconds.

## What it does
Reports a batch timeout that Cloudflare refuses. The unit is seconds; 0 is allowed and delivers at once.

## Why it matters
wrangler checks only that it is a number, so the deploy fails at the API with code 100127. A value such as 5000 was most likely
meant in milliseconds, as the REST API counts.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_batch_timeout": 5000, "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_batch_timeout": 5, "dead_letter_queue": "orders-dlq" }] } }
```

## Fix
Unsafe: divides by 1,000 where milliseconds are meant, else writes the nearest number that is allowed.
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
    return out_of_range(RULE, consumer, CONSUMER_KEYS["max_batch_timeout"])


RULE = Rule(
    "CFQ202",
    "max-batch-timeout-range",
    Severity.ERROR,
    limits.PAGE_LIMITS,
    limits.READ_LIMITS,
    fix=UNSAFE,
    limits=("batch_timeout_min", "batch_timeout_max", "batch_timeout_default"),
    visit=CONSUMER,
    signs=("max_batch_timeout",),
    check=check,
)
