"""What an expression comes to: nodes of the common tree, and four kinds that only the evaluation knows.

A node of kind `broken` is a value that only running the code would tell. It is never guessed: rules pass it over, as they do
with what does not parse.
"""

from __future__ import annotations

from cfq_lint.source.node import ARRAY, BOOLEAN, BROKEN, NULL, NUMBER, OBJECT, STRING, Member, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

UNDEFINED = "undefined"
FUNCTION = "function"  # its value: (node, scope, module)
TOOL = "tool"  # something of the package of configurations; its value: the path of names, e.g. ("triggers", "queue")
OTHERWISE = "otherwise"  # a mode that the file does not name: equal to no text of it
ELSEWHERE = -1
"""Start and end of what stands in another file."""
SPREAD = "\ue001"
"""The key of a member that stands for all keys that an unknown spread may bring."""
SCALARS = frozenset({STRING, NUMBER, BOOLEAN, NULL, BROKEN, UNDEFINED, OTHERWISE, TOOL, FUNCTION})


def unknown(start: int, end: int) -> Node:
    """A value that only running the code would tell."""
    return Node(BROKEN, start, end, None)


def constant(value: Any, start: int, end: int) -> Node:
    """A string, number, boolean or null."""
    kind = {str: STRING, bool: BOOLEAN, type(None): NULL}.get(type(value), NUMBER)
    return Node(kind, start, end, value)


def truth(node: Node) -> bool | None:
    """Whether a value counts as true; None where that is not known."""
    if node.kind == BROKEN:
        return None
    if node.kind in {OBJECT, ARRAY, FUNCTION, TOOL, OTHERWISE}:
        return True
    return bool(node.value) and node.value == node.value


def used_at(node: Node, start: int, end: int, *, again: bool = False) -> Node:
    """A value where its name is used: a scalar stands there, an object or array where it is written, if that is this file."""
    if node.kind in SCALARS:
        return Node(node.kind, start, end, node.value)
    if node.start != ELSEWHERE and not again:
        return node
    if node.kind == ARRAY:
        return Node(ARRAY, start, end, [used_at(each, start, end, again=again) for each in node.value])
    return Node(OBJECT, start, end, [Member(m.key, start, end, used_at(m.node, start, end, again=again)) for m in node.value])


def members_of(node: Node) -> dict[str, Member]:
    """The members of an object by their keys, the last of each."""
    return {member.key: member for member in node.value} if node.kind == OBJECT else {}


def joined(one: Node, other: Node) -> Node:
    """What holds of a value that is one or the other: what is the same in both is known, the rest is not."""
    if one.kind == other.kind == OBJECT:
        left, right = members_of(one), members_of(other)
        members = []
        for key, member in {**right, **left}.items():
            both = key in left and key in right
            node = joined(left[key].node, right[key].node) if both else unknown(member.node.start, member.node.end)
            members.append(Member(key, member.start, member.end, node))
        return Node(OBJECT, one.start, one.end, members)
    if one.kind == other.kind == ARRAY:
        if len(one.value) == len(other.value):
            return Node(ARRAY, one.start, one.end, [joined(a, b) for a, b in zip(one.value, other.value, strict=True)])
        if not one.value or not other.value:  # perhaps they are there: what is wrong with them is wrong where they are
            return one if one.value else other
    if one.kind == other.kind and one.value == other.value and one.kind in {STRING, NUMBER, BOOLEAN, NULL, UNDEFINED}:
        return one
    return unknown(one.start, one.end)


def part_of(value: Node, key: str) -> Node | None:
    """A member of a value; None where it is not known."""
    if value.kind == TOOL:
        return Node(TOOL, value.start, value.end, (*value.value, key))
    if value.kind == OBJECT:
        members = members_of(value)
        if key in members:
            return members[key].node
        return None if SPREAD in members else Node(UNDEFINED, value.start, value.end, None)
    if value.kind == ARRAY and key.isdecimal():
        items = value.value
        return items[int(key)] if int(key) < len(items) and all(each.kind != BROKEN for each in items) else None
    if value.kind == ARRAY and key == "length" and all(each.kind != BROKEN for each in value.value):
        return constant(len(value.value), value.start, value.end)
    return None


def tool(path: tuple[str, ...], arguments: list[Node], span: tuple[int, int]) -> Node:
    """What the package of configurations makes of a call: `triggers.queue(options)` is `{type: "queue", ...options}`."""
    if not path:
        return unknown(*span)
    first = arguments[0] if arguments else Node(UNDEFINED, *span, None)
    if path[-1] in {"defineConfig", "defineWorker", "defineSettings", "defineContainer"}:
        if path[-1] == "defineWorker" and first.kind == OBJECT:
            return Node(OBJECT, first.start, first.end, [*first.value, Member("type", *span, constant("worker", *span))])
        return first
    group = path[-2] if len(path) > 1 else ""
    if group not in {"bindings", "triggers", "exports"}:
        return unknown(*span)
    kind = Member("type", *span, constant("".join(f"-{each.lower()}" if each.isupper() else each for each in path[-1]), *span))
    if group == "bindings" and path[-1] in {"text", "json"}:
        return Node(OBJECT, *span, [kind, Member("value", *span, first)])
    if first.kind == UNDEFINED:
        return Node(OBJECT, *span, [kind])
    if first.kind != OBJECT:
        return Node(OBJECT, *span, [kind, Member(SPREAD, *span, unknown(*span))])
    return Node(OBJECT, *span, [kind, *first.value])
