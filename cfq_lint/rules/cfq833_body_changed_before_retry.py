"""The body is changed before the message is given back.

## What it does
Reports a field of the body that is counted up, or set once the work has failed, before `retry()`.

## Why it matters
`retry()` delivers again what was sent, not what the handler made of it. A count of attempts in the body stays what it was,
and a limit on it is never reached; `message.attempts` counts.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await env.KV.put(message.body.id, "done");
        message.ack();
      } catch (error) {
        message.body.attempt = (message.body.attempt ?? 0) + 1;
        message.retry({ delaySeconds: 60 });
      }
    }
  },
};
```
```py
from workers import WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            try:
                await self.env.KV.put(message.body["id"], "done")
                message.ack()
            except Exception:
                message.body["attempt"] += 1
                message.retry(delaySeconds=60)
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
from cfq_lint.model.finding import Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._ways import order, per_queue, settling, token
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.ways.state import RETRIES, in_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.ways.marks import Mark


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each change, at what is changed."""
    found: dict[Mark, Mark] = {}
    for consuming in per_queue(code):
        for settled in consuming.handled.settled:
            for state in in_order(settled.states) if settled.how in RETRIES else ():
                if state.changed is not None and not state.settled:
                    found.setdefault(state.changed, settled.mark)
    for mark in sorted(found, key=order):
        message = (
            "retry() delivers what was sent, so this change is lost: take message.attempts for a count, or send a new message"
            " and acknowledge this one"
        )
        yield RULE.finding(token(code, mark), message, related=(Related(settling(code, found[mark]), "given back here"),))


RULE = Rule(
    "CFQ833",
    "body-changed-before-retry",
    Severity.WARNING,
    limits.PAGE_BATCHING,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.CHANGED_BODY,),
    check=check,
)
