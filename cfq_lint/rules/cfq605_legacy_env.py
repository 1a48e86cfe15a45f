"""The file uses `legacy_env`, which wrangler refuses.

## What it does
Reports the key `legacy_env`.

## Why it matters
Service environments were removed. wrangler stops at the key, whatever its value.

## Bad
```toml
legacy_env = false

[[queues.producers]]
binding = "ORDERS"
queue = "orders"
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
    """At most one finding a file, at the key."""
    field = worker.fields.get("legacy_env")
    if field is not None:
        yield RULE.finding(
            field.key_place, "wrangler refuses `legacy_env`, since service environments were removed; delete the key"
        )


RULE = Rule(
    "CFQ605",
    "legacy-env",
    Severity.ERROR,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    visit=WORKER,
    signs=(signs.LEGACY,),
    check=check,
)
