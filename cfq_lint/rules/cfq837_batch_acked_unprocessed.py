"""A missing binding or setting ends the handler as if all were done.

## What it does
Reports a condition on a binding or variable of `env` that is not there, behind which the handler returns without doing
anything for the messages and without giving them back. Switches such as `ENABLED` are passed over.

## Why it matters
The handler returns normally, so the batch is acknowledged. A secret that is missing after a deploy empties the queue, batch
by batch. Where it throws, the messages wait.

## Bad
```ts
export default {
  async queue(batch, env) {
    if (!env.API_KEY) {
      console.error("no API key");
      return;
    }
    for (const message of batch.messages) {
      await env.KV.put(message.body.id, "done");
      message.ack();
    }
  },
};
```
```py
from workers import WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        if not self.env.API_KEY:
            print("no API key")
            return None
        for message in batch.messages:
            await self.env.KV.put(message.body["id"], "done")
            message.ack()
```

## Good
```ts
export default {
  async queue(batch, env) {
    if (!env.API_KEY) throw new Error("no API key");
    for (const message of batch.messages) {
      await env.KV.put(message.body.id, "done");
      message.ack();
    }
  },
};
```
"""

from __future__ import annotations

import re

from cfq_lint.facts import limits
from cfq_lint.model.finding import Severity
from cfq_lint.rules import signs
from cfq_lint.rules._ways import counts_as_done, every_way, order, per_queue, text_at, token, untouched
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.ways.state import DEFAULT_ARM, MISSING, OF_BODY, OF_READ, TYPE, WIDENED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.following.handling import Handled
    from cfq_lint.worker_code.ways.marks import Mark


_SWITCH = re.compile(
    r"enable|disable|feature|flag|dry_?run|debug|skip|mode|pause|optional|sandbox|preview|environment|stage", re.IGNORECASE
)


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each condition."""
    places = {mark for consuming in per_queue(code) for mark in _ended(consuming.handled)}
    for mark in sorted(places, key=order):
        asked = text_at(code, mark).partition(")")[0].partition("\n")[0]
        if _SWITCH.search(asked):
            continue
        message = (
            "where this is missing, the handler ends as if all were done, and the messages are acknowledged unprocessed;"
            " throw, and they wait"
        )
        place = token(code, mark) if not asked.startswith("!") else code.place(mark, length=len(asked.rstrip(" {:")))
        yield RULE.finding(place, message)


def _ended(handled: Handled) -> Iterator[Mark]:
    if not any(state.done for state in handled.ended):
        return
    for state in every_way(handled):
        if state in handled.ended and counts_as_done(state) and untouched(state) and not state.guessed:
            others = any(state.tells(guard) for guard in (OF_BODY, OF_READ, TYPE, DEFAULT_ARM, WIDENED))
            if not others:
                yield from (mark for guard, mark in state.guards if guard == MISSING)


RULE = Rule(
    "CFQ837",
    "batch-acked-unprocessed",
    Severity.WARNING,
    limits.PAGE_BATCHING,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.MISSING_SETTING,),
    check=check,
)
