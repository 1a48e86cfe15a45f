"""The build's redirect to another configuration leads nowhere.

## What it does
Reports a `.wrangler/deploy/config.json` that is not JSONC, has no `configPath`, names a file that does not exist or that has
`env`, or stands in another folder than the configuration file; and with `--env`, one whose target was built for another
environment.

## Why it matters
wrangler refuses to deploy. Usually the build has not run, or its output was deleted.

## Bad
`.wrangler/deploy/config.json` that holds `{"configPath": "../../dist/wrangler.json"}` while `dist` is empty.

## Good
Run the build, or delete `.wrangler/deploy`.
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
    """At most one finding, at the top of the file that is redirected; the redirect itself is related."""
    document = worker.document
    redirect = document.redirect
    if redirect is not None and redirect.problem is not None:
        message = (
            f"{redirect.document.path} redirects wrangler, but {redirect.problem}; run the build again or delete the redirect"
        )
        related = (Related(redirect.fault_place, "here"),) if redirect.fault_place is not None else ()
        yield RULE.finding(document.top, message, related=related)
    elif redirect is not None and worker.selected and redirect.environment and redirect.environment != worker.selected:
        message = (
            f"{redirect.target} was built for the environment {redirect.environment!r}, and `--env {worker.selected}` stops"
            " wrangler; build it for that environment"
        )
        related = (Related(redirect.fault_place, "the redirect"),) if redirect.fault_place is not None else ()
        yield RULE.finding(document.top, message, related=related)


RULE = Rule(
    "CFQ008",
    "broken-redirect",
    Severity.ERROR,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    visit=WORKER,
    signs=(signs.ODD_FILE,),
    check=check,
)
