"""A producer has no binding.

## What it does
Reports a producer without `binding`, or with an empty one.

## Why it matters
wrangler refuses the file: without a name in `env` the Worker cannot send to the queue.

## Bad
```jsonc
{ "queues": { "producers": [{ "queue": "orders" }] } }
```

## Good
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import PRODUCER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Producer


def check(producer: Producer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a producer: at the empty name, or at the entry."""
    field = producer.field("binding")
    if field is None and not producer.means("binding"):
        message = f'{producer.path} has no `binding`; a producer needs a name in `env`, such as "MY_QUEUE"'
        yield RULE.finding(producer.place, message, environment=producer.environment)
    elif field is not None and field.text == "":
        message = f'the `binding` of {producer.path} is empty; a producer needs a name in `env`, such as "MY_QUEUE"'
        yield RULE.finding(field.place, message, environment=producer.environment)


RULE = Rule(
    "CFQ111",
    "producer-binding-missing",
    Severity.ERROR,
    limits.PAGE_CONFIGURE,
    limits.READ_DOSSIER,
    visit=PRODUCER,
    signs=(signs.ODD_BINDING,),
    check=check,
)
