"""Two environments of one file consume the same queue.

## What it does
Reports a queue that an environment consumes which an earlier one, or the top level, consumes already. Where both give the
Worker one name they are one Worker, and it is silent.

## Why it matters
The top level and every environment are Workers of their own, and a queue has one consumer: the second deploy fails with API
code 11004 (`workers.api.error.consumer_exists`), or staging takes production's messages.

## Bad
```jsonc
{
  "env": {
    "dev": { "queues": { "consumers": [{ "queue": "mail", "dead_letter_queue": "mail-dlq" }] } },
    "staging": { "queues": { "consumers": [{ "queue": "mail", "dead_letter_queue": "mail-dlq" }] } }
  }
}
```

## Good
```jsonc
{
  "env": {
    "dev": { "queues": { "consumers": [{ "queue": "mail-dev", "dead_letter_queue": "mail-dev-dlq" }] } },
    "staging": { "queues": { "consumers": [{ "queue": "mail-staging", "dead_letter_queue": "mail-staging-dlq" }] } }
  }
}
```
"""

from __future__ import annotations

import re

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import WORKER, Rule
from cfq_lint.source.document import TYPESCRIPT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment, Field, Worker


def check(worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """One finding a queue and environment, at the queue's name; with `--env` also beside one that is not selected."""
    looked_at = {environment.label for environment in worker.environments}
    first: dict[str, tuple[Environment, Field]] = {}
    for environment in _selected_last(worker):
        own: dict[str, Field] = {}
        for consumer in environment.consumers:
            if consumer.queue is not None:
                own.setdefault(consumer.queue_name, consumer.queue)
        for name, queue in own.items():
            other, earlier = first.setdefault(name, (environment, queue))
            if environment.label in looked_at and _are_both_deployed(environment, other):
                message = (
                    f"{environment.described} consumes {name!r}, which {other.described} consumes already; they are two"
                    " Workers, and a queue has one consumer: if both are deployed, the second deploy fails with code 11004"
                )
                related = (Related(earlier.place, f"consumed by {other.described}"),)
                yield RULE.finding(queue.place, message, environment=environment.name, related=related)


def _are_both_deployed(environment: Environment, other: Environment) -> bool:
    """Whether both may well be deployed, as two Workers: of modes those whose name is known and is not one for local work."""
    if environment.is_worker_of(other):
        return False
    return environment.document.syntax != TYPESCRIPT or all(
        each.script and _LOCAL.isdisjoint(re.split(r"[-_]", f"{each.script}-{each.name}")) for each in (environment, other)
    )


_LOCAL = frozenset({"development", "dev", "local", "preview", "test"})


def _selected_last(worker: Worker) -> list[Environment]:
    """In order of the file; with `--env` the one that is looked at comes last, so that the finding stands there."""
    return sorted(worker.every_environment, key=lambda each: worker.selected is not None and each.name == worker.selected)


RULE = Rule(
    "CFQ402",
    "queue-consumed-by-two-environments",
    Severity.ERROR,
    limits.PAGE_ENVIRONMENTS,
    limits.READ_DOSSIER,
    limits=("active_consumers_per_queue",),
    visit=WORKER,
    signs=(signs.SHARED_QUEUE,),
    check=check,
)
