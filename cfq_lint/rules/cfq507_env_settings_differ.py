"""An environment's consumer leaves out a setting of its twin at the top level.

## What it does
Reports settings that the top level's consumer has and the environment's consumer of the same or a similarly named queue leaves
out, so that the default applies. Off by default.

## Why it matters
Nothing of `queues` is inherited: what was tuned at the top level is back at the default there, perhaps on purpose.

## Bad
```jsonc
{
  "queues": { "consumers": [{ "queue": "orders", "max_retries": 5, "dead_letter_queue": "orders-dlq" }] },
  "env": { "staging": { "queues": { "consumers": [
    { "queue": "orders-staging", "dead_letter_queue": "orders-staging-dlq" }
  ] } } }
}
```

## Good
```jsonc
{
  "queues": { "consumers": [{ "queue": "orders", "max_retries": 5, "dead_letter_queue": "orders-dlq" }] },
  "env": {
    "staging": {
      "queues": { "consumers": [{ "queue": "orders-staging", "max_retries": 5, "dead_letter_queue": "orders-staging-dlq" }] }
    }
  }
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.keys import CONSUMER_KEYS, INTEGER
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.model.twins import twins
from cfq_lint.rules import signs
from cfq_lint.rules.rule import ENVIRONMENT, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """One finding a setting and consumer of an environment, at its queue's name."""
    for consumer, twin in twins(environment):
        for key in CONSUMER_KEYS.values():
            field = consumer.field(key.name)
            if field is None or key.type != INTEGER or twin.queue is None or twin.means(key.name):
                continue
            default = "no limit" if key.default is None else str(key.default)
            if field.shown == default:
                continue
            message = f"{key.name} is {field.shown} at the top level; {environment.label} leaves it out, so {default} applies"
            related = (Related(field.place, "at the top level"),)
            yield RULE.finding(twin.queue.place, message, environment=environment.name, related=related)


RULE = Rule(
    "CFQ507",
    "env-settings-differ",
    Severity.INFO,
    limits.PAGE_ENVIRONMENTS,
    limits.READ_DOSSIER,
    default=False,
    visit=ENVIRONMENT,
    signs=(signs.ENVIRONMENTS,),
    check=check,
)
