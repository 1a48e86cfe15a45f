"""Every status from 400 to 499 is taken as final, 429 among them.

## What it does
Reports an acknowledgement of what failed with any 4xx, where nothing tells 429 (and 408) apart.

## Why it matters
A 429 says that the request is right and comes too early. Acknowledged, the message is lost just where a later attempt
would succeed.

## Bad
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      const response = await fetch(message.body.url);
      if (response.ok || (response.status >= 400 && response.status < 500)) message.ack();
      else message.retry({ delaySeconds: 60 });
    }
  },
};
```

## Good
```ts
export default {
  async queue(batch, env) {
    for (const message of batch.messages) {
      const { ok, status } = await fetch(message.body.url);
      if (ok || (status >= 400 && status < 500 && status !== 408 && status !== 429)) message.ack();
      else message.retry({ delaySeconds: 60 });
    }
  },
};
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Severity
from cfq_lint.rules import signs
from cfq_lint.rules._ways import counts_as_done, every_way, keyword, order, per_queue, related, settling
from cfq_lint.rules.rule import CODE, SOURCE_CODE, Rule
from cfq_lint.worker_code.ways.state import BELOW_500, FROM_400, HTTP, TOO_MANY_REQUESTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code, Consuming
    from cfq_lint.model.finding import Finding
    from cfq_lint.worker_code.ways.marks import Mark


def check(code: Code, _facts: Facts) -> Iterator[Finding]:
    """One finding for each acknowledgement, or look at a status."""
    found = {mark: work for consuming in per_queue(code) for mark, work in _final(consuming)}
    for mark in sorted(found, key=order):
        message = "every 4xx is taken as final here, 429 (too many requests) among them; give that back with a delay"
        place = settling(code, mark) if mark in _acks(code) else keyword(code, mark)
        yield RULE.finding(place, message, related=(related(code, found[mark], "the request"),))


def _acks(code: Code) -> set[Mark]:
    return {settled.mark for consuming in per_queue(code) for settled in consuming.handled.settled}


def _final(consuming: Consuming) -> Iterator[tuple[Mark, Mark]]:
    handled = consuming.handled
    if TOO_MANY_REQUESTS in handled.statuses:
        return
    for state in every_way(handled):
        failure = state.failed
        if state in handled.raised or failure is None or not counts_as_done(state) or not state.knows(BELOW_500):
            continue
        is_4xx = state.knows(FROM_400) or failure.kind == HTTP
        if is_4xx and str(TOO_MANY_REQUESTS) not in failure.at.module.text:
            yield state.settled_at or failure.caught, failure.at


RULE = Rule(
    "CFQ835",
    "rate-limit-taken-as-final",
    Severity.INFO,
    limits.PAGE_BATCHING,
    limits.READ_DOSSIER,
    needs=CODE,
    visit=SOURCE_CODE,
    signs=(signs.STATUS_RANGE,),
    check=check,
)
