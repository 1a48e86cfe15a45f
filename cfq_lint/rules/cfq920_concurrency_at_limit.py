"""A consumer runs as often at a time as it may, and its backlog grows.

## What it does
Reports a queue that in an hour of the audit's window had more than 80 % of its `max_concurrency` (250 where that is automatic)
in use on average, and whose backlog then was larger than in the hour before by more messages than all these invocations take at
once. The share is this linter's choice.

## Why it matters
More invocations are not to be had, so that messages wait until fewer come.

## Bad
In the account:
```json account
{ "queues": {
  "orders": { "backlog_count": 0, "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq",
    "settings": { "max_concurrency": 2 } }] },
  "orders-dlq": { "consumers": [{ "type": "http_pull" }] } },
"measured": { "start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z",
  "queues": { "orders": { "id": "1", "hours": [
    { "hour": 12, "backlog_messages": 10, "concurrency": 1 },
    { "hour": 13, "backlog_messages": 900, "concurrency": 2 }
  ] } } } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Good
In the account:
```json account
{ "queues": {
  "orders": { "backlog_count": 0, "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq",
    "settings": { "max_concurrency": 2 } }] },
  "orders-dlq": { "consumers": [{ "type": "http_pull" }] } },
"measured": { "start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z",
  "queues": { "orders": { "id": "1", "hours": [
    { "hour": 12, "backlog_messages": 10, "concurrency": 1 },
    { "hour": 13, "backlog_messages": 12, "concurrency": 2 }
  ] } } } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.model.kept_promises import concurrency, full_hours, pushed
from cfq_lint.rules import signs
from cfq_lint.rules._measured import seen
from cfq_lint.rules.rule import LIVE, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue, where the run first names it."""
    for each in seen(topology, facts):
        consumer, at = pushed(each.facts), full_hours(each.hours, each.facts)
        if consumer is None or not at:
            continue
        limit = concurrency(consumer)
        remedy = (
            "raise max_concurrency" if limit < limits.CONCURRENCY_MAX else "make invocations shorter, or use several queues"
        )
        most = max(hour.backlog_messages or 0 for hour in at)
        message = (
            f"the consumer of {each.name!r} is at its {limit} concurrent invocations while the backlog grows ({len(at)} hours"
            f" of {each.measured.window}, to {most:,.0f} messages); {remedy}"
        )
        yield each.finding(RULE, message)


RULE = Rule(
    "CFQ920",
    "concurrency-at-limit",
    Severity.WARNING,
    limits.PAGE_CONCURRENCY,
    limits.READ_DOSSIER,
    needs=LIVE,
    limits=(
        "concurrency_max",
        "batch_size_default_push",
    ),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
