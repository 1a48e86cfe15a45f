"""A single delay is as long as a message is kept.

## What it does
Reports a `retry_delay` that is at least the retention of its queue (24 hours on the Free plan, else what is declared, else four
days), and a declared delivery delay that is at least the declared retention.

## Why it matters
The message expires before it is ready. With such a retry delay it is delivered once and never again; with such a delivery
delay, never.

## Bad
```jsonc plan=free
{ "queues": { "consumers": [{ "queue": "orders", "retry_delay": 86400, "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc plan=free
{ "queues": { "consumers": [{ "queue": "orders", "retry_delay": 3600, "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.durations import exactly
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import FACTS, WORKER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Worker


def check(worker: Worker, facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer's delay, at the number; and one a queue's delay, where the file first names the queue."""
    named = set()
    for entry in worker.entries():
        queue = entry.queue
        if queue is None:
            continue
        retention, why = facts.retention_seconds(entry.queue_name)
        delay = entry.field("retry_delay")
        retries = entry.field("max_retries")
        seconds = delay.integer if delay is not None else None
        is_used = retries is None or retries.integer != 0
        if delay is not None and seconds is not None and is_used and retention <= seconds <= limits.DELAY_SECONDS_MAX:
            message = (
                f"the retry delay, {exactly(seconds)}, is not below the retention, {exactly(retention)}, {why}; no retry ever"
                " comes"
            )
            yield RULE.finding(delay.place, message, environment=entry.environment)
        known = facts.queues.get(entry.queue_name)
        declared = known.delivery_delay if known is not None else None
        if declared is not None and declared >= retention and entry.queue_name not in named:
            named.add(entry.queue_name)
            message = (
                f"the delivery delay of {entry.queue_name!r}, {exactly(declared)}, {facts.origin}, is not below its retention,"
                f" {exactly(retention)}, {why}; nothing is ever delivered"
            )
            yield RULE.finding(queue.place, message, environment=entry.environment)


RULE = Rule(
    "CFQ308",
    "delay-exceeds-retention",
    Severity.ERROR,
    limits.PAGE_LIMITS,
    limits.READ_LIMITS,
    needs=FACTS,
    limits=("delay_max", "retention_free", "retention_default"),
    visit=WORKER,
    signs=(
        signs.RETRY_DELAY,
        signs.FACTS,
    ),
    check=check,
    superseded_by="retention-too-short",
)
