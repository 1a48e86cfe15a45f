"""A Worker produces to the queue that it consumes.

## What it does
Reports a queue that one Worker both sends to and consumes.

## Why it matters
It is common and fine for an API that works its own jobs off. If the consumer itself sends, each message can make more of them
without end; such code needs a counter or a date in the message.

## Bad
```jsonc
{
  "queues": {
    "producers": [{ "binding": "ORDERS", "queue": "orders" }],
    "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }]
  }
}
```

## Good
```jsonc
{
  "queues": {
    "producers": [{ "binding": "INVOICES", "queue": "invoices" }],
    "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }]
  }
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENVIRONMENT, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue and environment, at the first producer's queue."""
    consumed = {consumer.queue_name: consumer.queue for consumer in environment.consumers if consumer.queue is not None}
    for producer in environment.producers:
        queue = producer.queue
        consumer = consumed.pop(producer.queue_name, None) if queue is not None else None
        if queue is not None and consumer is not None:
            message = (
                f"{environment.described} sends to {queue.text!r} and consumes it; make sure that no message begets itself"
            )
            related = (Related(consumer.place, "consumed here"),)
            yield RULE.finding(queue.place, message, environment=environment.name, related=related)


RULE = Rule(
    "CFQ408",
    "feedback-loop",
    Severity.INFO,
    limits.PAGE_HOW,
    limits.READ_DOSSIER,
    visit=ENVIRONMENT,
    signs=(signs.LOOP,),
    check=check,
)
