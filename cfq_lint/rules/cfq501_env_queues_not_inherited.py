"""An environment does not get the queues of the top level.

## What it does
Reports a named environment without `queues` where the top level has some. An explicit empty object says that none are wanted.

## Why it matters
`queues` is not inherited. In that environment the bindings are undefined at run time and nothing is consumed; wrangler prints
one warning among many.

## Bad
```jsonc
{
  "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] },
  "env": { "staging": { "vars": { "STAGE": "staging" } } }
}
```

## Good
```jsonc
{
  "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] },
  "env": { "staging": { "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders-staging" }] } } }
}
```
"""

from __future__ import annotations

from cfq_lint import limits
from cfq_lint.finding import Finding, Related, Severity
from cfq_lint.rule import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.facts import Facts
    from cfq_lint.wrangler import Worker


def check(worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """At most one finding an environment, at its name."""
    top = worker.top
    if top.queues is None or not top.entries:
        return
    for environment in worker.environments:
        if environment.name is None or environment.field is None or environment.queues is not None:
            continue
        message = (
            f"{environment.label} has no `queues`, and those of the top level are not inherited; repeat them there, or write"
            " an empty `queues` if it needs none"
        )
        related = (Related(top.queues.key_place, "not inherited"),)
        yield RULE.finding(environment.field.key_place, message, environment=environment.name, related=related)


RULE = Rule("CFQ501", "env-queues-not-inherited", Severity.WARNING, limits.PAGE_ENVIRONMENTS, limits.READ_DOSSIER, check=check)
