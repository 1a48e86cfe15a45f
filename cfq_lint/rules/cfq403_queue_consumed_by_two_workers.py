"""Two files of the run consume the same queue.

## What it does
Reports a queue that a second file consumes as another Worker, and points at the first. Two files whose Workers have one
name are one Worker. What is not deployed beside the others does not count: files that wrangler never reads, that a build
replaces or wrote, `wrangler.local`, `.test`, `.example` and their like, folders of tests and examples, and templates whose
name is a placeholder.

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
    """One finding a queue and further file, where another Worker of that file first consumes it."""
    for name, consumers in topology.consumers_of.items():
        deployed = [consumer for consumer in consumers if consumer.is_deployed]
        by_path: dict[str, ConsumerLink] = {}
        for consumer in deployed:
            if consumer.worker != deployed[0].worker:
                by_path.setdefault(consumer.place.path, consumer)
        for path, other in by_path.items():
            first = deployed[0]
            if path == first.place.path:
                continue  # two environments of one file
            message = (
                f"{first.place.path} consumes {name!r} too, and a queue has one consumer: if both Workers are deployed, the"
                " second deploy fails with code 11004"
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
