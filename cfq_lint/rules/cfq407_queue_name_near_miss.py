"""A producer's queue and a consumer's queue differ by one slip.

## What it does
Reports a queue that is produced to and not consumed, whose name differs by one letter from one that is consumed and not
produced to.

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
from cfq_lint.rules._near_misses import near
from cfq_lint.rules.rule import PROJECT, RUN, UNSAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """One finding a producer, at the queue's name."""
    alone = sorted(
        name for name in topology.consumers_of if name not in topology.producers_of and name not in topology.dead_letters_into
    )
    for name, producers in topology.producers_of.items():
        if name in topology.consumers_of or name in topology.dead_letters_into or name in (facts.known_queues or ()):
            continue
        right = near(name, alone)
        if right is None:
            continue
        for producer in producers:
            message = f"nobody consumes {name!r}, and nobody produces to {right!r}; did you mean {right!r}?"
            related = (Related(topology.consumers_of[right][0].place, "the consumer with the similar name"),)
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
