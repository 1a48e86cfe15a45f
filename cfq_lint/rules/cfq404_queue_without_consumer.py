"""A queue is produced to, and nobody in this run consumes it.

## What it does
Reports a producer's queue that no consumer in the files of the run consumes. The consumer may live elsewhere, or pull.
Dead-letter queues are reported by `dlq-no-consumer`, slips of the hand by `queue-name-near-miss`.

## Why it matters
Without a consumer messages wait until their retention ends and are then deleted.

## Bad
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```

## Good
```jsonc
{
  "queues": {
    "producers": [{ "binding": "ORDERS", "queue": "orders" }],
    "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }]
  }
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.durations import duration
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._near_misses import meant_by
from cfq_lint.rules.rule import PROJECT, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue, at its first producer; points at the others."""
    meant = meant_by(topology, facts)
    for name, (first, *others) in topology.producers_of.items() if not topology.is_open else ():
        if name in topology.consumers_of or name in topology.dead_letters_into or facts.has_consumer(name):
            continue
        if meant.by_queue(name) is not None:
            continue  # `queue-name-near-miss` speaks of it
        seconds, why = facts.retention_seconds(name)
        message = f"nobody in this run consumes {name!r}; what is not consumed is deleted after {duration(seconds)} ({why})"
        related = [Related(other.place, "also sends to it") for other in others]
        yield RULE.finding(first.place, message, environment=first.environment, related=related)


RULE = Rule(
    "CFQ404",
    "queue-without-consumer",
    Severity.INFO,
    limits.PAGE_HOW,
    limits.READ_DOSSIER,
    needs=PROJECT,
    limits=("retention_default", "retention_free"),
    visit=RUN,
    signs=(signs.UNCONSUMED,),
    check=check,
    superseded_by="queue-unconsumed",
)
