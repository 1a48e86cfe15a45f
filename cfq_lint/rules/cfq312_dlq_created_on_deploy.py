"""A dead-letter queue does not exist yet and will be created.

## What it does
Reports a `dead_letter_queue` that is not among the known queues (`--known-queues`, `known-queues` in the settings, or a
snapshot).

## Why it matters
Cloudflare creates it in the source's jurisdiction. That is often what is wanted, and sometimes a misspelt name.

## Bad
```jsonc known-queues=orders
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc known-queues=orders,orders-dlq
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import CONSUMER, FACTS, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Consumer


def check(consumer: Consumer, facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the dead-letter queue's name."""
    if facts.known_queues is None:
        return
    dead = consumer.dead_letter_queue
    if dead is None or dead.text in facts.known_queues or dead.text == consumer.queue_name:
        return
    message = f"{dead.text!r} is not among the known queues; it will be created, in the jurisdiction of {consumer.queue_name!r}"
    yield RULE.finding(dead.place, message, environment=consumer.environment)


RULE = Rule(
    "CFQ312",
    "dlq-created-on-deploy",
    Severity.INFO,
    limits.PAGE_DEAD_LETTERS,
    limits.READ_LIMITS,
    needs=FACTS,
    visit=CONSUMER,
    signs=(signs.FACTS,),
    check=check,
    superseded_by="dlq-missing",
)
