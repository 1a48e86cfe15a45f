"""A dead-letter queue grows, and nobody reads it.

## What it does
Reports a dead-letter queue into which messages came in the audit's window, and from which none was delivered.

## Why it matters
Somebody configured it so that failures are looked at. What nobody reads is deleted in the end.

## Bad
In the account:
```json account
{ "queues": {
  "orders": { "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq" }] },
  "orders-dlq": { "consumers": [{ "type": "http_pull" }] } },
"measured": { "start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z",
  "queues": { "orders-dlq": { "id": "1", "hours": [
    { "hour": 13, "written": 7 }
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
  "orders": { "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq" }] },
  "orders-dlq": { "consumers": [{ "type": "http_pull" }] } },
"measured": { "start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z",
  "queues": { "orders-dlq": { "id": "1", "hours": [
    { "hour": 13, "written": 7, "delivered": 7 }
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
        written = each.hours.total("written")
        if not each.is_dead_letter_queue or not written or each.hours.total("delivered"):
            continue
        count = each.facts.backlog_count
        waiting = each.hours.last("backlog_messages") if count is None else count
        now = "" if waiting is None else f", {waiting:,.0f} wait"
        whose = (
            "pull from it"
            if each.is_pulled
            else "see why its consumer does not run"
            if each.is_consumed
            else "give it a consumer"
        )
        message = (
            f"the dead-letter queue {each.name!r} grows, and nobody reads it ({written:,} written and none delivered in"
            f" {each.measured.window}{now}); {whose}"
        )
        yield each.finding(RULE, message)


RULE = Rule(
    "CFQ923",
    "dlq-grows-unread",
    Severity.WARNING,
    limits.PAGE_DEAD_LETTERS,
    limits.READ_LIMITS,
    needs=LIVE,
    limits=("dlq_no_consumer_retention",),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
