"""The queues use more operations a day than the Free plan has.

## What it does
Reports, on the Free plan, the day (UTC) of the audit's window in which the queues that the files name had most operations, if
these are more than 80 % of the plan's; the share is this linter's choice. Above the limit it is an error. Other queues count as
well, and are not seen here.

## Why it matters
Above the limit `send()` fails until the day is over.

## Bad
In the account:
```json account
{ "plan": "free", "queues": {
  "orders": { "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq" }] },
  "orders-dlq": { "consumers": [{ "type": "http_pull" }] } },
"measured": { "start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z",
  "queues": { "orders": { "id": "1", "hours": [
    { "hour": 13, "written": 4000, "operations": 12000 }
  ] } } } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Good
In the account:
```json account
{ "plan": "free", "queues": {
  "orders": { "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq" }] },
  "orders-dlq": { "consumers": [{ "type": "http_pull" }] } },
"measured": { "start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z",
  "queues": { "orders": { "id": "1", "hours": [
    { "hour": 13, "written": 400, "operations": 1200 }
  ] } } } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.account_facts import FREE
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.model.kept_promises import NEAR_PERCENT
from cfq_lint.model.measured import operations_by_day
from cfq_lint.rules import signs
from cfq_lint.rules._measured import seen
from cfq_lint.rules.rule import LIVE, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding, at the queue that had most operations."""
    limit = limits.FREE_OPERATIONS_PER_DAY
    if facts.measured is None or facts.plan != FREE:
        return
    days = operations_by_day(facts.measured)
    day = max(days, key=lambda each: days[each], default="")
    if not day or days[day] * 100 < limit * NEAR_PERCENT:
        return
    most = max(seen(topology, facts), key=lambda each: each.hours.total("operations"), default=None)
    if most is None:
        return
    over = days[day] > limit
    message = (
        f"the queues {'use more than' if over else 'are close to'} the {limit:,} operations a day of the Free plan"
        f" ({days[day]:,} on {day}, most of them for {most.name!r} in {most.measured.window}); above them send() fails"
    )
    severity = most.spot.severity or (Severity.ERROR if over else None)
    yield RULE.finding(most.spot.place, message, environment=most.spot.environment, severity=severity)


RULE = Rule(
    "CFQ921",
    "operations-over-plan",
    Severity.WARNING,
    limits.PAGE_PRICING,
    limits.READ_DOSSIER,
    needs=LIVE,
    limits=("free_ops_per_day",),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
