"""A producer's binding is not a JavaScript identifier.

## What it does
Reports bindings that cannot be written as `env.NAME`.

## Why it matters
Cloudflare asks for a name that is a valid JavaScript variable; wrangler does not check it.

## Bad
```jsonc
{ "queues": { "producers": [{ "binding": "my-queue", "queue": "my-queue" }] } }
```

## Good
```jsonc
{ "queues": { "producers": [{ "binding": "MY_QUEUE", "queue": "my-queue" }] } }
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


def _is_identifier(name: str) -> bool:
    """Whether JavaScript takes a name as an identifier: as Python does, and `$` anywhere."""
    return name.replace("$", "_").isidentifier()


def check(producer: Producer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a producer, at the name."""
    binding = producer.binding
    if binding is not None and not _is_identifier(binding.text or ""):
        message = f"{binding.shown} cannot be a property of `env`; a binding is a JavaScript identifier, such as MY_QUEUE"
        yield RULE.finding(binding.place, message, environment=producer.environment)


RULE = Rule(
    "CFQ116",
    "invalid-binding-name",
    Severity.ERROR,
    limits.PAGE_CONFIGURE,
    limits.READ_DOSSIER,
    visit=PRODUCER,
    signs=(signs.ODD_BINDING,),
    check=check,
)
