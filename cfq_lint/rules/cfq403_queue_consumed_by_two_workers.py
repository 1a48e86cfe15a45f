"""Two files of the run consume the same queue.

## What it does
Reports a queue that a second file consumes, and points at the first. Files that wrangler never reads, or that a build replaces,
do not count.

## Why it matters
A queue has one consumer: the second deploy fails with API code 11004 (`workers.api.error.consumer_exists`).

## Bad
```jsonc a/wrangler.jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```
```jsonc b/wrangler.jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc a/wrangler.jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```
```jsonc b/wrangler.jsonc
{ "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import PROJECT, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import ConsumerLink, Topology


def check(topology: Topology, _facts: Facts) -> Iterator[Finding]:
    """One finding a queue and further file, where that file first consumes it."""
    for name, consumers in topology.consumers_of.items():
        by_path: dict[str, ConsumerLink] = {}
        for consumer in consumers:
            if consumer.is_deployed:
                by_path.setdefault(consumer.place.path, consumer)
        first, *others = by_path.values() or [None]
        for other in others:
            if first is None or other is None:
                continue
            message = (
                f"{first.place.path} consumes {name!r} too; a queue has one consumer, the second deploy fails with code 11004"
            )
            related = (Related(first.place, "the first consumer of this queue"),)
            yield RULE.finding(other.place, message, environment=other.environment, related=related)


RULE = Rule(
    "CFQ403",
    "queue-consumed-by-two-workers",
    Severity.ERROR,
    limits.PAGE_HOW,
    limits.READ_DOSSIER,
    needs=PROJECT,
    limits=("active_consumers_per_queue",),
    visit=RUN,
    signs=(signs.SEVERAL_FILES,),
    check=check,
)
