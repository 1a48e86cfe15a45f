"""A consumed queue does not exist, so the deploy fails.

## What it does
Reports a consumer's queue that is not among the known queues (`--known-queues`, `known-queues` in the settings, or a snapshot).

## Why it matters
wrangler creates missing queues for producers only. For a consumer it stops with `Queue "…" does not exist`.

## Bad
```jsonc known-queues=invoices
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
    """At most one finding a consumer, at the queue's name."""
    if facts.known_queues is None:
        return
    queue = consumer.queue
    if queue is not None and queue.text not in facts.known_queues:
        message = (
            f"{queue.text!r} is not among the known queues, so the deploy fails; run `wrangler queues create {queue.text}`"
        )
        yield RULE.finding(queue.place, message, environment=consumer.environment)


RULE = Rule(
    "CFQ406",
    "queue-not-provisioned",
    Severity.ERROR,
    limits.PAGE_CONFIGURE,
    limits.READ_DOSSIER,
    needs=FACTS,
    visit=CONSUMER,
    signs=(signs.FACTS,),
    check=check,
    superseded_by="queue-missing",
)
