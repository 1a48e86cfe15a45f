"""The file is not JSONC or not TOML, so wrangler cannot read it.

## What it does
Reports every place where the text breaks its grammar, up to 100 in a file. While a file has one, no other rule judges it: what
a broken file seems to lack may only stand behind the break.

## Why it matters
wrangler stops at the first of them and deploys nothing. `.json` and `.jsonc` are both read as JSONC (comments and trailing
commas are fine), `.toml` as TOML 1.0.

## Bad
```jsonc
{ "queues": { "consumers": [ { "queue": "orders" "dead_letter_queue": "orders-dlq" } ] } }
```

## Good
```jsonc
{ "queues": { "consumers": [ { "queue": "orders", "dead_letter_queue": "orders-dlq" } ] } }
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
    """One finding a fault that no other dialect explains."""
    for fault in worker.document.faults:
        if not fault.json5:
            yield RULE.finding(worker.document.place(fault.start, fault.end), fault.message)


RULE = Rule(
    "CFQ001",
    "parse-error",
    Severity.ERROR,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    visit=WORKER,
    signs=(signs.FAULT,),
    check=check,
)
