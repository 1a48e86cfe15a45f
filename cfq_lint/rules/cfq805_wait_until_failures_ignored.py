"""A failed waitUntil does not fail the batch.

## What it does
Reports the flag `queue_consumer_no_wait_for_wait_until` in a Worker that consumes queues.

## Why it matters
With the flag only the handler's own promise counts: messages are acknowledged although work given to `ctx.waitUntil()` may
still fail.

## Bad
```jsonc
{
  "compatibility_flags": ["queue_consumer_no_wait_for_wait_until"],
  "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] }
}
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._flags import NO_WAIT, flag_nodes
from cfq_lint.rules.rule import ENVIRONMENT, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a flag, at the flag."""
    node = flag_nodes(environment).get(NO_WAIT)
    if node is not None and environment.consumers:
        message = "with this flag a failed `waitUntil` does not fail the batch: its messages are acknowledged all the same"
        yield RULE.finding(environment.document.at(node), message, environment=environment.name)


RULE = Rule(
    "CFQ805",
    "wait-until-failures-ignored",
    Severity.INFO,
    limits.PAGE_FLAGS,
    limits.READ_DOSSIER,
    visit=ENVIRONMENT,
    signs=(signs.FLAGS,),
    check=check,
)
