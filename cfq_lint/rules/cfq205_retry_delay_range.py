"""`retry_delay` is not an integer from 0 to 86400 seconds.

## What it does
Reports a retry delay that Cloudflare refuses. The unit is seconds, the most is 24 hours (it was 12 hours until early 2026).

## Why it matters
wrangler checks only that it is a number, so the deploy fails at the API with code 100127.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "retry_delay": 90000, "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "retry_delay": 3600, "dead_letter_queue": "orders-dlq" }] } }
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
    return out_of_range(RULE, consumer, CONSUMER_KEYS["retry_delay"])


RULE = Rule(
    "CFQ205",
    "retry-delay-range",
    Severity.ERROR,
    limits.PAGE_BATCHING,
    limits.READ_LIMITS,
    fix=UNSAFE,
    limits=("delay_min", "delay_max"),
    visit=CONSUMER,
    signs=("retry_delay",),
    check=check,
)
