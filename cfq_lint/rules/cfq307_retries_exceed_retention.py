"""The retries take longer than a message is kept.

## What it does
Reports a consumer whose `max_retries` times `retry_delay` is longer than the retention of its queue: 24 hours on the Free plan,
else what is declared, else the default of four days.

## Why it matters
The message expires before its last retry. It never reaches the dead-letter queue: it is simply gone.

## Bad
```jsonc
{ "queues": { "consumers": [
  { "queue": "orders", "max_retries": 100, "retry_delay": 3600, "dead_letter_queue": "orders-dlq" }
] } }
```

## Good
```jsonc
{ "queues": { "consumers": [
  { "queue": "orders", "max_retries": 20, "retry_delay": 3600, "dead_letter_queue": "orders-dlq" }
] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.durations import duration, exactly
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import CONSUMER, FACTS, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Consumer


def check(consumer: Consumer, facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the delay. A single delay as long as the retention is another rule's."""
    delay = consumer.field("retry_delay")
    seconds = delay.integer if delay is not None else None
    retries_field = consumer.field("max_retries")
    retries = retries_field.integer if retries_field is not None else limits.RETRIES_DEFAULT
    if delay is None or seconds is None or retries is None or not _is_valid(retries, seconds):
        return
    retention, why = facts.retention_seconds(consumer.queue_name)
    if seconds < retention < retries * seconds:
        message = (
            f"{retries} retries {duration(seconds)} apart take {exactly(retries * seconds)}, longer than the retention,"
            f" {exactly(retention)}, {why}: the message expires first and never reaches the dead-letter queue"
        )
        yield RULE.finding(delay.key_place, message, environment=consumer.environment)


def _is_valid(retries: int, seconds: int) -> bool:
    return limits.RETRIES_MIN < retries <= limits.RETRIES_MAX and limits.DELAY_SECONDS_MIN < seconds <= limits.DELAY_SECONDS_MAX


RULE = Rule(
    "CFQ307",
    "retries-exceed-retention",
    Severity.WARNING,
    limits.PAGE_LIMITS,
    limits.READ_LIMITS,
    needs=FACTS,
    limits=("retention_default", "retention_free", "retention_max"),
    visit=CONSUMER,
    signs=(signs.RETRY_DELAY,),
    check=check,
    superseded_by="retention-too-short",
)
