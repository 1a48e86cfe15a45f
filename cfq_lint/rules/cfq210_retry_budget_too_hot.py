"""Many retries follow each other without a pause.

## What it does
Reports a consumer with more than 10 retries and no `retry_delay`.

## Why it matters
Without a delay a message comes back with the very next batch. While an upstream is down, all its messages run in a circle: each
round is a billed read of every message, the retries are used up within seconds, and the upstream gets no rest.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_retries": 50, "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_retries": 50, "retry_delay": 60, "dead_letter_queue": "orders-dlq" }] } }
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

_RETRIES_COOL = 10
"""From here on the catalogue calls retries without a delay hot; up to here they are over before they cost much."""


def check(consumer: Consumer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the number of retries."""
    field = consumer.field("max_retries")
    retries = field.integer if field is not None else None
    if field is None or retries is None or consumer.means("retry_delay"):
        return
    if _RETRIES_COOL < retries <= limits.RETRIES_MAX:
        message = f"{retries} retries without `retry_delay` follow at once, each a billed read; set a delay such as 30 seconds"
        yield RULE.finding(field.place, message, environment=consumer.environment)


RULE = Rule(
    "CFQ210",
    "retry-budget-too-hot",
    Severity.WARNING,
    limits.PAGE_BATCHING,
    limits.READ_LIMITS,
    limits=("max_retries_max", "delay_max"),
    visit=CONSUMER,
    signs=(signs.RETRIES,),
    check=check,
)
