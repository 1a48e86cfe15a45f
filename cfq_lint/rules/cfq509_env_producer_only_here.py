"""An environment has a queue binding that production lacks.

## What it does
Reports a binding of an environment that the top level does not have, where the top level is deployed itself: it has queues,
and no environment is called production, prod, live, main or release.

## Why it matters
What was tried out in the environment fails in production, where the binding is undefined.

## Bad
```jsonc
{
  "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] },
  "env": {
    "dev": {
      "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders-dev" }, { "binding": "LOGS", "queue": "logs-dev" }] }
    }
  }
}
```

## Good
```jsonc
{
  "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }, { "binding": "LOGS", "queue": "logs" }] },
  "env": {
    "dev": {
      "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders-dev" }, { "binding": "LOGS", "queue": "logs-dev" }] }
    }
  }
}
```
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

_PRODUCTION = frozenset({"production", "prod", "live", "main", "release"})


def check(worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """One finding a binding and environment, at the environment's list of producers."""
    top = worker.top
    if not top.entries or any((each.name or "").lower() in _PRODUCTION for each in worker.every_environment):
        return
    bound = {producer.binding.text for producer in top.producers if producer.binding is not None}
    for environment in worker.environments:
        listed = environment.list_field("producers")
        if environment.name is None or listed is None or environment.is_worker_of(top):
            continue
        for producer in environment.producers:
            binding = producer.binding
            if binding is not None and binding.text not in bound:
                name = binding.text
                message = (
                    f"{environment.label} has the binding {name!r}, which the top level lacks; if production is deployed from"
                    f" there, `env.{name}` is undefined in it"
                )
                related = (Related(binding.place, "bound here"),)
                yield RULE.finding(listed.place, message, environment=environment.name, related=related)


RULE = Rule(
    "CFQ509",
    "env-producer-only-here",
    Severity.INFO,
    limits.PAGE_ENVIRONMENTS,
    limits.READ_DOSSIER,
    visit=WORKER,
    signs=(signs.MORE_BINDINGS,),
    check=check,
)
