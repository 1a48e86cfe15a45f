"""Two bindings of one Worker have the same name.

## What it does
Reports a queue's binding whose name another queue, another kind of binding or a variable of the same environment has as well,
or which is `ASSETS` in a Pages project.

## Why it matters
wrangler refuses the file: `env.NAME` can be one thing only.

## Bad
```jsonc
{
  "kv_namespaces": [{ "binding": "DATA", "id": "0123456789abcdef0123456789abcdef" }],
  "queues": { "producers": [{ "binding": "DATA", "queue": "data" }] }
}
```

## Good
```jsonc
{
  "kv_namespaces": [{ "binding": "DATA", "id": "0123456789abcdef0123456789abcdef" }],
  "queues": { "producers": [{ "binding": "DATA_QUEUE", "queue": "data" }] }
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._bindings import other_bindings
from cfq_lint.rules.rule import ENVIRONMENT, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment
    from cfq_lint.source.text import Place


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a producer, at the name; points at the other binding."""
    taken: dict[str, tuple[str, Place | None]] = {}
    if environment.is_pages:
        taken["ASSETS"] = ("the assets of every Pages project", None)
    for name, kind, other in other_bindings(environment):
        taken.setdefault(name, (kind, other))
    for producer in environment.producers:
        binding = producer.binding
        if binding is None or binding.text is None:
            continue
        if binding.text not in taken:
            taken[binding.text] = ("another queue", binding.place)
            continue
        kind, place = taken[binding.text]
        message = f"the binding {binding.text!r} is also the name of {kind}; each name in `env` can be one thing only"
        related = (Related(place, f"also named {binding.text!r}"),) if place is not None else ()
        yield RULE.finding(binding.place, message, environment=environment.name, related=related)


RULE = Rule(
    "CFQ117",
    "binding-name-conflict",
    Severity.ERROR,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    visit=ENVIRONMENT,
    signs=(signs.REPEATED_BINDING,),
    check=check,
)
