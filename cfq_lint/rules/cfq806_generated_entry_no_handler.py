"""The Worker's entry is written by a framework, and has no queue handler.

## What it does
Reports a consumer whose `main` is an entry that OpenNext or SvelteKit generates. Nitro and Nuxt hand queues on through a
hook, and are passed over.

## Why it matters
Such an entry answers requests only: the deploy fails with API code 11001, or the messages find no handler.

## Bad
```jsonc
{
  "main": ".open-next/worker.js",
  "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] }
}
```

## Good
```jsonc
{
  "main": "src/worker.ts",
  "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] }
}
```
with a `src/worker.ts` that wraps what is generated:
```ts
import site from "../.open-next/worker.js";

export default {
  fetch: site.fetch,
  async queue(batch, env) { … },
};
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.keys import is_generated
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._handlers import defines_queue_handler
from cfq_lint.rules.rule import ENVIRONMENT, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a `main`, at the path. Where what was generated was read and has a handler, somebody added it."""
    main = environment.inherited("main")
    consumers = [] if environment.is_previews else [each for each in environment.consumers if each.is_push]
    if main is None or not consumers or not is_generated(main.text or ""):
        return
    entry = environment.document.entry
    if entry is not None and entry.path == main.text and defines_queue_handler(entry.text):
        return
    message = (
        f"{main.shown} is generated and exports no queue handler, but {consumers[0].queue_name!r} is consumed; name a file of"
        " your own in `main` that exports its `fetch`, and a `queue` beside it"
    )
    yield RULE.finding(main.place, message, environment=environment.name)


RULE = Rule(
    "CFQ806",
    "generated-entry-no-handler",
    Severity.WARNING,
    limits.PAGE_JAVASCRIPT_APIS,
    limits.READ_DOSSIER,
    visit=ENVIRONMENT,
    signs=(signs.NO_CODE,),
    check=check,
)
