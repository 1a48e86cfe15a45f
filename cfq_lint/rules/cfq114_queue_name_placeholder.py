"""A queue's name is a placeholder that a template left in.

## What it does
Reports names such as `<TBD>`, `${QUEUE}`, `{{queue}}` and `YOUR_QUEUE_NAME`, dead-letter queues included.

## Why it matters
The deploy fails with code 11003, or a queue is created under that very name.

## Bad
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "<QUEUE_NAME>" }] } }
```

## Good
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.keys import is_placeholder
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._names import names
from cfq_lint.rules.rule import ENTRY, Rule
from cfq_lint.source.document import NAMED, WITHIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Entry


def check(entry: Entry, _facts: Facts) -> Iterator[Finding]:
    """One finding a name, at the name."""
    for field in names(entry):
        if is_placeholder(field.text or "") and field.document.apart not in {NAMED, WITHIN}:
            message = f"{field.shown} is a placeholder; put the queue's name in its place"
            yield RULE.finding(field.place, message, environment=entry.environment)


RULE = Rule(
    "CFQ114",
    "queue-name-placeholder",
    Severity.WARNING,
    limits.PAGE_START,
    limits.READ_DOSSIER,
    visit=ENTRY,
    signs=(signs.ODD_NAME,),
    check=check,
)
