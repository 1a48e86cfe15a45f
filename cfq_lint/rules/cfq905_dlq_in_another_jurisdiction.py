"""A queue and its dead-letter queue are in different jurisdictions of the account.

## What it does
Reports a consumer, of the files or of the account, whose queue and dead-letter queue are in different jurisdictions of the
account. It takes the place of `dlq-jurisdiction-mismatch`, which goes by what is declared.

## Why it matters
Cloudflare wants a dead-letter queue in the jurisdiction of its source, and refuses the consumer. A jurisdiction is set when a
queue is created and cannot be changed.

## Bad
In the account:
```json account
{ "queues": { "orders": { "jurisdiction": "eu" }, "orders-dlq": { "consumers": [{ "script_name": "alerts" }] } } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Good
In the account:
```json account
{ "queues": {
  "orders": { "jurisdiction": "eu" },
  "orders-dlq-eu": { "jurisdiction": "eu", "consumers": [{ "script_name": "alerts" }] }
} }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq-eu" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
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
    """At most one finding a queue and its dead-letter queue, at the latter's name."""
    account = Account(topology, facts)
    seen: set[tuple[str, str]] = set()
    for each in account.attachments():
        name = each.dead_letter_queue
        if name is None or (each.queue, name) in seen or each.queue not in account.queues or name not in account.queues:
            continue
        seen.add((each.queue, name))
        source, target = account.queues[each.queue].jurisdiction, account.queues[name].jurisdiction
        if source is not None and target is not None and source != target:
            option = f" --jurisdiction {source}" if source in limits.JURISDICTIONS else ""
            message = (
                f"in the account {each.queue!r} is in jurisdiction {source!r} and its dead-letter queue {name!r} in {target!r};"
                f" they must be in the same one: use another queue, made by `wrangler queues create NAME{option}`"
            )
            spot = each.dead_letter_spot
            yield RULE.finding(spot.place, message, environment=spot.environment, severity=spot.severity)


RULE = Rule(
    "CFQ905",
    "dlq-in-another-jurisdiction",
    Severity.ERROR,
    limits.PAGE_DATA_LOCATION,
    limits.READ_PAGES,
    needs=LIVE,
    limits=("jurisdictions",),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
