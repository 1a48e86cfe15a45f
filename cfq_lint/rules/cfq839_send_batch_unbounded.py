"""A batch of any length is sent at once.

## What it does
Reports `sendBatch()` of a list that holds as much as a request's body, a query without a limit or a listing gives, where
nothing cuts it.

## Why it matters
One call takes at most 100 messages and 256,000 bytes. What is larger is refused as a whole: none of the messages is sent.

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
      const { results } = await env.DB.prepare("SELECT id, address FROM members").all();
      await env.MAILS.sendBatch(results.map((row) => ({ body: row })));
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
      const { results } = await env.DB.prepare("SELECT id, address FROM members").all();
      for (let i = 0; i < results.length; i += 100) {
        await env.MAILS.sendBatch(results.slice(i, i + 100).map((row) => ({ body: row })));
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
from cfq_lint.rules._ways import order, token
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code
    from cfq_lint.model.finding import Finding


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each call, at its path."""
    for send in sorted((each for each in code.sends if each.unbounded is not None), key=lambda each: order(each.mark)):
        message = (
            f"nothing bounds this batch, and one of more than {limits.SEND_BATCH_COUNT_MAX} messages is refused as a whole;"
            f" send it in parts of {limits.SEND_BATCH_COUNT_MAX}"
        )
        source = send.unbounded
        related = (Related(token(code, source), "as long as what this gives"),) if source is not None else ()
        yield RULE.finding(token(code, send.mark), message, related=related)


RULE = Rule(
    "CFQ839",
    "send-batch-unbounded",
    Severity.WARNING,
    limits.PAGE_LIMITS,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.UNBOUNDED_BATCH,),
    check=check,
)
