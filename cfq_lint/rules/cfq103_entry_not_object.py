"""An element of `producers` or `consumers` is not an object.

## What it does
Reports a string, number, null or list where a producer or consumer must stand.

## Why it matters
wrangler refuses the file. Often only the queue's name was written.

## Bad
```jsonc
{ "queues": { "consumers": ["orders"] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.keys import QUEUES_KEYS
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.model.wrangler import shown
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENVIRONMENT, Rule
from cfq_lint.source.node import BROKEN, OBJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment

_WANTED = {
    "producers": 'an object such as {"binding": "MY_QUEUE", "queue": "my-queue"}',
    "consumers": 'an object such as {"queue": "my-queue"}',
}


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """One finding an element, at the element."""
    for key in QUEUES_KEYS:
        field = environment.list_field(key)
        for index, node in enumerate(field.items if field is not None else ()):
            if node.kind not in {OBJECT, BROKEN}:
                message = f"queues.{key}[{index}] is {shown(environment.document, node)}; it must be {_WANTED[key]}"
                yield RULE.finding(environment.document.at(node), message, environment=environment.name)


RULE = Rule(
    "CFQ103",
    "entry-not-object",
    Severity.ERROR,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    visit=ENVIRONMENT,
    signs=(signs.SHAPE,),
    check=check,
)
