"""A consumer does not say which queue it consumes.

## What it does
Reports a consumer without `queue`, or with an empty one. Where the name stands under another key, `queue-key-misnamed` speaks.

## Why it matters
wrangler refuses the file, or the deploy fails. Unlike a producer's, a consumer's queue is never made up.

## Bad
```jsonc
{ "queues": { "consumers": [{ "max_batch_size": 5 }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_batch_size": 5, "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import LISTED_CONSUMER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Consumer


def check(consumer: Consumer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer: at the empty name, or at the entry."""
    field = consumer.field("queue")
    if field is None and not consumer.means("queue"):
        message = f"{consumer.path} has no `queue`; a consumer must name the queue that it consumes"
        yield RULE.finding(consumer.place, message, environment=consumer.environment)
    elif field is not None and field.text == "":
        message = f"the `queue` of {consumer.path} is empty; a consumer must name the queue that it consumes"
        yield RULE.finding(field.place, message, environment=consumer.environment)


RULE = Rule(
    "CFQ110",
    "consumer-queue-missing",
    Severity.ERROR,
    limits.PAGE_CONFIGURE,
    limits.READ_DOSSIER,
    visit=LISTED_CONSUMER,
    signs=(signs.NO_QUEUE, signs.ODD_NAME),
    check=check,
)
