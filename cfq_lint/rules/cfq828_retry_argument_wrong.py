"""`retry()` is given something that it does not take.

## What it does
Reports a number or a text as the argument of `retry()` and `retryAll()`, and an object whose only key is a misnamed delay.

## Why it matters
For a number or a text the runtime throws a TypeError in place of giving the message back: the handler fails, and the whole
batch comes back without any delay. A key with another name than `delaySeconds` is ignored.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      try {
        await env.KV.put(message.body.id, "done");
        message.ack();
      } catch (error) {
        message.retry(60);
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
                message.retry(delay_seconds=60)
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
```py
from workers import WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            try:
                await self.env.KV.put(message.body["id"], "done")
                message.ack()
            except Exception:
                message.retry(delaySeconds=60)
```

## Fix
Safe: the delay is written as the runtime takes it, `retry({ delaySeconds: 60 })`, in Python `retry(delaySeconds=60)`.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Edit, Fix, Severity
from cfq_lint.rules import signs
from cfq_lint.rules._ways import order, per_queue, span_of_given
from cfq_lint.rules.rule import CODE, SAFE, SOURCE_CODE, Rule
from cfq_lint.worker_code.ways.marks import Mark
from cfq_lint.worker_code.ways.retrying import SAME_UNIT, is_number_or_text, is_number_written, misnamed_delay
from cfq_lint.worker_code.ways.state import RETRIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.tree.nodes import Node
    from cfq_lint.worker_code.ways.values import Settled


_SECONDS = "delaySeconds"


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each call, at what it is given."""
    seen = {settled.mark: settled for each in per_queue(code) for settled in each.handled.settled if settled.how in RETRIES}
    for mark in sorted(seen, key=order):
        settled = seen[mark]
        given = settled.node.given
        if len(given) != 1:
            continue
        name = settled.how
        misnamed = misnamed_delay(given[0], is_python=code.is_python)
        if misnamed is not None:
            yield _ignored(code, settled, misnamed, name)
        elif is_number_or_text(given[0], settled):
            yield _thrown(code, settled, name)


def _thrown(code: Code, settled: Settled, name: str) -> Finding:
    mark = Mark(settled.node.given[0], settled.mark.module)
    span = span_of_given(code, mark)
    start, stop = span if span is not None else (code.offset(mark), code.offset(mark) + 1)
    place = code.place(mark, start, stop - start)
    right = f"{_SECONDS}=…" if code.is_python else f"{{ {_SECONDS}: … }}"
    message = (
        f"{name} takes no number or text: the runtime throws a TypeError here, and the whole batch comes back; write {right}"
    )
    written = code.lines(mark).text[start:stop].strip("\"'`")
    new = f"{_SECONDS}={written}" if code.is_python else f"{{ {_SECONDS}: {written} }}"
    is_number = is_number_written(settled.node.given[0], written)
    fix = Fix(f"write {new}", (Edit(place, new),), safe=True) if span is not None and is_number else None
    return RULE.finding(place, message, fix=fix)


def _ignored(code: Code, settled: Settled, misnamed: Node, name: str) -> Finding:
    key = str(getattr(misnamed, "name", ""))
    mark = Mark(misnamed, settled.mark.module)
    start = code.lines(mark).text.find(key, code.offset(mark))
    place = code.place(mark, start, len(key))
    fix = Fix(f"write {_SECONDS}", (Edit(place, _SECONDS),), safe=True) if key in SAME_UNIT else None
    message = f"{name} does not know {key}: it is ignored, and the message comes back without that delay; write {_SECONDS}"
    return RULE.finding(place, message, fix=fix)


RULE = Rule(
    "CFQ828",
    "retry-argument-wrong",
    Severity.ERROR,
    limits.PAGE_JAVASCRIPT_APIS,
    limits.READ_DOSSIER,
    fix=SAFE,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.RETRY_ODD,),
    check=check,
)
