"""The queue's name stands under another key than `queue`.

## What it does
Reports an entry without `queue` that has `name`, `queue_name` or a near miss instead.

## Why it matters
For a consumer wrangler refuses the file. For a producer it invents a name and creates a queue that nobody consumes.

## Bad
```jsonc
{ "queues": { "consumers": [{ "name": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Fix
Safe: renames the key.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.edits import rename_key
from cfq_lint.model.finding import Finding, Fix, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._unknown_keys import is_misnamed_queue
from cfq_lint.rules.rule import ENTRY, SAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Entry


def check(entry: Entry, _facts: Facts) -> Iterator[Finding]:
    """At most one finding an entry, at the key."""
    for field, spelling in entry.misspelt():
        if is_misnamed_queue(entry, field, spelling):
            message = f"the queue's name stands under {field.key!r}; the key is 'queue'"
            fix = Fix("rename it to 'queue'", (rename_key(field, "queue"),), safe=True)
            yield RULE.finding(field.key_place, message, environment=entry.environment, fix=fix)
            break


RULE = Rule(
    "CFQ107",
    "queue-key-misnamed",
    Severity.ERROR,
    limits.PAGE_CONFIGURE,
    limits.READ_DOSSIER,
    fix=SAFE,
    visit=ENTRY,
    signs=(signs.UNKNOWN_KEY,),
    check=check,
)
