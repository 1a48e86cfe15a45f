"""`visibility_timeout_ms` is not an integer of milliseconds up to 43200000.

## What it does
Reports a visibility timeout that Cloudflare refuses: above 12 hours, negative, or a fraction. The unit is milliseconds.

## Why it matters
The setting belongs to pull consumers, which a wrangler file cannot configure; carried over to the command or the API, the value
is refused.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "visibility_timeout_ms": 86400000, "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
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
    return out_of_range(RULE, consumer, CONSUMER_KEYS["visibility_timeout_ms"])


RULE = Rule(
    "CFQ207",
    "visibility-timeout-range",
    Severity.ERROR,
    limits.PAGE_PULL,
    limits.READ_LIMITS,
    fix=UNSAFE,
    limits=("visibility_timeout_max", "visibility_timeout_default"),
    visit=CONSUMER,
    signs=("visibility_timeout_ms",),
    check=check,
)
