"""The environment that is asked for is not in the file.

## What it does
With `--env NAME`, reports a file with queues and without `env.NAME`. Its top level is looked at instead.

## Why it matters
wrangler stops if the file has other environments; if it has none, it warns and deploys the top level under the Worker's plain
name.

## Bad
```jsonc env=staging
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] }, "env": { "production": { "queues": {} } } }
```

## Good
```jsonc env=staging
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] }, "env": { "staging": { "queues": {} } } }
```
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
    """At most one finding a file, at `env`, or at the top where the file has none."""
    redirect = worker.document.redirect
    if not worker.lacks_selected or (redirect is not None and redirect.target is not None):
        return
    if not worker.speaks_of_queues:
        return
    names = [each.name for each in worker.every_environment if each.name is not None]
    field = worker.fields.get("env")
    place = field.key_place if field is not None else worker.document.top
    if names:
        message = f"there is no environment {worker.selected!r}, and wrangler stops; the file has {', '.join(map(repr, names))}"
    else:
        message = f"there is no environment {worker.selected!r}; wrangler warns and deploys the top level"
    yield RULE.finding(place, message)


RULE = Rule(
    "CFQ504",
    "env-missing-in-file",
    Severity.WARNING,
    limits.PAGE_ENVIRONMENTS,
    limits.READ_DOSSIER,
    needs=PROJECT,
    visit=WORKER,
    signs=(signs.SELECTED,),
    check=check,
)
