"""`delivery_delay` is not an integer from 0 to 86400 seconds.

## What it does
Reports a delivery delay outside the range that Cloudflare allows. A delay within the range is reported by
`delivery-delay-no-effect`.

## Why it matters
In a wrangler file the setting has no effect in production, but local development honours it and refuses this value; the command
that does set it refuses the value as well.

## Bad
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders", "delivery_delay": 90000 }] } }
```

## Good
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```
and `wrangler queues update orders --delivery-delay-secs 3600`.

## Fix
Unsafe: divides by 1,000 where milliseconds are meant, else writes the nearest number that is allowed.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.keys import PRODUCER_KEYS
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules._ranges import out_of_range
from cfq_lint.rules.rule import ENTRY, UNSAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Entry

_HINT = "It has no effect in this file; `wrangler queues update {queue} --delivery-delay-secs N` sets it"


def check(entry: Entry, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a producer, or a queue of a plan, at the number."""
    key = PRODUCER_KEYS["delivery_delay"]
    if key.name in entry.keys:
        yield from out_of_range(RULE, entry, key, _HINT if "binding" in entry.keys else "")


RULE = Rule(
    "CFQ206",
    "delivery-delay-range",
    Severity.ERROR,
    limits.PAGE_BATCHING,
    limits.READ_LIMITS,
    fix=UNSAFE,
    limits=("delay_min", "delay_max"),
    visit=ENTRY,
    signs=("delivery_delay",),
    check=check,
)
