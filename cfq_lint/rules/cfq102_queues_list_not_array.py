"""`producers` or `consumers` is not a list.

## What it does
Reports a `queues.producers` or `queues.consumers` that is not an array: one object without brackets around it, or in TOML a
table `[queues.consumers]` where an array of tables `[[queues.consumers]]` is meant.

## Why it matters
wrangler refuses the file.

## Bad
```toml
[queues.consumers]
queue = "orders"
dead_letter_queue = "orders-dlq"
```

## Good
```toml
[[queues.consumers]]
queue = "orders"
dead_letter_queue = "orders-dlq"
```

## Fix
Safe where a single object can be wrapped into a list.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.keys import QUEUES_KEYS
from cfq_lint.model.finding import Edit, Finding, Fix, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENVIRONMENT, SAFE, Rule
from cfq_lint.source.node import ARRAY, BROKEN, OBJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment, Field


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """One finding a list that is none, at its value."""
    for key in QUEUES_KEYS:
        field = environment.list_field(key)
        if field is not None and field.kind not in {ARRAY, BROKEN}:
            message = f"queues.{key} is {field.shown}; it must be a list of objects"
            place = field.key_place if field.kind == OBJECT else field.place
            yield RULE.finding(place, message, environment=environment.name, fix=_wrap(field))


def _wrap(field: Field) -> Fix | None:
    if field.kind != OBJECT:
        return None
    document, node = field.document, field.node
    text = document.text
    if text.startswith("{", node.start):
        edits = (Edit(document.place(node.start, node.start), "["), Edit(document.place(node.end, node.end), "]"))
        return Fix("make it a list of one object", edits, safe=True)
    closing = text.find("]", node.start)
    if not text.startswith("[", node.start) or closing < 0 or text[node.start : closing].count("[") > 1:
        return None  # a table that only deeper headers or dotted keys imply
    edits = (Edit(document.place(node.start, node.start), "["), Edit(document.place(closing, closing), "]"))
    return Fix("make it an array of tables", edits, safe=True)


RULE = Rule(
    "CFQ102",
    "queues-list-not-array",
    Severity.ERROR,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    fix=SAFE,
    visit=ENVIRONMENT,
    signs=(signs.SHAPE,),
    check=check,
)
