"""An object has the same key twice, and the first value is silently dropped.

## What it does
Reports the second and every further use of a key in one object of a JSONC file, and points back at the first. TOML refuses such
a file itself, which is `parse-error`.

## Why it matters
The last value wins without a word. A second `queues` block, pasted from a guide, takes away every producer and consumer of the
first.

## Bad
```jsonc
{
  "queues": { "producers": [{ "binding": "ORDERS", "queue": "orders" }] },
  "queues": { "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }] }
}
```

## Good
```jsonc
{
  "queues": {
    "producers": [{ "binding": "ORDERS", "queue": "orders" }],
    "consumers": [{ "queue": "orders", "dead_letter_queue": "orders-dlq" }]
  }
}
```
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.model.finding import Finding, Related, Severity
from cfq_lint.rules import signs
from cfq_lint.rules.rule import WORKER, Rule
from cfq_lint.source.node import ARRAY, OBJECT, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.wrangler import Worker
    from cfq_lint.source.document import Document


def check(worker: Worker, _facts: Facts) -> Iterator[Finding]:
    """One finding a repeated key, anywhere in the file."""
    document = worker.document
    waiting = [document.tree.root] if document.tree.root is not None else []
    while waiting:
        node = waiting.pop()
        if node.kind == ARRAY:
            waiting += [item for item in node.value if item.kind in {OBJECT, ARRAY}]
        elif node.kind == OBJECT:
            waiting += [member.node for member in node.value if member.node.kind in {OBJECT, ARRAY}]
            if len({member.key for member in node.value}) < len(node.value):
                yield from _repeated(document, node)


def _repeated(document: Document, node: Node) -> Iterator[Finding]:
    first: dict[str, tuple[int, int]] = {}
    for member in node.value:
        place = document.place(member.start, member.end)
        if member.key not in first:
            first[member.key] = (member.start, member.end)
            continue
        earlier = document.place(*first[member.key])
        message = f"the object has the key {member.key!r} already; the last one wins, the earlier value is dropped"
        yield RULE.finding(place, message, related=(Related(earlier, "first here"),))


RULE = Rule(
    "CFQ003",
    "duplicate-key",
    Severity.ERROR,
    limits.PAGE_WRANGLER,
    limits.READ_DOSSIER,
    visit=WORKER,
    signs=(signs.REPEATED_KEY,),
    check=check,
)
