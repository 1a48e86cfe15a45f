"""A dead-letter queue's name is one slip away from that of a queue in the run.

## What it does
Reports a `dead_letter_queue` that nobody in the run consumes or produces to, and whose name differs by one letter (added, lost,
changed, or two swapped) from a queue that somebody does. A changed digit is taken for a number, not for a slip.

## Why it matters
Cloudflare creates a missing dead-letter queue without a word. Nothing fails: a stray queue collects the failures while the one
with a consumer stays empty.

## Bad
```jsonc
{
  "queues": {
    "consumers": [
      { "queue": "orders", "dead_letter_queue": "orders-dlq" },
      { "queue": "order-dlq" }
    ]
  }
}
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

## Fix
Unsafe: writes the name that exists.
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
    """At most one finding a consumer, at the dead-letter queue's name."""
    places = {link.queue: link.place for link in topology.producers}
    places |= {link.queue: link.place for link in topology.consumers}
    meant = meant_by(topology, facts)
    for consumer in topology.consumers:
        name, place = consumer.dead_letter_queue, consumer.dead_letter_place
        right = meant.by_dead_letters(consumer)
        if place is not None and right is not None:
            message = f"nobody knows the dead-letter queue {name!r}, and it would be created; did you mean {right!r}?"
            related = [Related(places[right], "the queue with the similar name")] if right in places else []
            fix = Fix(f"write {right!r}", (Edit(place, f'"{right}"'),), safe=False)
            yield RULE.finding(place, message, environment=consumer.environment, fix=fix, related=related)


RULE = Rule(
    "CFQ305",
    "dlq-name-near-miss",
    Severity.WARNING,
    limits.PAGE_DEAD_LETTERS,
    limits.READ_LIMITS,
    fix=UNSAFE,
    needs=PROJECT,
    visit=RUN,
    signs=(signs.UNCONSUMED_DEAD_LETTERS,),
    check=check,
    superseded_by="dlq-missing",
)
