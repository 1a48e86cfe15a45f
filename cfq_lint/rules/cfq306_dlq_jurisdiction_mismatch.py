"""A queue and its dead-letter queue are in different jurisdictions.

## What it does
Reports a consumer for whose queue and dead-letter queue different jurisdictions are declared, or were read from the account.

## Why it matters
Cloudflare wants a dead-letter queue in the jurisdiction of its source, and refuses the consumer. A jurisdiction is set when a
queue is created and cannot be changed.

## Bad
```jsonc facts={"queues": {"orders": {"jurisdiction": "eu"}, "orders-dlq": {"jurisdiction": "us"}}}
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc facts={"queues": {"orders": {"jurisdiction": "eu"}, "orders-dlq": {"jurisdiction": "eu"}}}
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.account_facts import QueueFacts
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
    nothing = QueueFacts()
    dead = consumer.dead_letter_queue
    if dead is None:
        return
    source = facts.queues.get(consumer.queue_name, nothing).jurisdiction
    target = facts.queues.get(dead.text or "", nothing).jurisdiction
    if source is not None and target is not None and source != target:
        message = (
            f"{consumer.queue_name!r} is in jurisdiction {source!r}, its dead-letter queue {dead.text!r} in {target!r}"
            f" (both {facts.origin}); they must be in the same one"
        )
        yield RULE.finding(dead.place, message, environment=consumer.environment)


RULE = Rule(
    "CFQ306",
    "dlq-jurisdiction-mismatch",
    Severity.ERROR,
    limits.PAGE_DATA_LOCATION,
    limits.READ_PAGES,
    needs=FACTS,
    limits=("jurisdictions",),
    visit=CONSUMER,
    signs=(signs.FACTS,),
    check=check,
    superseded_by="dlq-in-another-jurisdiction",
)
