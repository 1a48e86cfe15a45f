"""The Worker sends in a format that pull consumers cannot read.

## What it does
Reports a Worker whose compatibility date is before 2024-03-18, that does not set the flag `queues_json_messages`, and that
sends to a queue which no Worker of the run consumes.

## Why it matters
Its messages are sent as `v8`, JavaScript's internal format, unless every `send()` names another. Workers read it; pull
consumers and the dashboard cannot. A queue that a Worker consumes cannot have a pull consumer.

## Bad
```jsonc
{ "compatibility_date": "2023-10-01", "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```

## Good
```jsonc
{ "compatibility_date": "2026-01-15", "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```
```jsonc
{
  "compatibility_date": "2023-10-01",
  "queues": {
    "producers": [{ "binding": "ORDERS", "queue": "orders" }],
    "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }]
  }
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.model.topology import JSON_MESSAGES, JSON_MESSAGES_FROM
from cfq_lint.rules import signs
from cfq_lint.rules.rule import PROJECT, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import ProducerLink, Topology

_PULL = "http_pull"


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a date, at the date; related is each queue that may be pulled."""
    by_date: dict[tuple[str, int], list[ProducerLink]] = {}
    for producer in topology.producers:
        if producer.v8_place is not None and producer.is_read and _may_be_pulled(producer.queue, topology, facts):
            by_date.setdefault((producer.v8_place.path, producer.v8_place.start), []).append(producer)
    for producers in by_date.values():
        first = producers[0]
        assert first.v8_place is not None, "only these are listed"
        message = (
            f"before {JSON_MESSAGES_FROM} messages are sent as v8, which a pull consumer of {first.queue!r} cannot decode;"
            f" raise the date, set the flag {JSON_MESSAGES}, or name a contentType in every send()"
        )
        related = tuple(Related(each.place, "sent to from here") for each in producers)
        yield RULE.finding(first.v8_place, message, environment=first.environment, related=related)


def _may_be_pulled(queue: str, topology: Topology, facts: Facts) -> bool:
    if any(consumer.is_push for consumer in topology.consumers_of.get(queue, ())):
        return False
    known = facts.consumers(queue)
    return known is None or any(consumer.type == _PULL for consumer in known)


RULE = Rule(
    "CFQ802",
    "v8-content-type-default",
    Severity.WARNING,
    limits.PAGE_JAVASCRIPT_APIS,
    limits.READ_DOSSIER,
    needs=PROJECT,
    visit=RUN,
    signs=(signs.OLD_DATE,),
    check=check,
)
