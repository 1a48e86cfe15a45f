"""A setting of the queue stands in the wrangler file, which cannot hold it.

## What it does
Reports `jurisdiction`, `message_retention_period`, `delivery_paused` and notification consumers in a producer or consumer.

## Why it matters
wrangler ignores them with a warning, and the queue keeps its defaults: four days of retention, no jurisdiction. They are set
with a command or over the API; a jurisdiction only when the queue is created.

## Bad
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders", "message_retention_period": 1209600 }] } }
```

## Good
```jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```
and `wrangler queues update orders --message-retention-period-secs 1209600`.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.keys import ELSEWHERE
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENTRY, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Entry


def check(entry: Entry, _facts: Facts) -> Iterator[Finding]:
    """One finding a setting, at its key."""
    for field in entry.unknown():
        command = ELSEWHERE.get(field.key)
        if command is not None:
            value = field.integer if field.integer is not None else "SECONDS"
            shown = command.format(queue=entry.queue_name or "QUEUE", value=value)
            message = (
                f"{field.key} is a setting of the queue, not of this file; wrangler ignores it here. Set it with `{shown}`"
            )
            yield RULE.finding(field.key_place, message, environment=entry.environment)


RULE = Rule(
    "CFQ108",
    "setting-not-in-file",
    Severity.ERROR,
    limits.PAGE_COMMANDS,
    limits.READ_PAGES,
    visit=ENTRY,
    signs=(signs.UNKNOWN_KEY,),
    check=check,
)
