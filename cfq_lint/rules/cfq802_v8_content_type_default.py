"""The Worker sends in a format that pull consumers cannot read.

## What it does
Reports a Worker with producers whose compatibility date is before 2024-03-18 and that does not set the flag
`queues_json_messages`.

## Why it matters
Its messages are sent as `v8`, JavaScript's internal format, unless every `send()` names another. Pull consumers and the
dashboard cannot decode them.

## Bad
```jsonc
{ "compatibility_date": "2023-10-01", "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```

## Good
```jsonc
{ "compatibility_date": "2026-01-15", "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```
"""

from __future__ import annotations

import re

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._flags import JSON_MESSAGES, flag_nodes
from cfq_lint.rules.rule import ENVIRONMENT, Rule
from cfq_lint.rules.signs import JSON_MESSAGES_FROM

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a date, at the date."""
    field = environment.inherited("compatibility_date")
    if field is None or not environment.producers or JSON_MESSAGES in flag_nodes(environment):
        return
    if re.fullmatch(r"\d{4}-\d\d-\d\d", field.text or "") and (field.text or "") < JSON_MESSAGES_FROM:
        message = (
            f"before {JSON_MESSAGES_FROM} messages are sent as v8, which pull consumers cannot decode;"
            f" raise the date, set the flag {JSON_MESSAGES}, or name a contentType in every send()"
        )
        yield RULE.finding(field.place, message, environment=environment.name)


RULE = Rule(
    "CFQ802",
    "v8-content-type-default",
    Severity.WARNING,
    limits.PAGE_JAVASCRIPT_APIS,
    limits.READ_DOSSIER,
    visit=ENVIRONMENT,
    signs=(signs.OLD_DATE,),
    check=check,
)
