"""A consumer has no dead-letter queue, so messages that fail are deleted.

## What it does
Reports a consumer that names no `dead_letter_queue`. It is silent for a queue that is itself the dead-letter queue of another
consumer, of the run or in a snapshot, or calls itself one (`orders-dlq`); where the account's consumer has one, which
`consumer-differs` says; and where `env-dlq-missing` or `no-retries-no-dlq` says it.

## Why it matters
When the last retry has failed, the message is deleted for good. Nothing is left to look at or to send again.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_retries": 5 }] } }
```

## Good
```jsonc
{
  "queues": {
    "consumers": [
      { "queue": "orders", "max_retries": 5, "dead_letter_queue": "orders-dlq" },
      { "queue": "orders-dlq" }
    ]
  }
}
```

## Fix
Unsafe, since the queue is then created: adds `<queue>-dlq`. Somebody must still consume it.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._names import is_dead_letter_name
from cfq_lint.rules.rule import PROJECT, RUN, UNSAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the queue's name."""
    dead = topology.dead_letters_into.keys() | facts.dead_letter_queues
    for consumer in topology.consumers:
        if consumer.means_dead_letters or not consumer.is_push or consumer.queue in dead or is_dead_letter_name(consumer.queue):
            continue
        if consumer.twin_dead_letters or consumer.no_retries_place is not None:
            continue  # other rules say that
        if facts.dead_letters(consumer.queue, consumer.script):
            continue
        message = f"the consumer of {consumer.queue!r} has no `dead_letter_queue`; a message that fails all retries is deleted"
        yield RULE.finding(consumer.place, message, environment=consumer.environment, fix=consumer.add_dead_letter)


RULE = Rule(
    "CFQ301",
    "consumer-without-dlq",
    Severity.WARNING,
    limits.PAGE_DEAD_LETTERS,
    limits.READ_LIMITS,
    fix=UNSAFE,
    needs=PROJECT,
    visit=RUN,
    signs=(signs.NO_DEAD_LETTERS,),
    check=check,
)
