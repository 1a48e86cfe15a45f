r"""The text is TOML 1.1, which older wranglers refuse.

## What it does
Reports the first place of a file that TOML 1.1 allows and 1.0 does not: a line end, a comment or a last comma in an inline
table, `\e` and `\xHH` in a string, a time without seconds. Only in files that speak of queues.

## Why it matters
wrangler reads TOML 1.1 since 4.137.0. An older one, on a colleague's machine or in a pipeline, refuses the file.

## Bad
```toml
queues = {
  producers = [{ binding = "ORDERS", queue = "orders" }]
}
```

## Good
```toml
[[queues.producers]]
binding = "ORDERS"
queue = "orders"
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import WORKER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Worker


def check(worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a file, at the first such place."""
    document = worker.document
    newer = document.tree.newer
    if newer is not None and worker.speaks_of_queues:
        message = f"{newer.message} is TOML 1.1; wrangler reads it since 4.137.0, an older one refuses the file"
        yield RULE.finding(document.place(newer.start, newer.end), message)


RULE = Rule(
    "CFQ010",
    "toml-1-1-syntax",
    Severity.INFO,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    visit=WORKER,
    signs=(signs.NEWER_TOML,),
    check=check,
)
