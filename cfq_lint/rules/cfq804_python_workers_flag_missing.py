"""A Python Worker lacks the flag that makes it one.

## What it does
Reports a file with queues whose `main` is a `.py` file and whose compatibility flags lack `python_workers`.

## Why it matters
The deploy fails: without the flag the file is not taken for a Python Worker.

## Bad
```jsonc
{
  "main": "src/entry.py",
  "compatibility_date": "2026-01-15",
  "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] }
}
```

## Good
```jsonc
{
  "main": "src/entry.py",
  "compatibility_date": "2026-01-15",
  "compatibility_flags": ["python_workers"],
  "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] }
}
```

## Fix
Safe: adds the flag.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.edits import add_after
from cfq_lint.model.finding import Edit, Finding, Fix, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._flags import PYTHON, flag_nodes
from cfq_lint.rules.rule import ENVIRONMENT, SAFE, Rule
from cfq_lint.source.node import ARRAY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment, Field


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a `main`, at the path."""
    main = environment.inherited("main")
    if main is None or not (main.text or "").endswith(".py") or not environment.entries:
        return
    if PYTHON not in flag_nodes(environment):
        message = f"{main.shown} is a Python Worker, which needs the compatibility flag {PYTHON!r}"
        yield RULE.finding(main.place, message, environment=environment.name, fix=_add(environment, main))


def _add(environment: Environment, main: Field) -> Fix | None:
    title = f"add the flag {PYTHON}"
    field = environment.inherited("compatibility_flags")
    if field is not None:
        if field.kind != ARRAY:
            return None
        at = field.node.start + 1
        separator = ", " if field.items else ""
        return Fix(title, (Edit(environment.document.place(at, at), f'"{PYTHON}"{separator}'),), safe=True)
    root, top = environment.document.tree.root, environment.top.fields.get("main")
    if root is None or top is None or main.node is not top.node:
        return None
    return Fix(title, (add_after(root, main, "compatibility_flags", f'["{PYTHON}"]'),), safe=True)


RULE = Rule(
    "CFQ804",
    "python-workers-flag-missing",
    Severity.ERROR,
    limits.PAGE_PYTHON,
    limits.READ_DOSSIER,
    fix=SAFE,
    visit=ENVIRONMENT,
    signs=(signs.PYTHON,),
    check=check,
)
