"""One failure loses the message: no retries and no dead-letter queue.

## What it does
Reports a consumer with `max_retries` 0 and no `dead_letter_queue`. It is silent for a queue that is itself the dead-letter
queue of another consumer, of the run or in a snapshot, or calls itself one (`orders-dlq`), and where the account's consumer
has one, which `consumer-differs` says.

## Why it matters
The first exception, timeout or deploy in the wrong moment deletes the whole batch for good.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_retries": 0 }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_retries": 0, "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._names import is_dead_letter_name
from cfq_lint.rules.rule import PROJECT, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the number of retries."""
    dead = topology.dead_letters_into.keys() | facts.dead_letter_queues
    for consumer in topology.consumers:
        if consumer.no_retries_place is None or consumer.means_dead_letters or consumer.queue in dead:
            continue
        if is_dead_letter_name(consumer.queue):
            continue
        if facts.dead_letters(consumer.queue, consumer.script):
            continue
        message = (
            f"max_retries 0 without `dead_letter_queue`: the first failure deletes the messages of {consumer.queue!r} for good"
        )
        yield RULE.finding(consumer.no_retries_place, message, environment=consumer.environment)


RULE = Rule(
    "CFQ309",
    "no-retries-no-dlq",
    Severity.ERROR,
    limits.PAGE_DEAD_LETTERS,
    limits.READ_LIMITS,
    needs=PROJECT,
    limits=("max_retries_min", "max_retries_default"),
    visit=RUN,
    signs=(signs.NO_RETRIES,),
    check=check,
)
