"""A queue of the file does not exist in the account.

## What it does
Reports a queue that a consumer or producer of the run names and the account does not have, once, and points at the others that
name it. It takes the place of `queue-not-provisioned` and `queue-name-near-miss`.

## Why it matters
wrangler stops with `Queue "…" does not exist` where a Worker only consumes the queue. For one that the same Worker produces to,
wrangler 4.113 and later create it without a question, also where its name is misspelt; an older one stops.

## Bad
In the account:
```json account
{ "queues": { "order": {} } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }, { "queue": "orders-dlq" }] } }
```
Or:
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```

## Good
In the account:
```json account
{ "queues": { "orders": {}, "orders-dlq": {} } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }, { "queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._account import Account
from cfq_lint.rules.rule import LIVE, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import ConsumerLink, ProducerLink, Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue, where the deploy stops; else where the run first names it."""
    account = Account(topology, facts)
    for name in dict.fromkeys([*topology.consumers_of, *topology.producers_of]):
        links = account.links(name)
        if not links or not account.lacks(name):
            continue
        refused = _refused(topology, links)
        at = refused or links[0]
        right = account.similar(name)
        hint = f"did you mean {right!r}? If not" if right is not None else "to create it"
        what = "the deploy fails" if refused else "wrangler 4.113 and later create it, an older one refuses the deploy"
        message = f"the account has no queue {name!r}, so {what}; {hint}, run `wrangler queues create {name}`"
        related = [Related(other.place, "names it as well") for other in links if other is not at]
        related += [
            Related(each.dead_letter_place, "dead-letters into it")
            for each in topology.dead_letters_into.get(name, ())
            if each.dead_letter_place is not None
        ]
        severity = None if refused else Severity.WARNING
        yield RULE.finding(at.place, message, environment=at.environment, related=related, severity=severity)


def _refused(topology: Topology, links: list[ConsumerLink | ProducerLink]) -> ConsumerLink | ProducerLink | None:
    """The first consumer whose own Worker does not produce to the queue: wrangler creates queues for producers only.

    Terraform creates none but those that its plan makes.
    """
    name = links[0].queue
    creating = {(each.place.path, each.environment) for each in topology.producers_of.get(name, ())}
    return next((each for each in links if each.place.address or (each.place.path, each.environment) not in creating), None)


RULE = Rule(
    "CFQ901",
    "queue-missing",
    Severity.ERROR,
    limits.PAGE_CONFIGURE,
    limits.READ_DOSSIER,
    needs=LIVE,
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
