"""A producer has a key that wrangler does not know.

## What it does
Reports keys of a producer that are not settings of a wrangler file. In TOML `name` or `main` below `[[queues.producers]]`
belong to that table.

## Why it matters
wrangler prints one line among many and goes on without the setting.

## Bad
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders", "delaySeconds": 60 }] } }
```

## Good
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```

## Fix
Unsafe, since the setting then takes effect: renames the key, and converts the value where the unit differs; moves what is
meant for the top level of a TOML file, and stands below a header, above the first table.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._unknown_keys import unknown_keys
from cfq_lint.rules.rule import PRODUCER, UNSAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Producer


def check(producer: Producer, _facts: Facts) -> Iterator[Finding]:
    """One finding an unknown key, at the key."""
    return unknown_keys(RULE, producer, "producer")


RULE = Rule(
    "CFQ106",
    "unknown-producer-key",
    Severity.WARNING,
    limits.PAGE_CONFIGURE,
    limits.READ_DOSSIER,
    fix=UNSAFE,
    visit=PRODUCER,
    signs=(signs.UNKNOWN_KEY,),
    check=check,
)
