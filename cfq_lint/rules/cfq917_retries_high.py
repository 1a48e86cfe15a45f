"""The messages of a queue are retried often, or ever more often.

## What it does
Reports a queue of which in the audit's window more deliveries failed than messages were done: a message that left it had been
retried once or more on average. Also one whose retries of the last 24 hours are at least twice what they were a message in the
days before, and more above it than chance explains, which is three times the root of what was to be expected.

## Why it matters
Each retry is a billed read, and holds up what waits behind it. Retries that rise show an upstream that fails before messages
are lost.

## Bad
In the account:
```json account
{ "queues": {
  "orders": { "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq" }] },
  "orders-dlq": { "consumers": [{ "type": "http_pull" }] } },
"measured": { "start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z",
  "queues": { "orders": { "id": "1", "hours": [
    { "hour": 13, "delivered": 30, "succeeded": 10, "retries": 2.0 }
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
    { "hour": 13, "delivered": 11, "succeeded": 10, "retries": 0.1 }
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
from cfq_lint.model.measured import DAY_HOURS, average_retries
from cfq_lint.rules import signs
from cfq_lint.rules._measured import Seen, seen
from cfq_lint.rules.rule import LIVE, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue, where the run first names it."""
    for each in seen(topology, facts):
        average = average_retries(each.hours)
        if average is None:
            continue
        day = each.measured.hours - DAY_HOURS
        before, now = average_retries(each.hours, 0, day), average_retries(each.hours, day)
        if average >= 1:
            message = (
                f"more deliveries of {each.name!r} fail than messages are done (a message that left was retried"
                f" {average:.2f} times on average in {each.measured.window}); see the errors of its consumer"
            )
        elif before is not None and now is not None and _rises(before, now, _left(each, day)):
            message = (
                f"the messages of {each.name!r} are retried ever more often ({now:.2f} times each in the last 24 hours,"
                f" {before:.2f} before, in {each.measured.window}); see the errors of its consumer"
            )
        else:
            continue
        yield each.finding(RULE, message)


def _left(each: Seen, day: int) -> int:
    return sum(hour.left for hour in each.hours.between(day, None))


def _rises(before: float, now: float, left: int) -> bool:
    """Whether what was retried of so many messages is more than chance makes of the days before."""
    expected, found = before * left, now * left
    return found >= 2 * expected and found - expected > 3 * max(expected, 1.0) ** 0.5


RULE = Rule(
    "CFQ917",
    "retries-high",
    Severity.WARNING,
    limits.PAGE_METRICS,
    limits.READ_PAGES,
    needs=LIVE,
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
