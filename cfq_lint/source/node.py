"""The one tree that both readers make: nodes with a kind, a span and a value.

Spans are offsets into the text in code points, `end` exclusive. The classes are plain slotted ones, not records, because a
reader makes thousands of them and is measured by it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

OBJECT = "object"
ARRAY = "array"
STRING = "string"
NUMBER = "number"
BOOLEAN = "boolean"
NULL = "null"
DATETIME = "datetime"
BROKEN = "broken"
DECLARED = "cfq-lint:queues"
"""The key of the queues that a file itself makes, in the tree of a Terraform plan; no wrangler file can have them."""


class Node:
    """A value in a file.

    kind      value
    object    list of Member, in order, repeated keys included
    array     list of Node
    string    str
    number    int or float
    boolean   bool
    null      None
    datetime  the token's text (TOML only)
    broken    the token's text: something that is no value of the language; or None: a value that cannot be told from the text

    A TOML table spans from its header to the end of the last statement below that header; an array of tables from its first
    header to the end of its last table; a table that only dotted keys or deeper headers imply spans the key that implied it.
    """

    __slots__ = ("end", "kind", "start", "value")

    def __init__(self, kind: str, start: int, end: int, value: Any) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.value = value

    def __repr__(self) -> str:
        return f"Node({self.kind}, {self.start}, {self.end}, {self.value!r})"

    def plain(self) -> Any:
        """The value without spans: dict, list, str, int, float, bool or None. Of repeated keys the last one wins."""
        # Loops, not comprehensions: a comprehension is a second frame, and a deep tree has DEPTH_MAX of them.
        if self.kind == OBJECT:
            members = {}
            for member in self.value:
                members[member.key] = member.node.plain()
            return members
        if self.kind == ARRAY:
            items = []
            for item in self.value:
                items.append(item.plain())  # noqa: PERF401
            return items
        return self.value


class Member:
    """A key of an object with its value; `start` and `end` span the key as it is written, quotes included."""

    __slots__ = ("end", "key", "node", "start")

    def __init__(self, key: str, start: int, end: int, node: Node) -> None:
        self.key = key
        self.start = start
        self.end = end
        self.node = node

    def __repr__(self) -> str:
        return f"Member({self.key!r}, {self.start}, {self.end}, {self.node!r})"


class Fault:
    """A place where the text breaks the grammar.

    `message` says what is there and what is allowed. `replacement` is the text that mends it without changing its meaning,
    where there is one; `json5` says that the token is legal JSON5, which wrangler does not read.
    """

    __slots__ = ("end", "json5", "message", "replacement", "start")

    def __init__(self, start: int, end: int, message: str, replacement: str | None = None, *, json5: bool = False) -> None:
        self.start = start
        self.end = end
        self.message = message
        self.replacement = replacement
        self.json5 = json5

    def __repr__(self) -> str:
        return f"Fault({self.start}, {self.end}, {self.message!r})"


class Tree:
    """What a reader makes of a text: the root (None where there is no value at all) and its faults, at most FAULTS_MAX.

    `repeats` says that an object holds a key twice. `newer` is the first place, in order of reading, of what TOML 1.1 has and
    1.0 lacks; its message names the thing.
    """

    __slots__ = ("faults", "newer", "repeats", "root")

    def __init__(self, root: Node | None, faults: list[Fault], *, repeats: bool = False, newer: Fault | None = None) -> None:
        self.root = root
        self.faults = faults
        self.repeats = repeats
        self.newer = newer


FAULTS_MAX = 100
"""A broken file is told about at most this many faults; more help nobody."""
DEPTH_MAX = 400
"""Containers within containers; what is nested deeper is a fault, so that no walk over the tree can overflow the stack."""
