"""A consumer's concurrency is capped.

## What it does
Reports a `max_concurrency`. Off by default.

## Why it matters
Cloudflare advises to leave it unset, so that the consumer scales with its backlog. A cap protects an upstream with a limit of
its own, and then belongs in a comment.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_concurrency": 5, "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import CONSUMER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Consumer


def check(consumer: Consumer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the key."""
    field = consumer.field("max_concurrency")
    if field is not None and field.integer is not None:
        message = f"max_concurrency {field.integer} keeps the consumer from scaling; leave it out unless an upstream needs it"
        yield RULE.finding(field.key_place, message, environment=consumer.environment)


RULE = Rule(
    "CFQ703",
    "max-concurrency-pinned",
    Severity.INFO,
    limits.PAGE_CONCURRENCY,
    limits.READ_LIMITS,
    default=False,
    limits=("concurrency_max",),
    visit=CONSUMER,
    signs=(signs.CONCURRENCY,),
    check=check,
)
