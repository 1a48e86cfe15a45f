"""`max_concurrency` is not an integer from 1 to 250.

## What it does
Reports a concurrency that Cloudflare refuses. 0 does not pause the queue: `wrangler queues pause-delivery` does.

## Why it matters
wrangler checks only that it is a number, so the deploy fails at the API with code 100127. Cloudflare advises to leave the key
out: the queue then scales by itself up to 250 invocations.

## Bad
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_concurrency": 0, "dead_letter_queue": "orders-dlq" }] } }
```

## Good
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "max_concurrency": 20, "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.keys import CONSUMER_KEYS
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules._ranges import out_of_range
from cfq_lint.rules.rule import CONSUMER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Consumer

_HINT = "To pause a queue run `wrangler queues pause-delivery {queue}`; to scale by itself leave the key out"


def check(consumer: Consumer, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a consumer, at the number."""
    return out_of_range(RULE, consumer, CONSUMER_KEYS["max_concurrency"], _HINT)


RULE = Rule(
    "CFQ204",
    "max-concurrency-range",
    Severity.ERROR,
    limits.PAGE_CONCURRENCY,
    limits.READ_LIMITS,
    limits=("concurrency_min", "concurrency_max"),
    visit=CONSUMER,
    signs=("max_concurrency",),
    check=check,
)
