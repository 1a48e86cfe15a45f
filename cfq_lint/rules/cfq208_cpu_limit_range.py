"""A consumer's CPU limit is above what Cloudflare allows.

## What it does
Reports `limits.cpu_ms` of a Worker that consumes a queue where it is above 300000 (5 minutes), and, with `--plan free`,
wherever it is set: the Free plan has a fixed limit.

## Why it matters
The deploy fails. A batch that needs more CPU than that must be split.

## Bad
```jsonc
{
  "limits": { "cpu_ms": 900000 },
  "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] }
}
```

## Good
```jsonc
{
  "limits": { "cpu_ms": 300000 },
  "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] }
}
```

## Fix
Unsafe: writes the most that is allowed; on the Free plan removes the setting.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.account_facts import FREE
from cfq_lint.model.edits import remove, replace_value
from cfq_lint.model.finding import Finding, Fix, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENVIRONMENT, UNSAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment, Field


def check(environment: Environment, facts: Facts) -> Iterator[Finding]:
    """One finding a `cpu_ms`, at the number. Environments inherit `limits`, so one at the top level may serve several."""
    own = environment.inherited("limits")
    field = own.fields.get("cpu_ms") if own is not None and environment.consumers else None
    if own is not None and field is not None and field.number is not None:
        yield from _judge(environment, own, field, facts)


def _judge(environment: Environment, own: Field, field: Field, facts: Facts) -> Iterator[Finding]:
    if facts.plan == FREE:
        message = f"limits.cpu_ms is set, but the Free plan's limit is fixed at {limits.CONSUMER_CPU_MS_FREE} ms; remove it"
        fix = Fix("remove it", remove(own.node, field), safe=False)
        yield RULE.finding(field.place, message, environment=environment.name, fix=fix)
    elif (field.number or 0) > limits.CONSUMER_CPU_MS_MAX:
        message = (
            f"limits.cpu_ms is {field.shown}; a consumer may use at most {limits.CONSUMER_CPU_MS_MAX} ms of CPU (5 minutes)"
        )
        fix = Fix(f"write {limits.CONSUMER_CPU_MS_MAX}", (replace_value(field, str(limits.CONSUMER_CPU_MS_MAX)),), safe=False)
        yield RULE.finding(field.place, message, environment=environment.name, fix=fix)


RULE = Rule(
    "CFQ208",
    "cpu-limit-range",
    Severity.ERROR,
    limits.PAGE_LIMITS,
    limits.READ_LIMITS,
    fix=UNSAFE,
    limits=("consumer_cpu_default", "consumer_cpu_max", "consumer_cpu_free"),
    visit=ENVIRONMENT,
    signs=(signs.CPU_LIMIT,),
    check=check,
)
