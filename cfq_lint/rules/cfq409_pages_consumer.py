"""A Pages project has a queue consumer.

## What it does
Reports `queues.consumers` in a file with `pages_build_output_dir`.

## Why it matters
Pages projects can only send to queues; wrangler refuses the file. The consumer belongs in a Worker of its own.

## Bad
```toml
pages_build_output_dir = "dist"

[[queues.consumers]]
queue = "orders"
dead_letter_queue = "orders-dlq"
```

## Good
```toml
pages_build_output_dir = "dist"

[[queues.producers]]
binding = "ORDERS"
queue = "orders"
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENVIRONMENT, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """At most one finding an environment, at the key."""
    if not environment.is_pages:
        return
    field = environment.list_field("consumers")
    if field is not None and field.items:
        message = "a Pages project cannot consume queues, only send to them; move the consumer to a Worker"
        yield RULE.finding(field.key_place, message, environment=environment.name)


RULE = Rule(
    "CFQ409",
    "pages-consumer",
    Severity.ERROR,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    visit=ENVIRONMENT,
    signs=(signs.PAGES,),
    check=check,
)
