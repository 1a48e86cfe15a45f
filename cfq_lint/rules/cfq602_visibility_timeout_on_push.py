"""A Worker's consumer has a visibility timeout, which only pull consumers have.

## What it does
Reports `visibility_timeout_ms` in the file.

## Why it matters
wrangler accepts the key and never sends it. Whoever wrote it expects a lease that does not exist: a Worker has 15 minutes for a
batch.

## Bad
```toml
[[queues.consumers]]
queue = "orders"
dead_letter_queue = "orders-dlq"
visibility_timeout_ms = 30000
```

## Good
```toml
[[queues.consumers]]
queue = "orders"
dead_letter_queue = "orders-dlq"
```

## Fix
Safe: removes the key.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.edits import remove
from cfq_lint.model.finding import Finding, Fix, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import CONSUMER, SAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Consumer


def check(consumer: Consumer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the key. A value out of range or of a wrong type is another rule's."""
    field = consumer.field("visibility_timeout_ms")
    if field is None or field.integer is None or not consumer.is_push:
        return
    if limits.VISIBILITY_TIMEOUT_MS_MIN <= field.integer <= limits.VISIBILITY_TIMEOUT_MS_MAX:
        message = (
            "visibility_timeout_ms has no effect on a Worker's consumer; wrangler accepts it and never sends it. Remove it"
        )
        fix = Fix("remove visibility_timeout_ms", remove(consumer.node, field), safe=True)
        yield RULE.finding(field.key_place, message, environment=consumer.environment, fix=fix)


RULE = Rule(
    "CFQ602",
    "visibility-timeout-on-push",
    Severity.WARNING,
    limits.PAGE_PULL,
    limits.READ_DOSSIER,
    fix=SAFE,
    visit=CONSUMER,
    signs=(signs.NO_EFFECT,),
    check=check,
)
