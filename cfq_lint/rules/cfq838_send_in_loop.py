"""Messages are sent one by one in a loop.

## What it does
Reports `send()` on a queue's binding in a loop over a list, also within `Promise.all()`. A loop over the batch is passed over
where it does more for a message than to send it on.

## Why it matters
Each `send()` is a request of its own, and counts as a subrequest of the Worker, of which there is a limit. `sendBatch()`
sends up to 100 messages at once.

## Bad
```jsonc
{
  "name": "shop", "main": "src/index.ts",
  "queues": {
    "producers": [{ "binding": "MAILS", "queue": "mails" }],
    "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }]
  }
}
```
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      await env.KV.put(message.body.id, "done");
      for (const address of message.body.addresses) {
        await env.MAILS.send({ id: message.body.id, address });
      }
      message.ack();
    }
  },
};
```

## Good
```jsonc
{
  "name": "shop", "main": "src/index.ts",
  "queues": {
    "producers": [{ "binding": "MAILS", "queue": "mails" }],
    "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }]
  }
}
```
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      await env.KV.put(message.body.id, "done");
      const mails = message.body.addresses.map((address) => ({ body: { id: message.body.id, address } }));
      for (let i = 0; i < mails.length; i += 100) {
        await env.MAILS.sendBatch(mails.slice(i, i + 100));
      }
      message.ack();
    }
  },
};
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._ways import keyword, order, token
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code
    from cfq_lint.model.finding import Finding


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each call, at its path."""
    for send in sorted((each for each in code.sends if each.loop is not None), key=lambda each: order(each.mark)):
        message = (
            f"this sends one message a turn; collect them, and send up to {limits.SEND_BATCH_COUNT_MAX} at once with"
            f" {send.binding}.sendBatch()"
        )
        loop = send.loop
        related = (Related(keyword(code, loop), "the loop"),) if loop is not None else ()
        yield RULE.finding(token(code, send.mark), message, related=related)


RULE = Rule(
    "CFQ838",
    "send-in-loop",
    Severity.INFO,
    limits.PAGE_BATCHING,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.SEND_IN_LOOP,),
    check=check,
)
