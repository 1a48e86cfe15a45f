"""wrangler never reads this file, because it finds another one first.

## What it does
Reports a `wrangler.toml` or `wrangler.jsonc` for which wrangler, run in its folder, reads another file instead. wrangler
looks for `wrangler.json` in the folder and in every folder above, then for `wrangler.jsonc`, then for `wrangler.toml`; so a
`wrangler.json` further up beats a `wrangler.jsonc` right here. The file is linted all the same. Only files that speak of
queues are reported, and those beside one that does.

## Why it matters
Edits to it have no effect. Usually it was left behind by a migration to JSONC.

## Bad
A folder that holds `wrangler.jsonc` and `wrangler.toml`.

## Good
A folder that holds one of them. A file that is only read with `--config` carries another name, such as
`wrangler.staging.toml`.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import PROJECT, WORKER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Worker


def check(worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """At most one finding, at the top of the file."""
    document = worker.document
    if document.shadowed_by and (worker.speaks_of_queues or document.shadow_has_queues):
        name = document.path.rsplit("/", 1)[-1]
        advice = f"run it with `--config {name}`" if "/" in document.shadowed_by else "delete one of them, or use --config"
        message = f"{name} is never read: wrangler finds {document.shadowed_by} first; {advice}"
        yield RULE.finding(document.top, message)


RULE = Rule(
    "CFQ006",
    "shadowed-config",
    Severity.WARNING,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    needs=PROJECT,
    visit=WORKER,
    signs=(signs.ODD_FILE,),
    check=check,
)
