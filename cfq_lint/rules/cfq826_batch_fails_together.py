"""A failure for one message brings back the whole batch.

## What it does
Reports work that is done for each message of a batch, may throw, and is caught by nobody, where no message is acknowledged on
its own. Not where a batch holds one message, nor where one write does the work of all.

## Why it matters
Where the handler throws, every message is delivered again that was not acknowledged before: what was done for nine messages
is done again for the sake of the tenth, and one message that always fails takes all the others to the dead-letter queue.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      const response = await fetch(message.body.url);
      if (!response.ok) throw new Error(`status ${response.status}`);
    }
  },
};
```
```py
from workers import WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            await self.env.KV.put(message.body["id"], "done")
```

## Good
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await env.KV.put(message.body.id, "done");
        message.ack();
      } catch (error) {
        message.retry({ delaySeconds: 60 });
      }
    }
  },
};
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Severity
from cfq_lint.rules import signs
from cfq_lint.rules._ways import calls, is_plain, nearest, order, per_queue, token
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.ways.state import ACK, ACK_ALL, INVALID, PERHAPS, RETRY, WORK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code, Consuming
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.ways.marks import Mark


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """At most one finding a handler, at the first place that may throw."""
    places = [mark for consuming in per_queue(code) if consuming.batch_size > 1 for mark in _thrown(consuming)]
    for mark in sorted(set(places), key=order)[:1]:
        message = (
            "where this fails, the whole batch comes back, with what was done already; catch it, and settle each message on"
            " its own with ack() and retry()"
        )
        yield RULE.finding(token(code, mark), message)


def _thrown(consuming: Consuming) -> Iterator[Mark]:
    handled = consuming.handled
    if any(settled.how == ACK or (settled.how == RETRY and settled.loops) for settled in handled.settled):
        return
    if not any(state.done and state.settled in {"", ACK_ALL} for state in handled.ended):
        return
    known = calls(handled)
    for state in handled.raised:
        if state.error is None or state.settled or not is_plain(state):
            continue
        kind, mark = state.error
        if state.failed is not None and mark.is_call:
            continue
        called = known.get(mark)
        if mark not in handled.in_loop or (called is None and kind == INVALID):
            continue
        if called is None or called.effect == WORK or (called.effect == PERHAPS and called.related):
            yield nearest(called, called.loops[0]) if called is not None and called.loops else mark


RULE = Rule(
    "CFQ826",
    "batch-fails-together",
    Severity.WARNING,
    limits.PAGE_BATCHING,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.THROWN,),
    check=check,
)
