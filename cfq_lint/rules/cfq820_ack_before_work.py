"""A message is acknowledged before its work is done.

## What it does
Follows each message through the handler and reports an acknowledgement after which the message's side effect still comes: a
write, a request, or one write after the loop for all that was collected in it. Notes beside the work, such as logs and
metrics, may come after. So may what follows work that is done already.

## Why it matters
`ack()` counts even where the handler throws later. If the work fails then, nothing brings the message back: it is lost,
and no dead-letter queue gets it. The documentation has `ack()` once a message is processed.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      message.ack();
      await env.DB.prepare("INSERT INTO orders (id) VALUES (?)").bind(message.body.id).run();
    }
  },
};
```
```py
from workers import WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        rows = []
        for message in batch.messages:
            rows.append(self.env.DB.prepare("INSERT INTO orders VALUES (?)").bind(message.body["id"]))
            message.ack()
        await self.env.DB.batch(rows)
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
from cfq_lint.rules._ways import calls, every_way, is_acked, is_plain, line_of, once, per_queue, related, settling
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.following.effects import is_aside
from cfq_lint.worker_code.ways.state import ACK, OF_BODY, OF_READ, PERHAPS, WIDENED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code, Consuming
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.ways.marks import Mark
    from cfq_lint.worker_code.ways.values import Called


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each acknowledgement, at the name of its method."""
    for mark, work in once(found for consuming in per_queue(code) for found in _early(consuming)):
        message = (
            f"the message is acknowledged here, and its work comes after it ({line_of(work, mark)}): where that fails, it"
            " is lost; acknowledge it when the work is done"
        )
        yield RULE.finding(settling(code, mark), message, related=(related(code, work, "the work"),))


def _early(consuming: Consuming) -> Iterator[tuple[Mark, Mark]]:
    handled = consuming.handled
    known = calls(handled)
    is_done_elsewhere = any(state.done for state in handled.ended)
    for state in every_way(handled):
        work = state.after
        if work is None or state.settled_at is None or not is_acked(state) or not is_plain(state):
            continue
        if (
            state.done
            or state.failed
            or state.noted
            or state.knows(OF_READ)
            or state.knows(WIDENED)
            or (state.tells(OF_BODY) and is_done_elsewhere)
        ):
            continue
        called = known.get(work)
        if called is None or is_aside(called) or (called.effect == PERHAPS and not _takes_the_body(called)):
            continue
        if state.settled == ACK or called.loops or called.related:
            yield state.settled_at, work


def _takes_the_body(called: Called) -> bool:
    return any(
        each.is_body or each.whole or each.kind in {"message", "batch"} for each in called.given
    ) or called.name.startswith("run")


RULE = Rule(
    "CFQ820",
    "ack-before-work",
    Severity.WARNING,
    limits.PAGE_BATCHING,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.WORK_AFTER_ACK,),
    check=check,
)
