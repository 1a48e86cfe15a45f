"""An environment consumes fewer queues than the top level.

## What it does
Reports an environment with `queues` of its own that has fewer consumers than the top level. Names usually differ between
environments, so consumers are counted, not compared.

## Why it matters
wrangler says nothing about it: the environment sends messages that only another Worker could consume.

## Bad
```jsonc
{
  "queues": {
    "producers": [{ "binding": "ORDERS", "queue": "orders" }],
    "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }]
  },
  "env": { "production": { "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders-prod" }] } } }
}
```

## Good
```jsonc
{
  "queues": {
    "producers": [{ "binding": "ORDERS", "queue": "orders" }],
    "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }]
  },
  "env": {
    "production": {
      "queues": {
        "producers": [{ "binding": "ORDERS", "queue": "orders-prod" }],
        "consumers": [{ "queue": "orders-prod", "dead_letter_queue": "orders-prod-dlq" }]
      }
    }
  }
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENVIRONMENT, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """At most one finding an environment, at its name."""
    wanted = environment.top.consumers
    queues = environment.queues
    if environment.name is None or environment.field is None or queues is None or not queues.fields:
        return
    if len(environment.consumers) < len(wanted):
        names = ", ".join(consumer.queue_name or "(no name)" for consumer in wanted)
        have = len(environment.consumers)
        message = f"the top level consumes {len(wanted)} ({names}), {environment.label} consumes {have}; is one missing?"
        yield RULE.finding(environment.field.key_place, message, environment=environment.name)


RULE = Rule(
    "CFQ502",
    "env-consumers-missing",
    Severity.INFO,
    limits.PAGE_ENVIRONMENTS,
    limits.READ_DOSSIER,
    visit=ENVIRONMENT,
    signs=(signs.FEWER_CONSUMERS,),
    check=check,
)
