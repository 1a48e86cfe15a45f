"""Queues stand under a key that wrangler does not know.

## What it does
Reports a key of the top level, of an environment or of `previews` that holds what `queues` would hold: `queue`,
`queues_producers`, `queue_consumers`, `"queues.producers"` and their like.

## Why it matters
wrangler warns of an unexpected field and deploys: the Worker gets no binding and no consumer.

## Bad
```toml
[[queue.consumers]]
queue = "orders"
dead_letter_queue = "orders-dlq"
```
```jsonc
{ "queues_producers": [{ "binding": "ORDERS", "queue": "orders" }] }
```

## Good
```toml
[[queues.consumers]]
queue = "orders"
dead_letter_queue = "orders-dlq"
```

## Fix
Unsafe: writes `queues`, where the value has the shape of `queues` and no `queues` stands beside it; or the right header in
TOML. The deploy then attaches what it did not attach before.
"""

from __future__ import annotations

import re

from cfq_lint.facts import limits
from cfq_lint.facts.keys import QUEUES_KEYS, normal
from cfq_lint.model.edits import rename_key
from cfq_lint.model.finding import Edit, Finding, Fix, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENVIRONMENT, UNSAFE, Rule
from cfq_lint.source.document import TOML
from cfq_lint.source.node import OBJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment, Field


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """One finding a key, at the key."""
    for field in environment.misnamed_queues:
        right = "queues" if field.kind == OBJECT else f"queues.{_list_of(field)}"
        message = (
            f"wrangler does not know the key {field.key!r}: it warns, and nothing is bound or consumed; did you mean `{right}`?"
        )
        edits = tuple(_renames(environment, field, right))
        fix = Fix(f"write {right}", edits, safe=False) if edits else None
        yield RULE.finding(field.key_place, message, environment=environment.name, fix=fix)


def _list_of(field: Field) -> str:
    """Which of the two lists an array is: by its key, else by what its entries hold."""
    plain = normal(field.key)
    for key in QUEUES_KEYS:
        if key[:-1] in plain:
            return key
    text = field.document.text[field.node.start : field.node.end]
    return "producers" if "binding" in text else "consumers"


def _renames(environment: Environment, field: Field, right: str) -> Iterator[Edit]:
    document = field.document
    if document.syntax == TOML and document.text.startswith("[", _line_start(document.text, field.member.start)):
        yield from _headers(environment, field, right)
    elif right == "queues" and environment.queues is None and all(key in QUEUES_KEYS for key in field.fields):
        yield rename_key(field, right)


def _headers(environment: Environment, field: Field, right: str) -> Iterator[Edit]:
    """In TOML every header that begins with the key, or with the environment's and the key."""
    document = field.document
    above = re.escape(f"{environment.label}.") if environment.label else ""
    written = re.escape(document.text[field.member.start : field.member.end])
    for match in re.finditer(rf"(?m)^[ \t]*\[\[?[ \t]*{above}({written})(?=[ \t]*[.\]])", document.text):
        yield Edit(document.place(*match.span(1)), right)


def _line_start(text: str, position: int) -> int:
    start = text.rfind("\n", 0, position) + 1
    return start + len(text[start:position]) - len(text[start:position].lstrip(" \t"))


RULE = Rule(
    "CFQ118",
    "queues-key-misnamed",
    Severity.ERROR,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    fix=UNSAFE,
    visit=ENVIRONMENT,
    signs=(signs.MISNAMED,),
    check=check,
)
