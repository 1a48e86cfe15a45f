"""Another Worker, or a notification, consumes the queue in the account.

## What it does
Reports a queue that a file is to consume and that the account has another consumer for: a Worker of another name, or a
notification. Where that Worker consumes it in this run too, the rules about the files speak.

## Why it matters
A queue has one consumer: the deploy fails with API code 11004 (`workers.api.error.consumer_exists`) until the other is removed.

## Bad
In the account:
```json account
{ "queues": { "orders": { "consumers": [{ "script_name": "old-shop" }] }, "alerts": {} } }
```
In the file:
```jsonc
{ "name": "shop", "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "alerts" }, { "queue": "alerts" }] } }
```

## Good
In the account:
```json account
{ "queues": { "orders": { "consumers": [{ "script_name": "shop", "dead_letter_queue": "alerts" }] }, "alerts": {} } }
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
from cfq_lint.rules._account import HTTP_PULL, WORKER, Account, typed
from cfq_lint.rules.rule import LIVE, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import ConsumerFacts, Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue, where the run first consumes it."""
    account = Account(topology, facts)
    for queue, known in account.queues.items():
        links = [link for link in topology.consumers_of.get(queue, ()) if link.is_read and link.is_push]
        scripts = {link.script for link in links}
        other = next((each for each in known.consumers or () if _is_other(each, scripts)), None)
        if not links or other is None:
            continue
        if other.type == WORKER:
            whose, how = (
                f"the Worker {other.script!r} consumes",
                f"run `wrangler queues consumer remove {typed(queue)} {typed(other.script or '')}`",
            )
        else:
            whose, how = f"a {other.type} consumes", "remove it"
        message = (
            f"in the account {whose} {queue!r}, and a queue has one consumer, so the deploy fails with code 11004; {how} first"
        )
        yield RULE.finding(links[0].place, message, environment=links[0].environment)


def _is_other(consumer: ConsumerFacts, scripts: set[str]) -> bool:
    """Whether a consumer is certainly none of the run's Workers; a file without a name may be any of them."""
    if consumer.type == WORKER:
        return consumer.script is not None and consumer.script not in scripts and "" not in scripts
    return consumer.type != HTTP_PULL


RULE = Rule(
    "CFQ907",
    "queue-consumed-elsewhere",
    Severity.ERROR,
    limits.PAGE_HOW,
    limits.READ_DOSSIER,
    needs=LIVE,
    limits=("active_consumers_per_queue",),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
