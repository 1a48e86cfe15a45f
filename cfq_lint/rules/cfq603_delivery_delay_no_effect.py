"""A producer's delivery delay does nothing in production.

## What it does
Reports `delivery_delay` on a producer and gives the command that sets it on the queue.

## Why it matters
Since 2024 a deploy ignores it, while local development still honours it: the delay is seen on the desk and missing in
production. wrangler 4.90 and later warn.

## Bad
```jsonc
{ "queues": { "producers": [{ "binding": "MAIL", "queue": "mail", "delivery_delay": 120 }] } }
```

## Good
```jsonc
{ "queues": { "producers": [{ "binding": "MAIL", "queue": "mail" }] } }
```
and `wrangler queues update mail --delivery-delay-secs 120`.

## Fix
Unsafe, since local development changes: removes the key. The command is for you to run.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.edits import remove
from cfq_lint.model.finding import Finding, Fix, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import PRODUCER, UNSAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Producer


def check(producer: Producer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a producer, at the key. A value out of range or of a wrong type is another rule's."""
    field = producer.field("delivery_delay")
    if field is None or field.integer is None:
        return
    if limits.DELAY_SECONDS_MIN <= field.integer <= limits.DELAY_SECONDS_MAX:
        command = f"wrangler queues update {producer.queue_name or 'QUEUE'} --delivery-delay-secs {field.integer}"
        message = f"delivery_delay has no effect in production, only locally; set it on the queue with `{command}`"
        fix = Fix(f"remove delivery_delay, then run `{command}`", remove(producer.node, field), safe=False)
        yield RULE.finding(field.key_place, message, environment=producer.environment, fix=fix)


RULE = Rule(
    "CFQ603",
    "delivery-delay-no-effect",
    Severity.WARNING,
    limits.PAGE_COMMANDS,
    limits.READ_DOSSIER,
    fix=UNSAFE,
    visit=PRODUCER,
    signs=(signs.NO_EFFECT,),
    check=check,
)
