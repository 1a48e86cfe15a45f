"""`queues` has a key other than `producers` and `consumers`.

## What it does
Reports keys of `queues` that wrangler does not know; most often the singular `consumer` or `producer`.

## Why it matters
wrangler only warns and deploys a Worker that consumes nothing, or whose binding is undefined.

## Bad
```toml
[[queues.consumer]]
queue = "thumbs"
```

## Good
```toml
[[queues.consumers]]
queue = "thumbs"
dead_letter_queue = "thumbs-dlq"
```

## Fix
Safe: writes the plural, unless that key is there as well.
"""

from __future__ import annotations

import re

from cfq_lint.facts import limits
from cfq_lint.facts.keys import QUEUES_KEYS, meant
from cfq_lint.model.edits import rename_key
from cfq_lint.model.finding import Edit, Finding, Fix, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENVIRONMENT, SAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment, Field


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """One finding an unknown key, at the key."""
    queues = environment.queues
    fields = queues.fields if queues is not None else {}
    for key, field in fields.items():
        if key in QUEUES_KEYS:
            continue
        spelling = meant(key, QUEUES_KEYS)
        message = f"queues has no key {key!r}; wrangler ignores it"
        fix = None
        if spelling is not None and spelling.key not in fields:
            message += f"; did you mean {spelling.key!r}?"
            fix = Fix(f"rename it to {spelling.key!r}", tuple(_renames(field, spelling.key)), safe=True)
        else:
            message += f"; it may hold {' and '.join(QUEUES_KEYS)} only"
        yield RULE.finding(field.key_place, message, environment=environment.name, fix=fix)


def _renames(field: Field, name: str) -> Iterator[Edit]:
    """In TOML every `[[queues.consumer]]` header names the key again."""
    yield rename_key(field, name)
    document = field.document
    written = document.text[field.member.start : field.member.end]
    for item in field.items:
        header = re.compile(r"\[\[[^\]\n]*\]\]").match(document.text, item.start)
        if header is None or header.start() <= field.member.start < header.end():
            continue
        start = header.group().rfind(written)
        if start >= 0:
            at = header.start() + start
            yield Edit(document.place(at, at + len(written)), name)


RULE = Rule(
    "CFQ104",
    "unknown-queues-key",
    Severity.ERROR,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    fix=SAFE,
    visit=ENVIRONMENT,
    signs=(signs.UNKNOWN_LIST,),
    check=check,
)
