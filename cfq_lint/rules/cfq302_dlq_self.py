"""A queue is its own dead-letter queue.

## What it does
Reports a consumer whose `dead_letter_queue` is the queue that it consumes.

## Why it matters
A message that can never be processed would return for ever, each time with its attempts counted anew. Local development refuses
to start.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
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


def check(consumer: Consumer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the dead-letter queue's name."""
    dead = consumer.dead_letter_queue
    if dead is not None and dead.text == consumer.queue_name:
        message = f"the queue {dead.text!r} is its own dead-letter queue; name another one, such as {dead.text + '-dlq'!r}"
        yield RULE.finding(dead.place, message, environment=consumer.environment)


RULE = Rule(
    "CFQ302",
    "dlq-self",
    Severity.ERROR,
    limits.PAGE_DEAD_LETTERS,
    limits.READ_LIMITS,
    visit=CONSUMER,
    signs=(signs.OWN_DEAD_LETTERS,),
    check=check,
)
