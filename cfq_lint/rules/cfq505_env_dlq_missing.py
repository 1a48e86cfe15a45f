"""An environment's consumer lost the dead-letter queue that its twin at the top level has.

## What it does
Reports a consumer of a named environment without `dead_letter_queue` where the top level's consumer of the same or a similarly
named queue has one.

## Why it matters
Nothing of `queues` is inherited. In that environment, often production, failed messages are deleted.

## Bad
```jsonc
{
  "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] },
  "env": { "production": { "queues": { "consumers": [{ "queue": "orders-production" }] } } }
}
```

## Good
```jsonc
{
  "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] },
  "env": {
    "production": { "queues": { "consumers": [
      { "queue": "orders-production", "dead_letter_queue": "orders-production-dlq" }
    ] } }
  }
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.model.twins import twins
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENVIRONMENT, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer of an environment, at its queue's name."""
    for consumer, twin in twins(environment):
        dead = consumer.dead_letter_queue
        if dead is not None and twin.queue is not None and not twin.means("dead_letter_queue"):
            message = f"{environment.label} consumes {twin.queue_name!r} without a dead-letter queue; the top level has one"
            related = (Related(dead.place, "at the top level"),)
            yield RULE.finding(twin.queue.place, message, environment=environment.name, related=related)


RULE = Rule(
    "CFQ505",
    "env-dlq-missing",
    Severity.WARNING,
    limits.PAGE_ENVIRONMENTS,
    limits.READ_DOSSIER,
    visit=ENVIRONMENT,
    signs=(signs.LESS_DEAD_LETTERS,),
    check=check,
)
