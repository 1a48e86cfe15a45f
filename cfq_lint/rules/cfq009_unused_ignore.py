"""An ignore comment suppresses nothing.

## What it does
Reports a `cfq-lint: ignore[…]` whose rule finds nothing where it holds, that names no rule, or a rule that does not exist.

## Why it matters
It hides the next real finding, and a reader takes it for a known mistake. The mistake it was written for may long be
repaired.

## Bad
```jsonc
{
  "queues": {
    // cfq-lint: ignore[max-retries-range] was 1000
    "consumers": [{ "queue": "orders", "max_retries": 5, "dead_letter_queue": "orders-dlq" }]
  }
}
```

## Good
```jsonc
{
  "queues": {
    "consumers": [{ "queue": "orders", "max_retries": 5, "dead_letter_queue": "orders-dlq" }]
  }
}
```

## Fix
Safe: removes the comment, or the names in it that suppress nothing, and writes a misspelt name right. A name that means no
rule is left, and so is that of a rule which could not speak in this run: one about several files where not all were read,
about the account where nothing is known of it, about a source that could not be read.
"""

from __future__ import annotations

from cfq_lint.facts.limits import READ_DOSSIER
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import SAFE, WORKER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Worker


def check(_worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """Nothing: only the engine knows, after all rules have run, which ignores were of use."""
    yield from ()


RULE = Rule(
    "CFQ009", "unused-ignore", Severity.INFO, "", READ_DOSSIER, fix=SAFE, visit=WORKER, signs=(signs.NEVER,), check=check
)
