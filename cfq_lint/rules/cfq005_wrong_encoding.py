"""The file is not UTF-8.

## What it does
Reports UTF-16, UTF-32, binary files, and bytes that are not UTF-8. Nothing else is said about such a file.

## Why it matters
wrangler refuses a file with a UTF-16 or UTF-32 byte order mark, and reads other encodings wrongly.

## Bad
A file saved as "Unicode" or "UTF-16" by an editor on Windows, or made by redirecting the output of an old PowerShell.

## Good
The same file saved as UTF-8.
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
    """At most one finding, at the top of the file."""
    if worker.document.encoding_problem:
        yield RULE.finding(worker.document.top, worker.document.encoding_problem)


RULE = Rule(
    "CFQ005",
    "wrong-encoding",
    Severity.ERROR,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    visit=WORKER,
    signs=(signs.ODD_FILE,),
    check=check,
)
