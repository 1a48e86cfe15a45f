"""`queues` is not an object.

## What it does
Reports a `queues` that holds an array, null, a string or a number, at the top level, in an environment or under `previews`.

## Why it matters
wrangler refuses the file. Most often the list of producers was written straight into `queues`.

## Bad
```jsonc
{ "queues": [{ "binding": "ORDERS", "queue": "orders" }] }
```

## Good
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENVIRONMENT, Rule
from cfq_lint.source.node import BROKEN, OBJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """At most one finding an environment, at the value."""
    queues = environment.queues
    if queues is not None and queues.kind not in {OBJECT, BROKEN}:
        message = f"queues is {queues.shown}; it must be an object with the lists `producers` and `consumers`"
        yield RULE.finding(queues.place, message, environment=environment.name)


RULE = Rule(
    "CFQ101",
    "queues-not-object",
    Severity.ERROR,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    visit=ENVIRONMENT,
    signs=(signs.SHAPE,),
    check=check,
)
