"""A dead-letter queue holds messages.

## What it does
Reports a dead-letter queue, of the files or of a consumer in the account, in which messages wait.
An audit reads the backlog of the queues that the files name, and of the dead-letter queues of their consumers.

## Why it matters
Each of them has failed all its retries and is not done. It waits for somebody until its retention ends, and is then deleted.

## Bad
In the account:
```json account
{ "queues": { "orders": {}, "orders-dlq": { "backlog_count": 3, "consumers": [{ "type": "http_pull" }] } } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Good
In the account:
```json account
{ "queues": { "orders": {}, "orders-dlq": { "backlog_count": 0, "consumers": [{ "type": "http_pull" }] } } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.durations import about
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._account import Account
from cfq_lint.rules.rule import LIVE, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a dead-letter queue, where the run first names it."""
    account = Account(topology, facts)
    for queue, known in account.queues.items():
        count, age = known.backlog_count, known.oldest_message_age_seconds
        if not count or queue not in account.dead_letter_queues:
            continue
        oldest = f", the oldest {about(age)} old" if age is not None else ""
        message = (
            f"the dead-letter queue {queue!r} is not empty ({count} waiting{oldest}); see why they failed, then send them to"
            " their queue again, or acknowledge them"
        )
        spot = account.spot(queue)
        yield RULE.finding(spot.place, message, environment=spot.environment, severity=spot.severity)


RULE = Rule(
    "CFQ913",
    "dlq-not-empty",
    Severity.WARNING,
    limits.PAGE_DEAD_LETTERS,
    limits.READ_LIMITS,
    needs=LIVE,
    limits=("dlq_no_consumer_retention",),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
