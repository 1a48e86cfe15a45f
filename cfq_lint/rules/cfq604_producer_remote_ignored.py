"""A producer is marked remote, which local development ignores for queues.

## What it does
Reports `remote: true` on a producer.

## Why it matters
Messages sent in `wrangler dev` go to the local broker, without a word, and never reach the deployed queue.

## Bad
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders", "remote": true }] } }
```

## Good
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import PRODUCER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Producer


def check(producer: Producer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a producer, at the key."""
    field = producer.field("remote")
    if field is not None and field.truth:
        message = "`remote` has no effect for queues: in local development messages stay in the local queue"
        yield RULE.finding(field.key_place, message, environment=producer.environment)


RULE = Rule(
    "CFQ604",
    "producer-remote-ignored",
    Severity.WARNING,
    limits.PAGE_LOCAL,
    limits.READ_DOSSIER,
    visit=PRODUCER,
    signs=(signs.NO_EFFECT,),
    check=check,
)
