"""An environment does not get the queues of the top level.

## What it does
Reports a named environment without `queues` where the top level has some. An explicit empty object says that none are wanted.

## Why it matters
`queues` is not inherited. In that environment the bindings are undefined at run time and nothing is consumed; wrangler prints
one warning among many.

## Bad
```jsonc
{
  "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] },
  "env": { "staging": { "vars": { "STAGE": "staging" } } }
}
```

## Good
```jsonc
{
  "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] },
  "env": { "staging": { "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders-staging" }] } } }
}
```

## Fix
Unsafe: copies the top level's producers and consumers into the environment. Every queue's name gets the environment's behind
it, as wrangler names the environment's Worker: a literal copy would send staging's messages to production, and a queue has one
consumer. Whether those queues exist is yours to see to.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.keys import is_queue_name
from cfq_lint.model.edits import add_last
from cfq_lint.model.finding import Finding, Fix, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import UNSAFE, WORKER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Entry, Environment, Field, Worker

_NAMES = ("queue", "dead_letter_queue")


def check(worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """At most one finding an environment, at its name."""
    top = worker.top
    if top.queues is None or not top.entries:
        return
    for environment in worker.environments:
        if environment.name is None or environment.field is None or environment.queues is not None:
            continue
        if environment.misnamed_queues:
            continue  # `queues-key-misnamed` speaks of them
        message = (
            f"{environment.label} has no `queues`, and those of the top level are not inherited; repeat them there, or write"
            " an empty `queues` if it needs none"
        )
        related = (Related(top.queues.key_place, "not inherited"),)
        fix = _copy(worker, environment)
        yield RULE.finding(environment.field.key_place, message, environment=environment.name, related=related, fix=fix)


def _copy(worker: Worker, environment: Environment) -> Fix | None:
    """The fix, where all values are simple, every name can take the ending, and none is consumed already."""
    field, name = environment.field, environment.name
    assert field is not None, "the top level inherits nothing"
    assert name is not None, "a named environment has a name"
    fields = [each for entry in worker.top.entries for each in entry.fields.values()]
    names = [f"{each.text}-{name}" for each in fields if each.key in _NAMES]
    consumed = {consumer.queue_name for each in worker.every_environment for consumer in each.consumers}
    if not all(map(_is_simple, fields)) or not all(map(is_queue_name, names)) or not consumed.isdisjoint(names):
        return None
    queues = {
        key: [_renamed(entry, name) for entry in entries]
        for key, entries in (("producers", worker.top.producers), ("consumers", worker.top.consumers))
        if entries
    }
    edits = add_last(worker.document, field.node, "queues", queues, ("env", name, "queues"))
    return Fix(f"copy them, with '-{name}' behind the name of each queue", edits, safe=False)


def _is_simple(field: Field) -> bool:
    """Whether JSON and TOML write the value alike; a name has to be a text."""
    if field.text is not None:
        return field.text.isprintable()
    return field.key not in _NAMES and (field.integer is not None or field.truth is not None or field.is_null)


def _renamed(entry: Entry, environment: str) -> dict[str, object]:
    return {key: f"{field.text}-{environment}" if key in _NAMES else field.node.plain() for key, field in entry.fields.items()}


RULE = Rule(
    "CFQ501",
    "env-queues-not-inherited",
    Severity.WARNING,
    limits.PAGE_ENVIRONMENTS,
    limits.READ_DOSSIER,
    fix=UNSAFE,
    visit=WORKER,
    signs=(signs.BARE_ENVIRONMENT,),
    check=check,
)
