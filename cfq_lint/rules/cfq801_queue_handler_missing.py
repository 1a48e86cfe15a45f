"""A consumer is configured, and the Worker certainly has no queue handler.

## What it does
Reads the entry file that `main` names, without running it, and reports it where it certainly exports no queue handler: a
Python file without `queue` in its entry class or `on_queue`, a JavaScript or TypeScript module whose default export has no
`queue`. Where it cannot be sure, as with re-exports, it says nothing, nor of a configuration for a test or for local work.
A consumer beside assets and without any `main` has no handler either.

## Why it matters
The deploy fails with API code 11001 (queue handler is missing).

## Bad
`main = "src/entry.py"` with a class that has only `fetch`.

## Good
`async def queue(self, batch, env, ctx)` in that class.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.keys import is_generated
from cfq_lint.model.finding import Finding, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._handlers import defines_queue_handler
from cfq_lint.rules.rule import CODE, WORKER, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment, Worker


def check(worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a file: at `main`, or at the consumers where there are assets and no code at all."""
    if worker.document.apart is not None:
        return  # what is for a test or for local work may well leave the handler out
    consuming = [each for each in worker.environments if not each.is_previews and any(c.is_push for c in each.consumers)]
    for environment in consuming:
        listed = environment.list_field("consumers")
        if environment.inherited("main") is None and _has_assets(environment) and listed is not None:
            queue = next((repr(each.queue_name) for each in environment.consumers if each.queue_name), "a queue")
            message = (
                f"{environment.described} consumes {queue}, but has assets and no code: without"
                " `main` there is no queue handler, and the deploy fails with code 11001"
            )
            yield RULE.finding(listed.key_place, message, environment=environment.name)
            return
    entry, main = worker.document.entry, worker.fields.get("main")
    if not consuming or entry is None or main is None or is_generated(entry.path) or defines_queue_handler(entry.text):
        return
    from cfq_lint.worker_code.modules.entry import (
        certainly_lacks_queue_handler,  # only a file with an entry needs a parser of its language
    )

    if certainly_lacks_queue_handler(entry.path, entry.text):
        queue = next((repr(each.queue_name) for each in consuming[0].consumers if each.queue_name), "a queue")
        message = f"{main.shown} exports no queue handler but consumes {queue}; the deploy fails with code 11001"
        yield RULE.finding(main.place, message, environment=consuming[0].name)


def _has_assets(environment: Environment) -> bool:
    assets = environment.inherited("assets")
    return assets is not None and "directory" in assets.fields and not environment.is_pages


RULE = Rule(
    "CFQ801",
    "queue-handler-missing",
    Severity.ERROR,
    limits.PAGE_JAVASCRIPT_APIS,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=WORKER,
    signs=(signs.SOURCE, signs.NO_CODE),
    check=check,
)
