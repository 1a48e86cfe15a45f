"""A consumer has a key that wrangler does not know.

## What it does
Reports keys of a consumer that are not settings of a wrangler file: names of the REST API (`batch_size`, `max_wait_time_ms`),
of the command line (`message-retries`), of JavaScript (`maxRetries`), short forms (`dlq`) and slips of the hand.

## Why it matters
wrangler prints one line among many and goes on: the default applies, or the dead-letter queue is missing.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_wait_time_ms": 5000, "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_batch_timeout": 5, "dead_letter_queue": "orders-dlq" }] } }
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
from cfq_lint.rules.rule import LISTED_CONSUMER, UNSAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Consumer


def check(consumer: Consumer, _facts: Facts) -> Iterator[Finding]:
    """One finding an unknown key, at the key."""
    return unknown_keys(RULE, consumer, "consumer")


RULE = Rule(
    "CFQ105",
    "unknown-consumer-key",
    Severity.WARNING,
    limits.PAGE_CONFIGURE,
    limits.READ_DOSSIER,
    fix=UNSAFE,
    visit=LISTED_CONSUMER,
    signs=(signs.UNKNOWN_KEY,),
    check=check,
)
