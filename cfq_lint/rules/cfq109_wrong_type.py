"""A setting has a value of the wrong type.

## What it does
Reports a string, boolean, null, list or object where a number must stand, a number or the like where a name must stand, and
anything but true and false for `remote`. A number out of its range is another rule's, a null `max_concurrency` is
`max-concurrency-null`.

## Why it matters
wrangler refuses the file.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_retries": "5", "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_retries": 5, "dead_letter_queue": "orders-dlq" }] } }
```

## Fix
Safe for a string that holds the integer: takes the quotes away.
"""

from __future__ import annotations

import re

from cfq_lint.facts import limits
from cfq_lint.facts.keys import BOOLEAN, INTEGER, Key
from cfq_lint.model.edits import replace_value
from cfq_lint.model.finding import Finding, Fix, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENTRY, SAFE, Rule
from cfq_lint.source import node as kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Entry, Field

_KINDS = {INTEGER: kinds.NUMBER, BOOLEAN: kinds.BOOLEAN}
_WORDS = {INTEGER: "a number", BOOLEAN: "true or false"}
_ARTICLES = {
    kinds.STRING: "a string",
    kinds.NUMBER: "a number",
    kinds.BOOLEAN: "a boolean",
    kinds.DATETIME: "a date",
}


def check(entry: Entry, _facts: Facts) -> Iterator[Finding]:
    """One finding a value, at the value."""
    for key, field in entry.fields.items():
        known = entry.keys.get(key)
        if known is None or not _is_wrong(known, field):
            continue
        kind = _ARTICLES.get(field.kind)
        said = f"{field.shown}, {kind}" if kind else field.shown
        message = f"{key} is {said}; it must be {_WORDS.get(known.type, 'a string')}"
        if known.minimum is not None:
            message += f", {known.allowed}"
        yield RULE.finding(field.place, message, environment=entry.environment, fix=_unquoted(known, field))


def _is_wrong(key: Key, field: Field) -> bool:
    if key.name == "type" or (key.name == "max_concurrency" and field.is_null):
        return False
    return field.kind not in {_KINDS.get(key.type, kinds.STRING), kinds.BROKEN}


def _unquoted(key: Key, field: Field) -> Fix | None:
    text = (field.text or "").strip()
    if key.type != INTEGER or not re.fullmatch(r"0|[1-9][0-9]{0,15}", text):
        return None
    return Fix(f"write the number {text}", (replace_value(field, text),), safe=True)


RULE = Rule(
    "CFQ109",
    "wrong-type",
    Severity.ERROR,
    limits.PAGE_CONFIGURE,
    limits.READ_DOSSIER,
    fix=SAFE,
    visit=ENTRY,
    signs=(signs.WRONG_TYPE,),
    check=check,
)
