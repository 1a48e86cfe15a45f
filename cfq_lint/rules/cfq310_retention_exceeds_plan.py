"""A queue's retention is not one that the plan allows.

## What it does
Reports a queue of the run whose declared retention is outside 60 seconds to 14 days, or that has a declared retention at all on
the Free plan, where it is fixed at 24 hours.

## Why it matters
Cloudflare refuses the setting and the old retention stays in force: messages are gone sooner than planned.

## Bad
```jsonc facts={"queues": {"orders": {"message_retention_period": 2592000}}}
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```

## Good
```jsonc facts={"queues": {"orders": {"message_retention_period": 1209600}}}
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.durations import exactly
from cfq_lint.model.account_facts import FREE
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import FACTS, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue, where the run first names it."""
    for name, queue in facts.queues.items():
        links = [*topology.consumers_of.get(name, ()), *topology.producers_of.get(name, ())]
        made = topology.declared.get(name)
        retention = queue.message_retention_period
        if not (links or made) or retention is None or (facts.is_account and name in (facts.known_queues or ())):
            continue  # what the account has, Cloudflare has allowed
        said = f"the retention of {name!r} is {exactly(retention)}, {facts.origin}"
        if facts.plan == FREE:
            message = (
                f"{said}, but on the Free plan it is fixed at {exactly(limits.RETENTION_SECONDS_FREE)}; remove the setting"
            )
        elif not limits.RETENTION_SECONDS_MIN <= retention <= limits.RETENTION_SECONDS_MAX:
            allowed = f"{exactly(limits.RETENTION_SECONDS_MIN)} to {exactly(limits.RETENTION_SECONDS_MAX)}"
            message = f"{said}; allowed is {allowed}"
        else:
            continue
        place, environment = (made.place, None) if made is not None else (links[0].place, links[0].environment)
        yield RULE.finding(place, message, environment=environment)


RULE = Rule(
    "CFQ310",
    "retention-exceeds-plan",
    Severity.ERROR,
    limits.PAGE_LIMITS,
    limits.READ_LIMITS,
    needs=FACTS,
    limits=("retention_min", "retention_max", "retention_free"),
    visit=RUN,
    signs=(signs.FACTS,),
    check=check,
)
