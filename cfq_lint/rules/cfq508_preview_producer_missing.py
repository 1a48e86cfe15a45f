"""Previews lack a queue binding that the Worker has.

## What it does
Reports a binding of the top level's producers that `previews` does not have. An explicit empty `queues` under `previews`
says that it needs none.

## Why it matters
Bindings are not inherited into previews: there `env.ORDERS` is undefined, and the first `send()` fails.

## Bad
```jsonc
{
  "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] },
  "previews": { "vars": { "ENVIRONMENT": "preview" } }
}
```

## Good
```jsonc
{
  "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] },
  "previews": { "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders-preview" }] } }
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENVIRONMENT, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """One finding a binding, at the key of the previews."""
    field, queues = environment.field, environment.queues
    if (
        not environment.is_previews
        or field is None
        or (queues is not None and not queues.fields)
        or environment.misnamed_queues
    ):
        return
    have = {producer.binding.text for producer in environment.producers if producer.binding is not None}
    for producer in environment.top.producers:
        binding = producer.binding
        if binding is not None and binding.text not in have:
            message = (
                f"previews have no binding {binding.text!r}, which the top level has; `env.{binding.text}` is undefined there"
            )
            related = (Related(binding.place, "bound here, not inherited"),)
            yield RULE.finding(field.key_place, message, environment=environment.name, related=related)


RULE = Rule(
    "CFQ508",
    "preview-producer-missing",
    Severity.WARNING,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    visit=ENVIRONMENT,
    signs=(signs.PREVIEWS,),
    check=check,
)
