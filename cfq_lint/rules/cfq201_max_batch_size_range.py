"""`max_batch_size` is not an integer from 1 to 100.

## What it does
Reports a batch size that Cloudflare refuses: 0, negative, above 100, or a fraction.

## Why it matters
wrangler checks only that it is a number, so the deploy fails at the API with code 100127, after the new code is already live.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_batch_size": 500, "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_batch_size": 100, "dead_letter_queue": "orders-dlq" }] } }
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
    return out_of_range(RULE, consumer, CONSUMER_KEYS["max_batch_size"])


RULE = Rule(
    "CFQ201",
    "max-batch-size-range",
    Severity.ERROR,
    limits.PAGE_LIMITS,
    limits.READ_LIMITS,
    fix=UNSAFE,
    limits=("batch_size_min_push", "batch_size_max", "batch_size_default_push"),
    visit=CONSUMER,
    signs=("max_batch_size",),
    check=check,
)
