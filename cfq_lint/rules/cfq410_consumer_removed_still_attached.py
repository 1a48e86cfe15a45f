"""A consumer is gone from the file, but not from the account.

## What it does
`cfq-lint diff OLD NEW` reports a consumer that the old file has and the new one lacks, with the command that detaches it.

## Why it matters
A deploy adds and updates consumers, it never removes one. The queue keeps calling the Worker: if its handler is gone too, every
message fails, and no other Worker can be attached (API code 11004).

## Bad
A commit that deletes an entry of `queues.consumers`, and nothing else.

## Good
The same commit, and `wrangler queues consumer remove QUEUE WORKER` run after the deploy.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import DIFF, WORKER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Worker


def check(_worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """Nothing: one file alone cannot show it; `changes.compare` makes the findings."""
    yield from ()


RULE = Rule(
    "CFQ410",
    "consumer-removed-still-attached",
    Severity.WARNING,
    limits.PAGE_COMMANDS,
    limits.READ_PAGES,
    needs=DIFF,
    visit=WORKER,
    signs=(signs.NEVER,),
    check=check,
)
