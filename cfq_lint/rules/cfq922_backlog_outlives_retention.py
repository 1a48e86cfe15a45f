"""A backlog will expire before it is consumed at the rate of today.

## What it does
Reports a queue that is consumed and whose backlog, at the rate at which messages left it in the last 24 hours of the audit's
window, takes longer than a message is kept; where none left it, one that has waited for all that time.

## Why it matters
What expires is deleted, unprocessed, and is not dead-lettered.

## Bad
In the account:
```json account
{ "queues": {
  "orders": { "backlog_count": 100000, "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq" }] },
  "orders-dlq": { "consumers": [{ "type": "http_pull" }] } },
"measured": { "start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z",
  "queues": { "orders": { "id": "1", "hours": [
    { "hour": 13, "delivered": 10, "succeeded": 10 }
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
  "orders": { "backlog_count": 100000, "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq" }] },
  "orders-dlq": { "consumers": [{ "type": "http_pull" }] } },
"measured": { "start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z",
  "queues": { "orders": { "id": "1", "hours": [
    { "hour": 13, "delivered": 100000, "succeeded": 100000 }
  ] } } } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.durations import about, duration
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.model.measured import DAY_HOURS, HOUR_SECONDS, OPERATIONS
from cfq_lint.rules import signs
from cfq_lint.rules._account import longer_retention
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
        waiting = each.facts.backlog_count
        if waiting is None:
            waiting = round(each.hours.last("backlog_messages") or 0)
        if not waiting or not each.is_consumed or OPERATIONS in each.measured.missing:
            continue
        if each.is_dead_letter_queue and not each.hours.total("delivered"):
            continue  # another rule's
        hours = min(DAY_HOURS, each.measured.hours)
        recent = each.hours.between(each.measured.hours - hours, None)
        left = sum((hour.succeeded or 0) + (hour.dead_lettered or 0) for hour in recent)
        age = each.facts.oldest_message_age_seconds
        if not left and age is not None and age < hours * HOUR_SECONDS:
            continue  # it may be delayed
        retention, why = facts.retention_seconds(each.name)
        seconds = waiting * hours * HOUR_SECONDS / left if left else None
        if seconds is not None and seconds <= retention:
            continue
        takes = "never ends: none leave" if seconds is None else f"takes {about(round(seconds))}"
        message = (
            f"the backlog of {each.name!r} will expire before it is consumed ({waiting:,} messages; at the rate of the last"
            f" {hours} hours, {left:,} messages, it {takes}; they are kept for {duration(retention)}, {why}); consume faster,"
            f" {longer_retention(facts, each.name)}"
        )
        yield each.finding(RULE, message)


RULE = Rule(
    "CFQ922",
    "backlog-outlives-retention",
    Severity.WARNING,
    limits.PAGE_LIMITS,
    limits.READ_LIMITS,
    needs=LIVE,
    limits=(
        "retention_default",
        "retention_free",
        "retention_max",
    ),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
