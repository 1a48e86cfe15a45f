"""The oldest message of a queue in the account is close to its retention.

## What it does
Reports a queue whose oldest message is older than 80 % of what it is kept for; the share is this linter's choice. In a
dead-letter queue that nobody consumes a message is kept for four days at most. An audit reads the backlog of the queues that
the files name, and of the dead-letter queues of their consumers.

## Why it matters
A message that reaches the retention is deleted, unprocessed, and not dead-lettered. A consumer that is this far behind does not
keep up, fails, or is not there.

## Bad
In the account:
```json account
{ "taken_at": "2026-01-05T00:00:00Z", "queues": { "orders": {
  "message_retention_period": 345600, "oldest_message_timestamp_ms": 1767268800000, "backlog_count": 12,
  "consumers": [{ "script_name": "billing" }]
} } }
```
In the file:
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```

## Good
In the account:
```json account
{ "taken_at": "2026-01-05T00:00:00Z", "queues": { "orders": {
  "message_retention_period": 345600, "oldest_message_timestamp_ms": 1767571140000, "backlog_count": 12,
  "consumers": [{ "script_name": "billing" }]
} } }
```
In the file:
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.durations import about, duration
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.model.kept_promises import NEAR_PERCENT
from cfq_lint.rules import signs
from cfq_lint.rules._account import Account, longer_retention, typed
from cfq_lint.rules.rule import LIVE, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue, where the run first names it."""
    account = Account(topology, facts)
    for queue, known in account.queues.items():
        age = known.oldest_message_age_seconds
        retention, why = facts.retention_seconds(queue)
        remedy = f"see why it is not consumed, {longer_retention(facts, queue)}"
        if queue in account.dead_letter_queues and known.consumers == ():
            kept = facts.unconsumed_dead_letter_seconds(queue)
            if kept == limits.DEAD_LETTER_UNCONSUMED_SECONDS:  # a longer retention keeps nothing for longer there
                why = "as nobody consumes this dead-letter queue"
                remedy = f"consume it, or run `wrangler queues consumer http add {typed(queue)}` and pull from it"
            retention = kept
        if age is None or age * 100 < retention * NEAR_PERCENT:
            continue
        message = (
            f"the oldest message of {queue!r} is about to be deleted ({about(age)} old, kept for {duration(retention)}, {why});"
            f" {remedy}"
        )
        spot = account.spot(queue)
        yield RULE.finding(spot.place, message, environment=spot.environment, severity=spot.severity)


RULE = Rule(
    "CFQ911",
    "oldest-message-expiring",
    Severity.WARNING,
    limits.PAGE_LIMITS,
    limits.READ_LIMITS,
    needs=LIVE,
    limits=("retention_default", "retention_free", "retention_max", "dlq_no_consumer_retention"),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
