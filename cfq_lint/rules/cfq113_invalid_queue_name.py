"""A queue's name is not one that Cloudflare accepts.

## What it does
Reports names, dead-letter queues included, that are not 1 to 63 lower-case letters, digits and hyphens, with a letter or digit
at both ends.

## Why it matters
wrangler does not look at names; the API refuses them at deploy with code 11003.

## Bad
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "My_Orders" }] } }
```

## Good
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "my-orders" }] } }
```

## Fix
Unsafe, since it names another queue: lower case, hyphens for other characters.
"""

from __future__ import annotations

import re

from cfq_lint.facts import limits
from cfq_lint.facts.keys import is_placeholder, is_queue_name
from cfq_lint.model.edits import replace_value
from cfq_lint.model.finding import Finding, Fix, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._names import names
from cfq_lint.rules.rule import ENTRY, UNSAFE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Entry, Field


def check(entry: Entry, _facts: Facts) -> Iterator[Finding]:
    """One finding a name, at the name."""
    for field in names(entry):
        text = field.text or ""
        if (
            is_queue_name(text)
            or is_placeholder(text)
            or (text == "" and field.key == "queue" and entry.keys.get("max_retries"))
        ):
            continue  # a consumer's empty `queue` is consumer-queue-missing
        message = (
            f"{field.shown} is no queue name; allowed are {limits.QUEUE_NAME_LENGTH_MIN} to {limits.QUEUE_NAME_LENGTH_MAX} "
        )
        message += "lower-case letters, digits and hyphens, with a letter or digit at both ends"
        if len(text) > limits.QUEUE_NAME_LENGTH_MAX:
            message += f"; this has {len(text)} characters"
        yield RULE.finding(field.place, message, environment=entry.environment, fix=_mended(field, text))


def _mended(field: Field, text: str) -> Fix | None:
    name = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
    if not is_queue_name(name):
        return None
    return Fix(f"write {name!r}", (replace_value(field, f'"{name}"'),), safe=False)


RULE = Rule(
    "CFQ113",
    "invalid-queue-name",
    Severity.ERROR,
    limits.PAGE_START,
    limits.READ_DOSSIER,
    fix=UNSAFE,
    limits=("queue_name_length_min", "queue_name_length_max", "queue_name_regex"),
    visit=ENTRY,
    signs=(signs.ODD_NAME,),
    check=check,
)
