"""Another file is deployed instead of this one.

## What it does
Reports a configuration for which a build has written `.wrangler/deploy/config.json`. wrangler then deploys the file that is
named there. Only of files with queues.

## Why it matters
What is checked here is not what goes live. `--follow-redirect` lints the deployed file as well.

## Bad
`wrangler.jsonc` beside `.wrangler/deploy/config.json` that holds `{"configPath": "../../dist/wrangler.json"}`.

## Good
The same, linted with `--follow-redirect`, or no redirect.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import WORKER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Worker


def check(worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """At most one finding, at the top of the file."""
    redirect = worker.document.redirect
    if redirect is not None and redirect.target is not None and worker.speaks_of_queues:
        message = (
            f"wrangler deploys {redirect.target} instead, as {redirect.document.path} says; lint it too with --follow-redirect"
        )
        yield RULE.finding(worker.document.top, message, related=(Related(redirect.document.top, "the redirect"),))


RULE = Rule(
    "CFQ007",
    "redirected-config",
    Severity.INFO,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    visit=WORKER,
    signs=(signs.ODD_FILE,),
    check=check,
)
