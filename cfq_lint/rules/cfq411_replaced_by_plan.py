"""A Terraform plan deletes a consumer or a queue and makes it again.

## What it does
Reports a `cloudflare_queue_consumer` or a `cloudflare_queue` whose change in the plan is both a deletion and a creation.

## Why it matters
Between the two the queue has no consumer, and its messages wait; if the second step fails, they wait until they expire. A
replaced queue is worse: it is deleted with all messages in it. Provider 5 replaces a consumer where `account_id` or `queue_id`
changes, so a replaced queue replaces its consumer, and several of its releases plan the replacement at every run.

## Bad
```jsonc
{
  "format_version": "1.2",
  "planned_values": { "root_module": { "resources": [{
    "address": "cloudflare_queue_consumer.jobs", "type": "cloudflare_queue_consumer", "name": "jobs",
    "values": { "queue_name": "jobs", "script_name": "worker", "type": "worker", "dead_letter_queue": "jobs-dlq" }
  }] } },
  "resource_changes": [{ "address": "cloudflare_queue_consumer.jobs", "change": { "actions": ["delete", "create"] } }]
}
```

## Good
```jsonc
{
  "format_version": "1.2",
  "planned_values": { "root_module": { "resources": [{
    "address": "cloudflare_queue_consumer.jobs", "type": "cloudflare_queue_consumer", "name": "jobs",
    "values": { "queue_name": "jobs", "script_name": "worker", "type": "worker", "dead_letter_queue": "jobs-dlq" }
  }] } },
  "resource_changes": [{ "address": "cloudflare_queue_consumer.jobs", "change": { "actions": ["update"] } }]
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import WORKER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Worker

_SAID = {
    "cloudflare_queue": "the plan replaces this queue: the messages in it are deleted with it",
    "cloudflare_queue_consumer": "the plan replaces this consumer: until it is made again nobody consumes the queue",
}


def check(worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """One finding a resource, at its address."""
    dialect = worker.document.dialect
    for start, end, kind in dialect.replaced if dialect is not None else ():
        yield RULE.finding(worker.document.place(start, end), _SAID[kind])


RULE = Rule(
    "CFQ411",
    "replaced-by-plan",
    Severity.WARNING,
    limits.PAGE_CONFIGURE,
    limits.READ_DOSSIER,
    visit=WORKER,
    signs=(signs.PLAN,),
    check=check,
)
