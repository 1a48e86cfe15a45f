"""The file uses JSON5, which wrangler does not read.

## What it does
Reports single quotes, unquoted keys, hexadecimal numbers, a leading `+` or `.`, a trailing `.`, `Infinity`, `NaN`, line
continuations and the other liberties of JSON5.

## Why it matters
wrangler reads JSONC: JSON with comments and trailing commas, nothing else. Editors and formatters often accept JSON5, so that
the file looks right until the deploy.

## Bad
```jsonc
{ queues: { consumers: [ { 'queue': 'orders', max_retries: 0x5, dead_letter_queue: 'orders-dlq' } ] } }
```

## Good
```jsonc
{ "queues": { "consumers": [ { "queue": "orders", "max_retries": 5, "dead_letter_queue": "orders-dlq" } ] } }
```

## Fix
Safe: writes the same value as JSON. `Infinity` and `NaN` have no JSON form and are left.
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
    """One finding a token that JSON5 knows and JSON does not."""
    for fault in worker.document.faults:
        if fault.json5:
            place = worker.document.place(fault.start, fault.end)
            fix = None
            if fault.replacement is not None:
                fix = Fix(f"write {fault.replacement}", (Edit(place, fault.replacement),), safe=True)
            yield RULE.finding(place, fault.message, fix=fix)


RULE = Rule(
    "CFQ002",
    "json5-syntax",
    Severity.ERROR,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    fix=SAFE,
    visit=WORKER,
    signs=(signs.FAULT,),
    check=check,
)
