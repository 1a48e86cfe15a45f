"""A consumer is configured, and the Worker certainly has no queue handler.

## What it does
Reads the entry file that `main` names, without running it, and reports it where it certainly exports no queue handler: a Python
file without `queue` in its entry class or `on_queue`; with the extra `cfq-lint[code]` also a JavaScript or TypeScript module
whose default export has no `queue`. Where it cannot be sure, as with re-exports, it says nothing.

## Why it matters
The deploy fails with API code 11001 (queue handler is missing).

## Bad
`main = "src/entry.py"` with a class that has only `fetch`.

## Good
`async def queue(self, batch, env, ctx)` in that class.
"""

from __future__ import annotations

import re

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import CODE, WORKER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Worker


_DEFINITION = r"\bdef (?:on_)?queue\b|\bqueue\s*\([^(){}]{0,200}\)\s*(?::[^(){};]{0,200})?\{"
"""A function or method of that name, in either language: where one is defined, nothing is certain, and no parser is needed."""


def check(worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a file, at `main`."""
    entry = worker.document.entry
    main = worker.fields.get("main")
    if entry is None or main is None or re.search(_DEFINITION, entry.text):
        return
    consumers = [each for each in worker.consumers() if each.is_push]
    if not consumers:
        return
    from cfq_lint.worker_code.entry import (
        certainly_lacks_queue_handler,  # only a file with an entry needs a parser of its language
    )

    if certainly_lacks_queue_handler(entry.path, entry.text):
        queue = consumers[0].queue_name
        message = f"{main.shown} exports no queue handler but consumes {queue!r}; the deploy fails with code 11001"
        yield RULE.finding(main.place, message, environment=consumers[0].environment)


RULE = Rule(
    "CFQ801",
    "queue-handler-missing",
    Severity.ERROR,
    limits.PAGE_JAVASCRIPT_APIS,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=WORKER,
    signs=(signs.SOURCE,),
    check=check,
)
