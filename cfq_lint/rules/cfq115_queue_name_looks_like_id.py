"""A queue's id stands where its name belongs.

## What it does
Reports names of 32 hexadecimal digits, dead-letter queues included.

## Why it matters
Ids are for the REST API. wrangler looks queues up by name: the deploy finds none, or creates a stray queue that nobody reads.

## Bad
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "4f1c0a9be2d34756a8b9c0d1e2f3a4b5" }] } }
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
from cfq_lint.rules._names import is_id, names
from cfq_lint.rules.rule import ENTRY, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Entry


def check(entry: Entry, _facts: Facts) -> Iterator[Finding]:
    """One finding a name, at the name."""
    for field in names(entry):
        if is_id(field.text or ""):
            message = (
                f"{field.shown} looks like a queue's id; a file names queues, `wrangler queues list` shows the name of this id"
            )
            yield RULE.finding(field.place, message, environment=entry.environment)


RULE = Rule(
    "CFQ115",
    "queue-name-looks-like-id",
    Severity.WARNING,
    limits.PAGE_CONFIGURE,
    limits.READ_DOSSIER,
    visit=ENTRY,
    signs=(signs.ID,),
    check=check,
)
