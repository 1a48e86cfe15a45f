"""A Worker still consumes a queue in the account that its file does not consume.

## What it does
Reports a consumer in the account that belongs to a Worker of the run, on a queue that no file of that Worker consumes. Each
environment is a Worker of its own, and with `--env` only that one is looked at. It is silent where the file does not tell of
all its consumers, and where another Worker of the run is to consume the queue: `queue-consumed-elsewhere` says that.

## Why it matters
A deploy adds and updates consumers, it never removes one. The queue keeps calling the Worker: if its handler is gone too, every
message fails, and no other Worker can be attached (API code 11004).

## Bad
In the account:
```json account
{ "queues": { "orders": { "consumers": [{ "script_name": "shop" }] } } }
```
In the file:
```jsonc
{ "name": "shop", "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```

## Good
In the account:
```json account
{ "queues": { "orders": { "consumers": [{ "script_name": "billing" }] } } }
```
In the file:
```jsonc
{ "name": "shop", "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._account import WORKER, Account, typed
from cfq_lint.rules.rule import LIVE, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue, at the name of the Worker where the run first gives it."""
    account = Account(topology, facts)
    misspelt = account.misspelt()
    partial = {worker.script for worker in topology.workers if not worker.is_whole}
    places = {worker.script: worker for worker in reversed(topology.workers) if worker.script not in partial}
    if not topology.is_whole:
        return
    for queue, known in account.queues.items():
        if queue in topology.consumers_of or queue in misspelt:
            continue
        for consumer in known.consumers or ():
            worker = places.get(consumer.script or "") if consumer.type == WORKER else None
            if worker is not None:
                message = (
                    f"in the account {worker.script!r} still consumes {queue!r}, which its file does not; no deploy detaches"
                    f" it: run `wrangler queues consumer remove {typed(queue)} {typed(worker.script)}`"
                )
                yield RULE.finding(worker.place, message, environment=worker.environment)


RULE = Rule(
    "CFQ906",
    "stale-consumer",
    Severity.WARNING,
    limits.PAGE_COMMANDS,
    limits.READ_PAGES,
    needs=LIVE,
    limits=("active_consumers_per_queue",),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
