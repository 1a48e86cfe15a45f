"""A queue that is consumed is in no branch of the handler.

## What it does
Reads the handler's comparisons of `batch.queue`, its cases and its tables of handlers with the name of each queue that the
configuration consumes, and reports a queue for which none holds, where what is left does nothing with the messages and
neither throws nor gives them back.

## Why it matters
The handler returns, and so acknowledges every message of that queue. All are lost, mostly for a letter in a name.

## Bad
```jsonc
{
  "name": "shop", "main": "src/index.ts",
  "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] }
}
```
```ts
export default {
  async queue(batch, env) {
    switch (batch.queue) {
      case "order":
        for (const message of batch.messages) {
          await env.KV.put(message.body.id, "done");
          message.ack();
        }
        break;
      default:
        console.warn("unknown queue", batch.queue);
    }
  },
};
```

## Good
```ts
export default {
  async queue(batch, env) {
    switch (batch.queue) {
      case "orders":
        for (const message of batch.messages) {
          await env.KV.put(message.body.id, "done");
          message.ack();
        }
        break;
      default:
        throw new Error(`unknown queue ${batch.queue}`);
    }
  },
};
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._ways import counts_as_done, order, per_queue, token, untouched
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.ways.state import PERHAPS, TELL, WORK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code, Consuming
    from cfq_lint.model.finding import Finding


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each queue, at the first comparison."""
    for consuming in per_queue(code):
        handled = consuming.handled
        if consuming.is_dead_letters or not handled.asked or not _does_nothing(consuming):
            continue
        first = min(handled.asked, key=order)
        consumer = consuming.consumer
        place = consumer.queue.place if consumer.queue is not None else consumer.place
        message = (
            f"no branch here is for {consumer.queue_name!r}, which the configuration consumes: its messages are acknowledged"
            " and nothing is done with them; name it in a branch, and throw for a queue that is not known"
        )
        yield RULE.finding(
            token(code, first), message, related=(Related(place, "consumed here"),), environment=consumer.environment
        )


def _does_nothing(consuming: Consuming) -> bool:
    """Whether every way returns, and none does anything with a message."""
    handled = consuming.handled
    if handled.raised or not handled.ended:
        return False
    if any(not counts_as_done(state) or not untouched(state) or state.guessed for state in handled.ended):
        return False
    return not any(
        (each.effect in {WORK, PERHAPS} and (each.related or each.is_awaited)) or (each.effect == TELL and each.related)
        for each in handled.called
    )


RULE = Rule(
    "CFQ824",
    "queue-not-handled",
    Severity.ERROR,
    limits.PAGE_CONFIGURE,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.ASKS_OF_QUEUE,),
    check=check,
)
