"""Delivery from a queue is paused in the account.

## What it does
Reports a queue whose delivery is paused. One that no file of the run names is reported as info, at `account`.

## Why it matters
A paused queue takes messages and delivers none, neither by push nor by pull (409, `queue_delivery_paused`). They still expire:
whatever waits longer than the retention is deleted. A deploy does not resume it.

## Bad
In the account:
```json account
{ "queues": { "orders": { "delivery_paused": true, "consumers": [{ "script_name": "billing" }] } } }
```
In the file:
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```

## Good
In the account:
```json account
{ "queues": { "orders": { "delivery_paused": false, "consumers": [{ "script_name": "billing" }] } } }
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
    """At most one finding a queue, where the run first names it."""
    account = Account(topology, facts)
    for queue, known in account.queues.items():
        if known.delivery_paused:
            spot = account.spot(queue)
            lives = duration(facts.retention_seconds(queue)[0])
            message = (
                f"delivery from {queue!r} is paused in the account: nothing comes out, and messages are deleted after {lives};"
                f" to go on, run `wrangler queues resume-delivery {typed(queue)}`"
            )
            yield RULE.finding(spot.place, message, environment=spot.environment, severity=spot.severity)


RULE = Rule(
    "CFQ909",
    "queue-paused",
    Severity.WARNING,
    limits.PAGE_PAUSE_PURGE,
    limits.READ_PAGES,
    needs=LIVE,
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
