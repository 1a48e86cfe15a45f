"""Messages wait longer than the settings of their consumer explain.

## What it does
Reports a queue that a Worker consumes and of which in an hour the deliveries came later on average than if each had been the
last retry: `delivery_delay`, and `max_batch_timeout` and `retry_delay` for every retry. Delays in the code are not known.

## Why it matters
Then messages wait because the consumer does not keep up, or does not run.

## Bad
In the account:
```json account
{ "queues": {
  "orders": { "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq" }] },
  "orders-dlq": { "consumers": [{ "type": "http_pull" }] } },
"measured": { "start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z",
  "queues": { "orders": { "id": "1", "hours": [
    { "hour": 13, "delivered": 10, "lag_ms": 7200000 }
  ] } } } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```

## Good
In the account:
```json account
{ "queues": {
  "orders": { "consumers": [{ "script_name": "shop", "dead_letter_queue": "orders-dlq" }] },
  "orders-dlq": { "consumers": [{ "type": "http_pull" }] } },
"measured": { "start": "2026-01-04T00:00:00Z", "end": "2026-01-05T00:00:00Z",
  "queues": { "orders": { "id": "1", "hours": [
    { "hour": 13, "delivered": 10, "lag_ms": 5000 }
  ] } } } }
```
In the file:
```jsonc
{ "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] } }
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.durations import about
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.model.kept_promises import late_hours, promised_seconds, pushed
from cfq_lint.model.measured import lag_seconds
from cfq_lint.rules import signs
from cfq_lint.rules._measured import seen
from cfq_lint.rules.rule import LIVE, RUN, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import Topology


def check(topology: Topology, facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue, where the run first names it."""
    for each in seen(topology, facts):
        consumer, lag, late = pushed(each.facts), each.hours.highest("lag_ms"), late_hours(each.hours, each.facts)
        if consumer is None or lag is None or not late:
            continue
        promised = promised_seconds(each.facts, consumer)
        message = (
            f"messages of {each.name!r} wait longer than its consumer's settings explain ({about(round(lag_seconds(lag[0])))}"
            f" on average in the hour from {each.measured.at(lag[1])}, at most {about(round(promised))} with all retries;"
            f" {len(late)} hours of {each.measured.window}); see why it does not keep up"
        )
        yield each.finding(RULE, message)


RULE = Rule(
    "CFQ919",
    "lag-above-settings",
    Severity.WARNING,
    limits.PAGE_METRICS,
    limits.READ_PAGES,
    needs=LIVE,
    limits=(
        "max_retries_default",
        "batch_timeout_default",
    ),
    visit=RUN,
    signs=(signs.ACCOUNT,),
    check=check,
)
