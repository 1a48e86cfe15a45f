"""A queue of the file has a pull consumer in the account, so the Worker cannot be attached.

## What it does
Reports a queue that a file is to consume and that has an `http_pull` consumer in the account.

## Why it matters
A queue has one consumer, by push or by pull: the deploy fails with API code 11004 (`workers.api.error.consumer_exists`). Taking
`http_pull` out of a file does not switch it off in the account.

## Bad
In the account:
```json account
{ "queues": { "orders": { "consumers": [{ "type": "http_pull" }] }, "alerts": {} } }
```
In the file:
```jsonc
{ "name": "shop", "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "alerts" }, { "queue": "alerts" }] } }
```

## Good
In the account:
```json account
{ "queues": { "orders": { "consumers": [] }, "alerts": { "consumers": [] } } }
```
In the file:
```jsonc
{ "name": "shop", "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "alerts" }, { "queue": "alerts" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._account import HTTP_PULL, Account, typed
from cfq_lint.rules.rule import LIVE, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue, where the run first consumes it."""
    for queue, known in Account(topology, facts).queues.items():
        links = [link for link in topology.consumers_of.get(queue, ()) if link.is_read and link.is_push]
        if links and any(consumer.type == HTTP_PULL for consumer in known.consumers or ()):
            message = (
                f"in the account {queue!r} has a pull consumer, and a queue has one consumer, so the deploy fails with code"
                f" 11004; run `wrangler queues consumer http remove {typed(queue)}` first"
            )
            yield RULE.finding(links[0].place, message, environment=links[0].environment)


RULE = Rule(
    "CFQ908",
    "pull-consumer-in-the-way",
    Severity.ERROR,
    limits.PAGE_PULL,
    limits.READ_DOSSIER,
    needs=LIVE,
    limits=("active_consumers_per_queue",),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
