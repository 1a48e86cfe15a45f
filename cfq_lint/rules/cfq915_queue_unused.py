"""A queue of the account is produced to and consumed by nobody.

## What it does
Reports a queue of the account that has neither producer nor consumer there, that no file of the run names, that is nobody's
dead-letter queue and in which no message is known to wait. Who sends over the REST API is no producer that Cloudflare lists,
so it is info. An audit reads the backlog of a hundred such queues.

## Why it matters
It is a leftover, or its name is wrong somewhere: whoever is to use it uses another queue.

## Bad
In the account:
```json account
{ "queues": {
  "orders": { "consumers": [] }, "alerts": { "consumers": [] }, "orders-old": { "consumers": [], "producers": [] }
} }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "alerts" }, { "queue": "alerts" }] } }
```

## Good
In the account:
```json account
{ "queues": { "orders": { "consumers": [] }, "alerts": { "consumers": [] } } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "alerts" }, { "queue": "alerts" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._account import ACCOUNT_PLACE, Account, typed
from cfq_lint.rules.rule import LIVE, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue, at the account."""
    account = Account(topology, facts)
    misspelt = account.misspelt()
    for queue, known in account.queues.items():
        is_idle = known.consumers == () and known.producers == () and not known.backlog_count
        is_named = queue in topology.consumers_of or queue in topology.producers_of or queue in account.dead_letter_queues
        if is_idle and topology.is_whole and not is_named and queue not in misspelt:
            and_empty = " and no message waits in it" if known.backlog_count is None else ""
            message = (
                f"nobody produces to {queue!r} or consumes it, in the account or in this run; if nothing sends to it over the"
                f" REST API{and_empty}, run `wrangler queues delete {typed(queue)}`"
            )
            yield RULE.finding(ACCOUNT_PLACE, message)


RULE = Rule(
    "CFQ915",
    "queue-unused",
    Severity.INFO,
    limits.PAGE_HOW,
    limits.READ_DOSSIER,
    needs=LIVE,
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
