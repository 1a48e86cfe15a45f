"""A consumer in the file is not a Worker's.

## What it does
Reports a `type` other than "worker", such as `http_pull`.

## Why it matters
wrangler 4.78 and later refuse the file. Older ones attached a pull consumer at deploy, so that the Worker's own handler never
ran in production. Taking the entry out of the file does not switch pulling off: the queue keeps its pull consumer until that is
removed with a command.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "ingest", "type": "http_pull", "dead_letter_queue": "ingest-dlq" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "ingest", "dead_letter_queue": "ingest-dlq" }] } }
```
for a Worker, or no entry and `wrangler queues consumer http add ingest --dead-letter-queue ingest-dlq` for pulling.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import LISTED_CONSUMER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Consumer


def check(consumer: Consumer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the type."""
    field = consumer.field("type")
    if field is not None and field.text != "worker":
        message = f'the type {field.shown} is refused; only "worker" consumers may stand in a file. '
        message += _advice(consumer, field.text or "")
        yield RULE.finding(field.place, message, environment=consumer.environment)


def _advice(consumer: Consumer, kind: str) -> str:
    queue = consumer.queue_name or "QUEUE"
    if kind.startswith("notif"):
        return f"Run `wrangler queues consumer notification add {queue}` instead and remove the entry"
    if kind not in {"http_pull", "http", "pull"}:
        return "Leave the key out"
    options = "".join(f" {option} {value}" for option, value in _options(consumer))
    return (
        f"Run `wrangler queues consumer http add {queue}{options}` instead and remove the entry"
        f"; removing it alone does not switch pulling off, `wrangler queues consumer http remove {queue}` does"
    )


def _options(consumer: Consumer) -> Iterator[tuple[str, int | str]]:
    """The entry's settings as options of the command; visibility is in seconds there."""
    for key, option in (("max_batch_size", "--batch-size"), ("max_retries", "--message-retries")):
        field = consumer.field(key)
        if field is not None and field.integer is not None:
            yield option, field.integer
    if consumer.dead_letter_queue is not None:
        yield "--dead-letter-queue", consumer.dead_letter_queue.text or ""
    visibility = consumer.field("visibility_timeout_ms")
    if visibility is not None and visibility.integer is not None:
        yield "--visibility-timeout-secs", visibility.integer // 1000
    delay = consumer.field("retry_delay")
    if delay is not None and delay.integer is not None:
        yield "--retry-delay-secs", delay.integer


RULE = Rule(
    "CFQ601",
    "consumer-type-not-worker",
    Severity.ERROR,
    limits.PAGE_PULL,
    limits.READ_DOSSIER,
    visit=LISTED_CONSUMER,
    signs=(signs.NOT_PUSH,),
    check=check,
)
