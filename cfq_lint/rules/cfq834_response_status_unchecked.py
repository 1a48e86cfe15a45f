"""Nobody looks at the status of a response before the message counts as done.

## What it does
Reports a request for a message of which neither `ok` nor `status` is looked at, nor what its body says, and after which the
message is acknowledged.

## Why it matters
`fetch()` throws where no response comes, and not where one says 500: an HTTP error counts as success, and the message is
gone.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await fetch(message.body.url, { method: "POST", body: JSON.stringify(message.body) });
        message.ack();
      } catch (error) {
        message.retry({ delaySeconds: 60 });
      }
    }
  },
};
```
```py
from workers import fetch

from workers import WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            try:
                await fetch(message.body["url"], method="POST")
                message.ack()
            except Exception:
                message.retry(delaySeconds=60)
```

## Good
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        const response = await fetch(message.body.url, { method: "POST", body: JSON.stringify(message.body) });
        if (!response.ok) throw new Error(`status ${response.status}`);
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
from cfq_lint.rules._ways import counts_as_done, is_plain, order, per_queue, token
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.following.effects import is_told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code, Consuming
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.ways.marks import Mark


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each request, at its call."""
    found = {mark for consuming in per_queue(code) for mark in _unchecked(consuming)}
    for mark in sorted(found, key=order):
        message = (
            "nobody looks at the status of this response: an HTTP error counts as success, and the message is acknowledged;"
            " throw or give it back unless it is ok"
        )
        yield RULE.finding(token(code, mark), message)


def _unchecked(consuming: Consuming) -> Iterator[Mark]:
    handled = consuming.handled
    good = [state for state in handled.ended if counts_as_done(state) and is_plain(state) and not state.noted]
    counted = {mark for state in good for mark in state.done}
    for called in handled.called:
        if (
            called.name == "fetch"
            and called.is_awaited
            and not called.is_checked
            and called.mark in counted
            and not is_told(called)
        ):
            yield called.mark


RULE = Rule(
    "CFQ834",
    "response-status-unchecked",
    Severity.WARNING,
    limits.PAGE_BATCHING,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.UNCHECKED_RESPONSE,),
    check=check,
)
