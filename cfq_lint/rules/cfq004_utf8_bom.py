"""The file starts with a byte order mark.

## What it does
Reports a UTF-8 byte order mark, the three invisible bytes that some editors on Windows write first.

## Why it matters
Today's wrangler passes it over; older ones and many other JSON tools stop with a message about a character that nobody can see.
Columns in this linter's findings never count it.

## Bad
```jsonc
\ufeff{ "queues": {} }
```

## Good
```jsonc
{ "queues": {} }
```

## Fix
Safe: removes the mark.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Edit, Finding, Fix, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import SAFE, WORKER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Worker


def check(worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """At most one finding, at the top of the file."""
    if worker.document.bom:
        top = worker.document.top
        fix = Fix("remove the byte order mark", (Edit(worker.document.place(-1, 0), ""),), safe=True)
        yield RULE.finding(
            top, "the file starts with a UTF-8 byte order mark; wrangler passes it over, other tools stumble", fix=fix
        )


RULE = Rule(
    "CFQ004",
    "utf8-bom",
    Severity.INFO,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    fix=SAFE,
    visit=WORKER,
    signs=(signs.ODD_FILE,),
    check=check,
)
