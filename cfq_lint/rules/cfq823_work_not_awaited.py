"""The handler does not wait for a message's work.

## What it does
Reports work that is started and that nobody waits for: a call on a binding or a request without `await`, an asynchronous
function of the Worker's own, an `async` callback in `forEach()`. Work in `waitUntil()` is reported where the message is
acknowledged beside it, and, with the flag `queue_consumer_no_wait_for_wait_until`, always.

## Why it matters
The batch is acknowledged when the handler returns. What still runs then may be cut off, a request that nobody waits for may
never leave, and a failure of it is nobody's: the message is lost without a trace.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      env.DB.prepare("INSERT INTO orders (id) VALUES (?)").bind(message.body.id).run();
      message.ack();
    }
  },
};
```
```py
from workers import WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            self.env.KV.put(message.body["id"], "done")
            message.ack()
```

## Good
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await env.DB.prepare("INSERT INTO orders (id) VALUES (?)").bind(message.body.id).run();
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
from cfq_lint.rules._ways import counts_as_done, every_way, is_acked, once, per_queue, token
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.following.effects import is_named_aside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code, Consuming
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.ways.marks import Mark


_LOST = "nobody waits for this work: the handler may end before it is done, and its failure goes unseen; await it"
_BESIDE = (
    "waitUntil() does the work, and the message is acknowledged without it: where it fails, the message is lost; await the"
    " work, and acknowledge after it"
)
_FLAGGED = (
    "with the flag queue_consumer_no_wait_for_wait_until nobody waits for this work before the message is acknowledged; await"
    " it"
)


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each piece of work, at its call."""
    for mark, message in once(found for consuming in per_queue(code) for found in _left(consuming)):
        yield RULE.finding(token(code, mark), message)


def _left(consuming: Consuming) -> Iterator[tuple[Mark, str]]:
    for state in every_way(consuming.handled):
        if not counts_as_done(state):
            continue
        if state.lost is not None and not is_named_aside(state.lost):
            yield state.lost, _LOST
        if state.pending is not None and not state.done and not is_named_aside(state.pending):
            if not consuming.waits:
                yield state.pending, _FLAGGED
            elif is_acked(state):
                yield state.pending, _BESIDE


RULE = Rule(
    "CFQ823",
    "work-not-awaited",
    Severity.WARNING,
    limits.PAGE_JAVASCRIPT_APIS,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.UNAWAITED,),
    check=check,
)
