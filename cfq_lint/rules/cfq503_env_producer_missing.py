"""An environment lacks a queue binding that the top level has.

## What it does
Reports a named environment with `queues` of its own that leaves out a producer's binding of the top level. An explicit empty
`queues` says that none are wanted.

## Why it matters
`env.NAME` is undefined there, and the first `send()` throws. wrangler gives no warning once an environment has any `queues`.

## Bad
```jsonc
{
  "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }, { "binding": "MAIL", "queue": "mail" }] },
  "env": { "staging": { "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders-staging" }] } } }
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
    """One finding a binding and environment, at the environment's name."""
    wanted = {producer.binding.text: producer.binding for producer in environment.top.producers if producer.binding is not None}
    queues = environment.queues
    if environment.name is None or environment.field is None or queues is None or not queues.fields:
        return
    have = {producer.binding.text for producer in environment.producers if producer.binding is not None}
    for name, binding in wanted.items():
        if name not in have:
            message = f"{environment.label} has no binding {name!r}, which the top level has; `env.{name}` is undefined there"
            related = (Related(binding.place, "bound here, not inherited"),)
            yield RULE.finding(environment.field.key_place, message, environment=environment.name, related=related)


RULE = Rule(
    "CFQ503",
    "env-producer-missing",
    Severity.WARNING,
    limits.PAGE_ENVIRONMENTS,
    limits.READ_DOSSIER,
    visit=ENVIRONMENT,
    signs=(signs.FEWER_BINDINGS,),
    check=check,
)
