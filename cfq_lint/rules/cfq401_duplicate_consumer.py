"""One Worker lists a queue twice as consumer.

## What it does
Reports the second and every further consumer of a queue within the top level or one environment, and points back at the first.

## Why it matters
A queue has one consumer. Local development stops, and at deploy the later entry silently overwrites the settings of the earlier
one.

## Bad
```jsonc
{
  "queues": {
    "consumers": [
      { "queue": "orders", "max_batch_size": 10, "dead_letter_queue": "orders-dlq" },
      { "queue": "orders", "max_batch_size": 50, "dead_letter_queue": "orders-dlq" }
    ]
  }
}
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_batch_size": 50, "dead_letter_queue": "orders-dlq" }] } }
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
    from cfq_lint.model.wrangler import Environment, Field


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """One finding a repeated consumer, at its queue's name."""
    first: dict[str, Field] = {}
    for consumer in environment.consumers:
        queue = consumer.queue
        if queue is None:
            continue
        earlier = first.setdefault(consumer.queue_name, queue)
        if earlier is not queue:
            message = (
                f"{environment.described} consumes {queue.text!r} twice; a queue has one consumer, and the later entry wins"
            )
            related = (Related(earlier.place, "the first consumer of this queue"),)
            yield RULE.finding(queue.place, message, environment=environment.name, related=related)


RULE = Rule(
    "CFQ401",
    "duplicate-consumer",
    Severity.ERROR,
    limits.PAGE_HOW,
    limits.READ_DOSSIER,
    limits=("active_consumers_per_queue",),
    visit=ENVIRONMENT,
    signs=(signs.REPEATED_CONSUMER,),
    check=check,
)
