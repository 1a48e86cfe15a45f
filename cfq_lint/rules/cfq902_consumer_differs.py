"""The account's consumer differs from the file, and the deploy overwrites it.

## What it does
Compares the consumer that this Worker has in the account with the one in the file, and reports each setting that differs: batch
size and timeout, retries and their delay, concurrency, and the dead-letter queue.

## Why it matters
Who writes last wins: what somebody set in the dashboard or with `wrangler queues consumer add` is gone after the deploy. What
the file leaves out, wrangler does not send, and Cloudflare does not say whether it then keeps the value or takes its default;
only for `max_concurrency` it says that the cap goes. Local development takes the default in any case.

## Bad
In the account:
```json account
{ "queues": {
  "orders": { "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq", "settings": { "max_retries": 10 } }] },
  "orders-dlq": { "consumers": [{ "script_name": "shop" }] }
} }
```
In the file:
```jsonc
{
  "name": "shop",
  "queues": {
    "consumers": [{ "queue": "orders", "max_retries": 3, "dead_letter_queue": "orders-dlq" }, { "queue": "orders-dlq" }]
  }
}
```

## Good
In the account:
```json account
{ "queues": {
  "orders": { "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq", "settings": { "max_retries": 10 } }] },
  "orders-dlq": { "consumers": [{ "script_name": "shop" }] }
} }
```
In the file:
```jsonc
{
  "name": "shop",
  "queues": {
    "consumers": [{ "queue": "orders", "max_retries": 10, "dead_letter_queue": "orders-dlq" }, { "queue": "orders-dlq" }]
  }
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.keys import CONSUMER_KEYS
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENVIRONMENT, LIVE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import ConsumerFacts, Facts
    from cfq_lint.model.wrangler import Consumer, Environment

_SETTINGS = (
    ("max_batch_size", "batch_size", 1),
    ("max_batch_timeout", "max_wait_time_ms", 1000),
    ("max_retries", "max_retries", 1),
    ("max_concurrency", "max_concurrency", 1),
    ("retry_delay", "retry_delay", 1),
)
"""A setting's name in the file and in Cloudflare's API, and by what the file's number is multiplied to be the API's.

What the API leaves out of a consumer's settings, or shows as null, has its default.
"""
_UNSET = "unset (automatic)"


def check(environment: Environment, facts: Facts) -> Iterator[Finding]:
    """One finding a setting, at its value, or at the queue's name where the file leaves it out."""
    if not facts.is_account or environment.document.shadowed_by is not None or environment.is_previews:
        return
    names = [consumer.queue_name for consumer in environment.consumers]
    for consumer in environment.consumers:
        known = facts.attached(consumer.queue_name, consumer.script)
        if known is not None and consumer.is_push and names.count(consumer.queue_name) == 1:
            yield from _settings(consumer, known)
            yield from _dead_letters(consumer, known, facts)


def _settings(consumer: Consumer, known: ConsumerFacts) -> Iterator[Finding]:
    for name, in_api, factor in _SETTINGS if known.settings else ():
        key, field = CONSUMER_KEYS[name], consumer.field(name)
        there = known.settings.get(in_api)
        if there is None and key.default is not None:
            there = key.default * factor
        if field is None:
            default = key.default * factor if key.default is not None else None
            if there != default and not consumer.means(name):
                yield _left_out(consumer, name, _shown(there, factor), _shown(default, factor))
        elif field.integer is not None and key.holds(field.integer) and field.integer * factor != there:
            message = f"{name} is {_shown(there, factor)} in the account; the deploy overwrites it with {field.integer}"
            yield RULE.finding(field.place, message, environment=consumer.environment)


def _shown(number: int | None, factor: int) -> str:
    """The account's number in the file's unit."""
    return _UNSET if number is None else f"{number / factor:g}"


def _left_out(consumer: Consumer, name: str, there: str, default: str) -> Finding:
    said = f"{name} is {there} in the account and left out here"
    if default == _UNSET:
        message = f"{said}; the deploy removes the cap: write the number here to keep it"
    else:
        message = f"{said}; whether the deploy keeps it or takes the default, {default}, is not documented: write it here"
    assert consumer.queue is not None, "only a consumer that names its queue is in the account"
    return RULE.finding(consumer.queue.place, message, environment=consumer.environment)


def _dead_letters(consumer: Consumer, known: ConsumerFacts, facts: Facts) -> Iterator[Finding]:
    """Silent where the file's dead-letter queue is missing or elsewhere: that is the mistake, and other rules say it."""
    there, dead = known.dead_letter_queue, consumer.dead_letter_queue
    if dead is None:
        if there is not None and not consumer.means("dead_letter_queue") and consumer.queue is not None:
            message = (
                f"dead_letter_queue is {there!r} in the account and left out here; whether the deploy keeps it is not"
                " documented, and without one a message that fails all retries is deleted: write it here"
            )
            yield RULE.finding(consumer.queue.place, message, environment=consumer.environment)
        return
    name = dead.text or ""
    source, target = facts.queues.get(consumer.queue_name), facts.queues.get(name)
    if name == there or source is None or target is None or source.jurisdiction != target.jurisdiction:
        return
    before = f"is {there!r}" if there is not None else "is not set"
    message = f"dead_letter_queue {before} in the account; the deploy overwrites it with {name!r}"
    yield RULE.finding(dead.place, message, environment=consumer.environment)


RULE = Rule(
    "CFQ902",
    "consumer-differs",
    Severity.WARNING,
    limits.PAGE_BATCHING,
    limits.READ_LIMITS,
    needs=LIVE,
    limits=("batch_size_default_push", "batch_timeout_default", "max_retries_default", "delay_min"),
    visit=ENVIRONMENT,
    signs=(signs.ACCOUNT,),
    check=check,
)
