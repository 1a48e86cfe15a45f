"""Dead-letter queues form a cycle.

## What it does
Reports a cycle over two or more queues: each dead-letters into the next and the last into the first. A chain that ends is fine,
and a queue that is its own dead-letter queue is `dlq-self`.

## Why it matters
Cloudflare allows it. A message that can never be processed then goes round for ever, each round a new set of billed attempts.

## Bad
```jsonc
{
  "queues": {
    "consumers": [
      { "queue": "orders", "dead_letter_queue": "orders-retry" },
      { "queue": "orders-retry", "dead_letter_queue": "orders" }
    ]
  }
}
```

## Good
```jsonc
{
  "queues": {
    "consumers": [
      { "queue": "orders", "dead_letter_queue": "orders-retry" },
      { "queue": "orders-retry", "dead_letter_queue": "orders-dlq" },
      { "queue": "orders-dlq" }
    ]
  }
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import PROJECT, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import ConsumerLink, Topology


def check(topology: Topology, _facts: Facts) -> Iterator[Finding]:
    """One finding a cycle, at the dead-letter queue of the first of its consumers; points at the others."""
    done: set[str] = set()
    for consumer in topology.consumers:
        cycle = _cycle_from(topology, consumer, done)
        done.add(consumer.queue)
        if cycle and consumer.dead_letter_place is not None:
            done.update(link.queue for link in cycle)
            path = " → ".join(repr(link.queue) for link in [*cycle, cycle[0]])
            message = f"dead letters go round: {path}; let one of them end in a queue that dead-letters nowhere"
            related = [Related(link.dead_letter_place, "and on") for link in cycle[1:] if link.dead_letter_place is not None]
            yield RULE.finding(consumer.dead_letter_place, message, environment=consumer.environment, related=related)


def _cycle_from(topology: Topology, first: ConsumerLink, done: set[str]) -> list[ConsumerLink]:
    """The cycle of two or more queues that leads from a consumer back to its queue; none where there is none or it is known."""
    came_from: dict[str, ConsumerLink] = {}
    waiting = [first]
    while waiting:
        link = waiting.pop(0)
        into = link.dead_letter_queue
        if into is None or into in done or into == link.queue or into in came_from:
            continue
        came_from[into] = link
        if into == first.queue:
            cycle = [link]
            while cycle[0].queue != first.queue:
                cycle.insert(0, came_from[cycle[0].queue])
            return cycle
        waiting += topology.consumers_of.get(into, [])
    return []


RULE = Rule(
    "CFQ303",
    "dlq-cycle",
    Severity.WARNING,
    limits.PAGE_DEAD_LETTERS,
    limits.READ_LIMITS,
    needs=PROJECT,
    visit=RUN,
    signs=(
        signs.CHAINED_DEAD_LETTERS,
        signs.SEVERAL_FILES,
    ),
    check=check,
)
