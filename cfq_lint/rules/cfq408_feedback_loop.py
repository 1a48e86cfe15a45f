"""A queue handler sends to the queue that it consumes.

## What it does
Reports a handler that sends to the queue whose message it handles, where the Worker's entry shows it. A Worker that only
fills and works off one queue, the one in `fetch` and the other in `queue`, is none of that.

## Why it matters
Each message can make more of them without end. Such code needs a counter, a page or a date in the message that ends it.

## Bad
A consumer of `pages` whose producer of `pages` is bound as `PAGES`:
```js
export default {
  async queue(batch, env) {
    for (const message of batch.messages) await env.PAGES.send({ page: message.body.page + 1 });
  },
};
```

## Good
```js
export default {
  async queue(batch, env) {
    for (const { body } of batch.messages) if (body.page < body.pages) await env.PAGES.send({ ...body, page: body.page + 1 });
  },
};
```
Such a loop ends; accept the finding with an ignore.
"""

from __future__ import annotations

import re

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import CODE, ENVIRONMENT, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Environment, Producer


def check(environment: Environment, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a queue and environment, at the first producer's queue."""
    entry, main = environment.document.entry, environment.inherited("main")
    consumed = {consumer.queue_name: consumer.queue for consumer in environment.consumers if consumer.queue is not None}
    files = environment.document.files
    if entry is None or files is None or main is None or main.text != entry.path:
        return
    for producer in environment.producers:
        consumer = consumed.get(producer.queue_name)
        if producer.queue is None or consumer is None or not _mentions(producer, entry.text):
            continue
        from cfq_lint.model.consuming import handled_once  # only where a sign of it stands in the source
        from cfq_lint.model.sources import program_of
        from cfq_lint.worker_code.ways.sends import sent_by

        program = program_of(environment, files)
        binding = producer.binding.text if producer.binding is not None else None
        called = handled_once(program, producer.queue_name).called
        mark = next(sent_by(called, binding or "", program), None)
        if mark is not None:
            spot = mark.module.spot(mark.node)
            del consumed[producer.queue_name]
            message = (
                f"the queue handler sends to {producer.queue_name!r} while it consumes it ({spot}); make sure that no message"
                " begets itself"
            )
            related = (Related(consumer.place, "consumed here"),)
            yield RULE.finding(producer.queue.place, message, environment=environment.name, related=related)


def _mentions(producer: Producer, text: str) -> bool:
    """Whether a source sends to the binding anywhere: a quick look, before a parser is loaded."""
    name = producer.binding.text if producer.binding is not None else None
    return (
        bool(name) and re.search(rf"\b{re.escape(name or '')}\b[\s!?)]*\.\s*(?:send|sendBatch|send_batch)\b", text) is not None
    )


RULE = Rule(
    "CFQ408",
    "feedback-loop",
    Severity.INFO,
    limits.PAGE_HOW,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=ENVIRONMENT,
    signs=(signs.LOOP,),
    check=check,
)
