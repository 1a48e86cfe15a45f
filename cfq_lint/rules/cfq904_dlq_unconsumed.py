"""A dead-letter queue has no consumer, neither in the account nor in the files.

## What it does
Reports a dead-letter queue that exists in the account and that nobody consumes: no Worker and no pull consumer in the account,
and no file of the run. It takes the place of `dlq-no-consumer`.

## Why it matters
In a dead-letter queue without an active consumer a message lives four days (24 hours on the Free plan) and is then deleted.

## Bad
In the account:
```json account
{ "queues": { "orders": {}, "orders-dlq": { "consumers": [] } } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Good
In the account:
```json account
{ "queues": { "orders": {}, "orders-dlq": { "consumers": [{ "type": "http_pull" }] } } }
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
from cfq_lint.rules import signs
from cfq_lint.rules._account import Account, typed
from cfq_lint.rules.rule import LIVE, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a dead-letter queue, at its name where it is first used."""
    account = Account(topology, facts)
    seen: set[str] = set()
    for each in account.attachments():
        name = each.dead_letter_queue
        if name is None or name in seen or name not in account.queues or not account.stays_unconsumed(name):
            continue
        seen.add(name)
        lives = duration(facts.unconsumed_dead_letter_seconds(name))
        known = account.queues[name]
        age = known.oldest_message_age_seconds
        oldest = f", the oldest {about(age)} old" if age is not None else ""
        holds = f" ({known.backlog_count} waiting{oldest})" if known.backlog_count else ""
        message = (
            f"nobody consumes the dead-letter queue {name!r}, in the account or in this run, so messages are deleted after"
            f" {lives}{holds}; consume it, or run `wrangler queues consumer http add {typed(name)}` and pull from it"
        )
        spot = each.dead_letter_spot
        yield RULE.finding(spot.place, message, environment=spot.environment, severity=spot.severity)


RULE = Rule(
    "CFQ904",
    "dlq-unconsumed",
    Severity.WARNING,
    limits.PAGE_DEAD_LETTERS,
    limits.READ_LIMITS,
    needs=LIVE,
    limits=("dlq_no_consumer_retention", "retention_free"),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
