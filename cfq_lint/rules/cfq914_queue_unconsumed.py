"""A queue receives messages, and nobody consumes it, neither in the account nor in the files.

## What it does
Reports a queue of the account that has a producer, in the account or in the files, or holds messages, and that has no consumer
in either. Dead-letter queues are reported by `dlq-unconsumed`. It takes the place of `queue-without-consumer`.

## Why it matters
Without a consumer messages wait until their retention ends and are then deleted.

## Bad
In the account:
```json account
{ "queues": { "orders": { "consumers": [] } } }
```
In the file:
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```

## Good
In the account:
```json account
{ "queues": { "orders": { "consumers": [{ "type": "http_pull" }] } } }
```
In the file:
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.durations import duration
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
    """At most one finding a queue, at its first producer in the run."""
    account = Account(topology, facts)
    misspelt = account.misspelt()
    for queue, known in account.queues.items():
        is_fed = queue in topology.producers_of or known.producers or known.backlog_count
        if not is_fed or not account.stays_unconsumed(queue) or queue in account.dead_letter_queues or queue in misspelt:
            continue
        lives = duration(facts.retention_seconds(queue)[0])
        holds = f" ({known.backlog_count} waiting)" if known.backlog_count else ""
        message = (
            f"nobody consumes {queue!r}, in the account or in this run, so messages are deleted after {lives}{holds};"
            f" consume it, or run `wrangler queues consumer http add {typed(queue)}` and pull from it"
        )
        spot = account.spot(queue)
        yield RULE.finding(spot.place, message, environment=spot.environment, severity=spot.severity)


RULE = Rule(
    "CFQ914",
    "queue-unconsumed",
    Severity.WARNING,
    limits.PAGE_HOW,
    limits.READ_DOSSIER,
    needs=LIVE,
    limits=("retention_default", "retention_free"),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
