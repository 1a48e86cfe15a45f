"""Messages of a queue were given up.

## What it does
Reports a queue of which messages were moved to the dead-letter queue in the audit's window, or deleted unprocessed where they
had none or were too old.

## Why it matters
Each of them is work that was not done. A dead-letter queue keeps it for a while; what was deleted is gone.

## Bad
In the account:
```json account
{ "queues": {
  "orders": { "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq" }] },
  "orders-dlq": { "consumers": [{ "type": "http_pull" }] } },
"measured": { "start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z",
  "queues": { "orders": { "id": "1", "hours": [
    { "hour": 13, "delivered": 4, "dead_lettered": 1, "retries": 0.5 }
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
  "queues": { "orders": { "id": "1", "hours": [
    { "hour": 13, "delivered": 4, "succeeded": 4 }
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
        dead, failed = each.hours.total("dead_lettered"), each.hours.total("failed")
        if not dead and not failed:
            continue
        last = max(hour.number for hour in each.hours.hours if hour.dead_lettered or hour.failed)
        told = [f"{dead:,} dead-lettered"] if dead else []
        told += [f"{failed:,} deleted unprocessed"] if failed else []
        message = (
            f"messages of {each.name!r} were given up ({' and '.join(told)} in {each.measured.window}, the last in"
            f" the hour from {each.measured.at(last)}); see why they fail before somebody misses them"
        )
        yield each.finding(RULE, message)


RULE = Rule(
    "CFQ918",
    "dead-letters-arriving",
    Severity.WARNING,
    limits.PAGE_METRICS,
    limits.READ_PAGES,
    needs=LIVE,
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
