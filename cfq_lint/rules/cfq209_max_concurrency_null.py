"""`max_concurrency` is null, which the schema and the API take and wrangler refuses.

## What it does
Reports a null `max_concurrency`.

## Why it matters
The REST API takes null for "scale by itself", and so does wrangler's published schema; its validator does not, and the deploy
stops. Leaving the key out says the same.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_concurrency": null, "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Fix
Safe: removes the key.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.edits import remove
from cfq_lint.model.finding import Finding, Fix, Severity
from cfq_lint.rules.rule import CONSUMER, SAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Consumer


def check(consumer: Consumer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the null."""
    field = consumer.field("max_concurrency")
    if field is not None and field.is_null:
        message = "max_concurrency is null, which wrangler refuses; leave the key out and the queue scales by itself"
        fix = Fix("remove max_concurrency", remove(consumer.node, field), safe=True)
        yield RULE.finding(field.place, message, environment=consumer.environment, fix=fix)


RULE = Rule(
    "CFQ209",
    "max-concurrency-null",
    Severity.ERROR,
    limits.PAGE_CONCURRENCY,
    limits.READ_DOSSIER,
    fix=SAFE,
    visit=CONSUMER,
    signs=("max_concurrency",),
    check=check,
)
