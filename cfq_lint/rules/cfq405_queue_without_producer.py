"""A queue is consumed, and nobody in this run produces to it.

## What it does
Reports a consumed queue that no producer in the files of the run sends to and that is nobody's dead-letter queue. Off by
default: messages also come over the REST API, from R2 and from event subscriptions.

## Why it matters
The consumer may wait for ever, or its queue's name is wrong.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
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
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import PROJECT, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue, at its first consumer."""
    for name, (first, *_) in topology.consumers_of.items():
        if name not in topology.producers_of and name not in topology.dead_letters_into and not topology.is_open:
            message = f"nobody in this run produces to {name!r}; is the name right, or do messages come from elsewhere?"
            yield RULE.finding(first.place, message, environment=first.environment)


RULE = Rule(
    "CFQ405",
    "queue-without-producer",
    Severity.INFO,
    limits.PAGE_HOW,
    limits.READ_DOSSIER,
    needs=PROJECT,
    default=False,
    visit=RUN,
    signs=(signs.UNPRODUCED,),
    check=check,
)
