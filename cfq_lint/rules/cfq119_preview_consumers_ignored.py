"""Previews have consumers, which wrangler ignores.

## What it does
Reports `consumers` under `previews.queues`.

## Why it matters
Of `previews.queues` wrangler reads the producers alone. The consumers look as if previews worked their queues off, and
nothing does.

## Bad
```jsonc
{
  "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] },
  "previews": { "queues": { "consumers": [{ "queue": "orders-preview", "dead_letter_queue": "orders-dlq" }] } }
}
```

## Good
```jsonc
{
  "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] },
  "previews": { "vars": { "ENVIRONMENT": "preview" } }
}
```

## Fix
Safe: removes them.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.edits import cut, remove
from cfq_lint.model.finding import Edit, Finding, Fix, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENVIRONMENT, SAFE, Rule
from cfq_lint.source.document import TOML

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment, Field


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """At most one finding, at the key."""
    listed = environment.list_field("consumers") if environment.is_previews else None
    if listed is None or not listed.items:
        return
    edits = _removal(environment, listed)
    fix = Fix("remove them", edits, safe=True) if edits else None
    message = "previews have no consumers: of `previews.queues` wrangler reads the producers alone; remove these"
    yield RULE.finding(listed.key_place, message, environment=environment.name, fix=fix)


def _removal(environment: Environment, listed: Field) -> tuple[Edit, ...]:
    """The edits that take the list away; none where comments would go too. In TOML each entry has a header of its own."""
    document, queues = listed.document, environment.queues
    if queues is None or document.comments_of(document.text[listed.member.start : listed.node.end]):
        return ()
    if document.syntax == TOML and document.text.startswith("[[", listed.node.start):
        return tuple(cut(document, item.start, item.end) for item in listed.items)
    return remove(queues.node, listed)


RULE = Rule(
    "CFQ119",
    "preview-consumers-ignored",
    Severity.WARNING,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    fix=SAFE,
    visit=ENVIRONMENT,
    signs=(signs.PREVIEWS,),
    check=check,
)
