"""A producer names no queue, so wrangler derives a name and creates the queue.

## What it does
Reports a producer without `queue` and shows the name that wrangler 4.113 and later derive: the Worker's name, a hyphen and the
binding in lower case with hyphens.

## Why it matters
It is legal, but the queue's name now hangs on two other names, an older wrangler refuses the file, and a consumer must spell
the derived name out.

## Bad
```jsonc
{ "name": "shop", "queues": { "producers": [{ "binding": "OUTBOX" }] } }
```

## Good
```jsonc
{ "name": "shop", "queues": { "producers": [{ "binding": "OUTBOX", "queue": "shop-outbox" }] } }
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
    """At most one finding a producer, at the entry."""
    binding = producer.binding
    if binding is None or producer.means("queue"):
        return
    name = (binding.text or "").lower().replace("_", "-")
    derived = f"{producer.script or '<Worker name>'}-{name}"
    message = f"{producer.path} names no queue: wrangler 4.113 and later create {derived!r}, an older one refuses the file"
    yield RULE.finding(producer.place, message, environment=producer.environment)


RULE = Rule(
    "CFQ112",
    "producer-queue-provisioned",
    Severity.INFO,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    visit=PRODUCER,
    signs=(signs.NO_NAME,),
    check=check,
)
