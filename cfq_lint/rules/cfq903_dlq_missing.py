"""A dead-letter queue does not exist in the account.

## What it does
Reports a dead-letter queue, of the files or of a consumer in the account, that the account does not have. Where the run
consumes it or produces to it, `queue-missing` speaks. It takes the place of `dlq-created-on-deploy` and `dlq-name-near-miss`.

## Why it matters
Cloudflare creates it without a word, in the jurisdiction of its source and without a consumer: what fails all retries lands
where nobody looks, and is deleted after four days. If the name is misspelt, the queue that is watched stays empty.

## Bad
In the account:
```json account
{ "queues": { "orders": {} } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Good
In the account:
```json account
{ "queues": { "orders": {}, "orders-dlq": { "consumers": [{ "script_name": "alerts" }] } } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
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
        if name is None or name in seen or name == each.queue or account.links(name) or not account.lacks(name):
            continue
        seen.add(name)
        right = account.similar(name)
        hint = f"did you mean {right!r}? If not, " if right is not None else ""
        if each.owner:
            what = f"in the account {each.owner} of {each.queue!r} dead-letters into {name!r}, which does not exist"
        else:
            what = f"the account has no queue {name!r}; Cloudflare will create it, and nobody will consume it"
        message = f"{what}: {hint}run `wrangler queues create {typed(name)}` and give it a consumer"
        spot = each.dead_letter_spot
        yield RULE.finding(spot.place, message, environment=spot.environment, severity=spot.severity)


RULE = Rule(
    "CFQ903",
    "dlq-missing",
    Severity.WARNING,
    limits.PAGE_DEAD_LETTERS,
    limits.READ_LIMITS,
    needs=LIVE,
    limits=("dlq_no_consumer_retention",),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
