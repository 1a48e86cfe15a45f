"""A compatibility flag and its opposite are both set.

## What it does
Reports pairs of flags about queues that exclude each other: `queues_json_messages`, `queue_expose_error_codes` and
`queue_consumer_no_wait_for_wait_until` with their opposites.

## Why it matters
The runtime refuses the pair, and the deploy fails.

## Bad
```jsonc
{
  "compatibility_flags": ["queues_json_messages", "no_queues_json_messages"],
  "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] }
}
```

## Good
```jsonc
{
  "compatibility_flags": ["queues_json_messages"],
  "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] }
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._flags import OPPOSITES, flag_nodes
from cfq_lint.rules.rule import ENVIRONMENT, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """One finding a pair, at the later flag; points at the other."""
    document = environment.document
    nodes = flag_nodes(environment)
    for flag, opposite in OPPOSITES.items():
        if flag in nodes and opposite in nodes:
            first, second = sorted((nodes[flag], nodes[opposite]), key=lambda node: node.start)
            message = f"{second.value!r} and {first.value!r} exclude each other; keep one"
            related = (Related(document.at(first), "the opposite"),)
            yield RULE.finding(document.at(second), message, environment=environment.name, related=related)


RULE = Rule(
    "CFQ803",
    "conflicting-compatibility-flags",
    Severity.ERROR,
    limits.PAGE_FLAGS,
    limits.READ_DOSSIER,
    visit=ENVIRONMENT,
    signs=(signs.FLAGS,),
    check=check,
)
