"""A message expires in the account before its retries, or its delay, have passed.

## What it does
Compares the retention in the account with the queue's delivery delay and, for each consumer, with that delay plus `max_retries`
times `retry_delay`. It takes the place of `retries-exceed-retention` and `delay-exceeds-retention`, which go by what is
declared.

## Why it matters
The message expires before its last retry and never reaches the dead-letter queue: it is simply gone. Where a single delay is as
long as the retention, no retry ever comes, or nothing is ever delivered, and it is an error.

## Bad
In the account:
```json account
{ "queues": { "orders": { "message_retention_period": 3600 }, "orders-dlq": {} } }
```
In the file:
```jsonc
{ "queues": { "consumers": [
  { "queue": "orders", "max_retries": 5, "retry_delay": 900, "dead_letter_queue": "orders-dlq" },
  { "queue": "orders-dlq" }
] } }
```

## Good
In the account:
```json account
{ "queues": { "orders": { "message_retention_period": 86400 }, "orders-dlq": {} } }
```
In the file:
```jsonc
{ "queues": { "consumers": [
  { "queue": "orders", "max_retries": 5, "retry_delay": 900, "dead_letter_queue": "orders-dlq" },
  { "queue": "orders-dlq" }
] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.durations import duration, exactly
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._account import Account, longer_retention
from cfq_lint.rules.rule import LIVE, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology
    from cfq_lint.rules._account import Attachment


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue whose own delay is too long, else one a consumer, at its delay."""
    account = Account(topology, facts)
    if not facts.is_account:
        return
    undelivered: set[str] = set()
    for queue, known in account.queues.items():
        retention, why = facts.retention_seconds(queue)
        delay = known.delivery_delay or 0
        if delay and delay >= retention:
            undelivered.add(queue)
            spot = account.spot(queue)
            remedy = longer_retention(facts, queue)
            message = (
                f"the delivery delay of {queue!r}, {exactly(delay)}, is not below its retention, {exactly(retention)}, {why}:"
                f" nothing is ever delivered; lower it, {remedy}"
            )
            severity = spot.severity or Severity.ERROR
            yield RULE.finding(spot.place, message, environment=spot.environment, severity=severity)
    for each in account.attachments():
        if each.queue not in undelivered:
            yield from _judge(each, account)


def _judge(each: Attachment, account: Account) -> Iterator[Finding]:
    retries, delay, severity = each.retries, each.retry_delay, each.spot.severity
    if not retries or not delay:
        return
    retention, why = account.facts.retention_seconds(each.queue)
    known = account.queues.get(each.queue)
    first = (known.delivery_delay or 0) if known is not None else 0
    needed = first + retries * delay
    remedy = longer_retention(account.facts, each.queue)
    whose = f"{each.owner} of {each.queue!r} in the account: " if each.owner else ""
    if delay >= retention:
        severity = severity or Severity.ERROR
        message = (
            f"{whose}the retry delay, {exactly(delay)}, is not below the retention of {each.queue!r}, {exactly(retention)},"
            f" {why}: no retry ever comes; lower it, {remedy}"
        )
    elif needed > retention:
        before = f" after a delivery delay of {exactly(first)}" if first else ""
        message = (
            f"{whose}{retries} retries {duration(delay)} apart{before} take {exactly(needed)}, longer than the retention of"
            f" {each.queue!r}, {exactly(retention)}, {why}: the message expires first and never reaches a dead-letter queue;"
            f" lower it, {remedy}"
        )
    else:
        return
    yield RULE.finding(each.spot.place, message, environment=each.spot.environment, severity=severity)


RULE = Rule(
    "CFQ910",
    "retention-too-short",
    Severity.WARNING,
    limits.PAGE_LIMITS,
    limits.READ_LIMITS,
    needs=LIVE,
    limits=("retention_default", "retention_free", "retention_max"),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
