"""The backlog of a queue in the account is close to the 25 GB that it may hold.

## What it does
Reports a queue whose backlog is more than 80 % of the limit; the share is this linter's choice. At the limit it is an error.
An audit reads the backlog of the queues that the files name, and of the dead-letter queues of their consumers.

## Why it matters
A full queue refuses every send (429, `QueueStorageLimitExceeded`) until messages are consumed, purged, or expire.

## Bad
In the account:
```json account
{ "queues": { "orders": { "backlog_bytes": 24000000000, "consumers": [{ "script_name": "billing" }] } } }
```
In the file:
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```

## Good
In the account:
```json account
{ "queues": { "orders": { "backlog_bytes": 240000000, "consumers": [{ "script_name": "billing" }] } } }
```
In the file:
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.model.kept_promises import NEAR_PERCENT
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
    limit = limits.BACKLOG_SIZE_BYTES
    for queue, known in account.queues.items():
        size = known.backlog_bytes
        if size is None or size * 100 < limit * NEAR_PERCENT:
            continue
        spot = account.spot(queue)
        severity = spot.severity or (Severity.ERROR if size >= limit else None)
        how = "has reached" if size >= limit else "is close to"
        message = (
            f"the backlog of {queue!r} {how} {limit / _BYTES_PER_GB:g} GB ({size / _BYTES_PER_GB:.1f} GB now), where every"
            f" send is refused; consume faster, or delete it all by `wrangler queues purge {typed(queue)}`"
        )
        yield RULE.finding(spot.place, message, environment=spot.environment, severity=severity)


_BYTES_PER_GB = 1000**3

RULE = Rule(
    "CFQ912",
    "backlog-near-limit",
    Severity.WARNING,
    limits.PAGE_LIMITS,
    limits.READ_LIMITS,
    needs=LIVE,
    limits=("backlog_bytes",),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
