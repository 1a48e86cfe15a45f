"""Two environments dead-letter into the same queue.

## What it does
Reports a dead-letter queue that an environment shares with an earlier one or with the top level. It is silent where they share
the source queue as well, which is `queue-consumed-by-two-environments`.

## Why it matters
Staging's failures land among production's, and only one of the two Workers can consume them.

## Bad
```jsonc
{
  "env": {
    "staging": { "queues": { "consumers": [{ "queue": "mail-staging", "dead_letter_queue": "mail-dlq" }] } },
    "production": { "queues": { "consumers": [{ "queue": "mail", "dead_letter_queue": "mail-dlq" }] } }
  }
}
```

## Good
```jsonc
{
  "env": {
    "staging": { "queues": { "consumers": [{ "queue": "mail-staging", "dead_letter_queue": "mail-staging-dlq" }] } },
    "production": { "queues": { "consumers": [{ "queue": "mail", "dead_letter_queue": "mail-dlq" }] } }
  }
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import WORKER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment, Field, Worker


def check(worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a dead-letter queue and environment, at its name."""
    looked_at = {environment.label for environment in worker.environments}
    earlier: dict[str, tuple[Environment, Field, set[str]]] = {}
    for environment in worker.every_environment:
        for name, (field, sources) in _dead_letters(environment).items():
            other, first, others = earlier.setdefault(name, (environment, field, sources))
            if environment.is_worker_of(other) or sources & others or environment.label not in looked_at:
                continue
            message = (
                f"{environment.described} dead-letters into {name!r} as {other.described} does; give each environment its own"
            )
            related = (Related(first.place, f"{other.described} dead-letters into it"),)
            yield RULE.finding(field.place, message, environment=environment.name, related=related)


def _dead_letters(environment: Environment) -> dict[str, tuple[Field, set[str]]]:
    """By dead-letter queue: where the environment first names it, and the queues that dead-letter into it."""
    found: dict[str, tuple[Field, set[str]]] = {}
    for consumer in environment.consumers:
        dead = consumer.dead_letter_queue
        if dead is not None:
            found.setdefault(dead.text or "", (dead, set()))[1].add(consumer.queue_name)
    return found


RULE = Rule(
    "CFQ506",
    "env-shares-dlq",
    Severity.WARNING,
    limits.PAGE_ENVIRONMENTS,
    limits.READ_DOSSIER,
    visit=WORKER,
    signs=(signs.SHARED_DEAD_LETTERS,),
    check=check,
)
