"""The largest message that a queue took is close to the 128,000 bytes that one may have.

## What it does
Reports a queue whose largest message in the audit's window had more than 80 % of the limit; the share is this linter's choice.

## Why it matters
What grows with a customer's data goes on growing, and `send()` refuses the first message above the limit: it is lost where
nobody catches that.

## Bad
In the account:
```json account
{ "queues": {
  "orders": { "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq" }] },
  "orders-dlq": { "consumers": [{ "type": "http_pull" }] } },
"measured": { "start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z",
  "queues": { "orders": { "id": "1", "hours": [
    { "hour": 13, "written": 5, "largest_bytes": 118000 }
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
    { "hour": 13, "written": 5, "largest_bytes": 2000 }
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
from cfq_lint.model.kept_promises import NEAR_PERCENT
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
    limit = limits.MESSAGE_SIZE_BYTES
    for each in seen(topology, facts):
        largest = each.hours.highest("largest_bytes")
        if largest is None or largest[0] * 100 < limit * NEAR_PERCENT:
            continue
        message = (
            f"messages of {each.name!r} come close to the {limit:,} bytes that one may have (the largest in"
            f" {each.measured.window}: {largest[0]:,.0f} bytes, at {each.measured.at(largest[1])}); put the content"
            " into R2, KV or D1 and send its key"
        )
        yield each.finding(RULE, message)


RULE = Rule(
    "CFQ916",
    "message-near-limit",
    Severity.WARNING,
    limits.PAGE_LIMITS,
    limits.READ_LIMITS,
    needs=LIVE,
    limits=("message_size",),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
