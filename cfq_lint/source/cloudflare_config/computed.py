"""What only running a `cloudflare.config.ts` tells, put where the text left it unknown. Nothing is run here.

What the text tells stays as it is. A value is taken only where it is certain to which expression it belongs, and what the run
leaves out stays unknown: it may be there in another environment.
"""

from __future__ import annotations

from cfq_lint.facts.record import replace
from cfq_lint.source.cloudflare_config.values import constant
from cfq_lint.source.cloudflare_config.worker import BESIDE, unknown_in
from cfq_lint.source.node import ARRAY, BROKEN, OBJECT, Member, Node, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cfq_lint.source.document import Document

    Ask = Callable[[str, tuple[tuple[str | None, bool], ...]], tuple[Any, ...] | None]
    """Of a file and the contexts (mode, isPreview) to read it in: wrangler's configuration in each, or None."""

_NAMES = ("queue", "binding")
"""What entries of a list are known by."""


def complete(document: Document, file: str, ask: Ask) -> None:
    """Fill in what is unknown in a document with what the package `@cloudflare/config` computes."""
    dialect, root = document.dialect, document.tree.root
    if dialect is None or root is None or not dialect.unknown or not dialect.contexts:
        return
    values = ask(file, dialect.contexts)
    if values is None:
        return
    top, *others = values
    members = []
    for member in root.value:
        if member.key == "env":
            modes = zip(member.node.value, others, strict=True)
            node = Node(OBJECT, member.node.start, member.node.end, [_with(each, _filled(each.node, v)) for each, v in modes])
            members.append(_with(member, node))
        else:
            members += _filled(Node(OBJECT, root.start, root.end, [member]), top).value
    root = Node(OBJECT, root.start, root.end, members)
    document.tree = Tree(root, document.tree.faults)
    document.dialect = replace(dialect, unknown=len(set(unknown_in(root))))


def _with(member: Member, node: Node) -> Member:
    return Member(member.key, member.start, member.end, node)


def _filled(node: Node, value: Any) -> Node:
    """A node with what a value knows better."""
    if node.kind == BROKEN:
        return _placed(value, node.start, node.end)
    if node.kind == OBJECT and isinstance(value, dict):
        members = [
            _with(member, _filled(member.node, value[member.key]))
            if member.key in value and member.key not in BESIDE
            else member
            for member in node.value
        ]
        return Node(OBJECT, node.start, node.end, members)
    if node.kind == ARRAY and isinstance(value, list):
        return Node(ARRAY, node.start, node.end, _entries(node.value, value))
    return node


def _entries(nodes: list[Node], values: list[Any]) -> list[Node]:
    """The entries of a list, each with its value where both lists run in step, else where names tell.

    An entry that is wholly unknown, if it is the only one, takes what no other has.
    """
    unknown_count = sum(node.kind == BROKEN for node in nodes)
    if not unknown_count and len(nodes) == len(values) and all(map(_may_be, nodes, values)):
        return [_filled(node, value) for node, value in zip(nodes, values, strict=True)]
    claims = [[at for at, value in enumerate(values) if _may_be(node, value)] if node.kind != BROKEN else [] for node in nodes]
    claimed = [at for claim in claims for at in claim]
    is_certain = len(set(claimed)) == len(claimed) and all(len(claim) <= 1 for claim in claims)
    entries = []
    for node, claim in zip(nodes, claims, strict=True):
        if len(claim) == 1 and claimed.count(claim[0]) == 1:
            entries.append(_filled(node, values[claim[0]]))
        elif node.kind == BROKEN and is_certain and unknown_count == 1:
            rest = [_placed(value, node.start, node.end) for at, value in enumerate(values) if at not in claimed]
            entries += rest or [node]
        else:
            entries.append(node)
    return entries


def _may_be(node: Node, value: Any) -> bool:
    """Whether a value can be that of an entry: what is known of its names is the same."""
    if node.kind == BROKEN:
        return True
    if node.kind != OBJECT:
        return bool(node.value == value)
    known = {member.key: member.node for member in node.value if member.key in _NAMES and member.node.kind != BROKEN}
    return isinstance(value, dict) and all(value.get(key) == each.value for key, each in known.items())


def _placed(value: Any, start: int, end: int) -> Node:
    """A plain value as a node; all of it stands where the expression does that it comes from."""
    if isinstance(value, dict):
        return Node(OBJECT, start, end, [Member(key, start, end, _placed(each, start, end)) for key, each in value.items()])
    if isinstance(value, list):
        return Node(ARRAY, start, end, [_placed(each, start, end) for each in value])
    return constant(value, start, end)
