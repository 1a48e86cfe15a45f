"""A producer's queue and a consumer's queue differ by one slip.

## What it does
Reports a queue that is produced to and not consumed, whose name differs by one letter from one that is consumed and not
produced to. Where the queues of the account are known, also one that is not among them and is one letter away from one that
is: a deploy would create it.

## Why it matters
Both queues exist or are created, and nothing fails: messages pile up in one while the consumer watches the other.

## Bad
```jsonc
{
  "queues": {
    "producers": [{ "binding": "ORDERS", "queue": "order" }],
    "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }]
  }
}
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

## Fix
Unsafe: writes the consumer's name at the producer.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Edit, Finding, Fix, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._near_misses import meant_by
from cfq_lint.rules.rule import PROJECT, RUN, UNSAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """One finding a producer, at the queue's name."""
    meant = meant_by(topology, facts)
    for name, producers in topology.producers_of.items():
        right = meant.by_queue(name)
        if right is None:
            continue
        consumers = topology.consumers_of.get(right, ())
        related = tuple(Related(consumer.place, "the consumer with the similar name") for consumer in consumers[:1])
        if facts.known_queues is not None:
            message = f"{name!r} is not among the known queues, and a deploy would create it; did you mean {right!r}?"
        else:
            message = f"nobody consumes {name!r}, and nobody produces to {right!r}; did you mean {right!r}?"
        for producer in producers:
            fix = Fix(f"write {right!r}", (Edit(producer.place, f'"{right}"'),), safe=False)
            yield RULE.finding(producer.place, message, environment=producer.environment, fix=fix, related=related)


RULE = Rule(
    "CFQ407",
    "queue-name-near-miss",
    Severity.WARNING,
    limits.PAGE_HOW,
    limits.READ_DOSSIER,
    fix=UNSAFE,
    needs=PROJECT,
    visit=RUN,
    signs=(signs.UNCONSUMED,),
    check=check,
    superseded_by="queue-missing",
)
