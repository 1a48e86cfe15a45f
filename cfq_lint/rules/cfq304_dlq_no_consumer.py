"""Nobody in this run consumes a dead-letter queue.

## What it does
Reports a `dead_letter_queue` that no consumer in the files of the run consumes. The consumer may live elsewhere; a pull
consumer does. Silent where `dlq-name-near-miss` takes the name for a slip.

## Why it matters
In a dead-letter queue without an active consumer a message lives four days (24 hours on the Free plan) and is then deleted.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc
{
  "queues": {
    "consumers": [
      { "queue": "orders", "dead_letter_queue": "orders-dlq" },
      { "queue": "orders-dlq" }
    ]
  }
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.durations import duration
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._near_misses import meant_by
from cfq_lint.rules.rule import PROJECT, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the dead-letter queue's name."""
    meant = meant_by(topology, facts)
    for consumer in topology.consumers:
        name = consumer.dead_letter_queue
        if name is None or consumer.dead_letter_place is None or name in topology.consumers_of:
            continue
        consumers = facts.consumers(name)
        proven = consumers is not None
        if consumers or (topology.is_open and not proven) or meant.by_dead_letters(consumer) is not None:
            continue  # `dlq-name-near-miss` speaks of the last
        seconds = facts.unconsumed_dead_letter_seconds(name)
        message = (
            f"nobody {f'({facts.origin}) ' if proven else 'in this run '}consumes the dead-letter queue {name!r};"
            f" without a consumer its retention is {duration(seconds)}, then messages are deleted"
        )
        severity = Severity.WARNING if proven else None
        yield RULE.finding(consumer.dead_letter_place, message, environment=consumer.environment, severity=severity)


RULE = Rule(
    "CFQ304",
    "dlq-no-consumer",
    Severity.INFO,
    limits.PAGE_DEAD_LETTERS,
    limits.READ_LIMITS,
    needs=PROJECT,
    limits=("dlq_no_consumer_retention", "retention_free"),
    visit=RUN,
    signs=(signs.UNCONSUMED_DEAD_LETTERS,),
    check=check,
    superseded_by="dlq-unconsumed",
)
