"""The tables of a TOML text: who defines them, who adds to them, and what is said where nobody may."""

from __future__ import annotations

import re

from cfq_lint.source.node import (
    ARRAY,
    BOOLEAN,
    BROKEN,
    DEPTH_MAX,
    FAULTS_MAX,
    NUMBER,
    OBJECT,
    STRING,
    Fault,
    Member,
    Node,
)
from cfq_lint.source.toml_values import ANY_STRING, BASIC, LITERAL, escape_of_1_1, show, unescape

TYPE_CHECKING = False
if TYPE_CHECKING:
    Keys = list[tuple[str, int, int]]  # the parts of a dotted key, each with its span

BARE = r"[A-Za-z0-9_-]++"
KEY = rf"(?:{BARE}|{BASIC}|{LITERAL})"
PATH = rf"{KEY}(?>(?:[ \t]*+\.[ \t]*+{KEY})*)"
_COMMENTED_HEADER = rf"#[# \t]*+(\[\[?[ \t]*+{PATH}[ \t]*+\]\]?)[ \t]*+(?:#.*)?"
_KINDS = {STRING: "a string", NUMBER: "a number", BOOLEAN: "a boolean", ARRAY: "an array", BROKEN: "a broken value"}
HEADER, DOTTED, INLINE = "header", "dotted", "inline"
TOO_DEEP = f"nested deeper than {DEPTH_MAX} levels"
_simple_name = re.compile(BARE).fullmatch


def comments(text: str) -> list[tuple[int, int]]:
    """The spans of all comments, `#` included and line ends not; also of a broken text, in linear time."""
    if "#" not in text:
        return []
    # Strings are matched as well, so that a `#` inside them is passed over.
    pattern = re.compile(rf"{ANY_STRING}|(#[^\r\n]*+(?>(?:\r(?!\n)[^\r\n]*+)*))")
    return [match.span(1) for match in pattern.finditer(text) if match.lastindex]


class Table(Node):
    """A table while it is read: its members by name as well, and who owns it.

    `owner` is None for a table that only deeper headers imply, which anyone may define; HEADER for one that has its own, to
    which nobody else adds; DOTTED for one that dotted keys made, which statements below the same header may add to (no others
    can reach it but by a header, and that is refused); INLINE for braces, which are complete.
    """

    __slots__ = ("index", "owner")

    def __init__(self, start: int, end: int, owner: str | None) -> None:
        self.kind = OBJECT
        self.start = start
        self.end = end
        self.value: list[Member] = []
        self.index: dict[str, Member] = {}
        self.owner = owner

    def add(self, key: str, start: int, end: int, node: Node) -> Node:
        """Enter a member; its value again."""
        member = self.index[key] = Member(key, start, end, node)
        self.value.append(member)
        return node


class TableArray(Node):
    """An array of tables, which headers made and may add to."""

    __slots__ = ()


class Tables:
    """What a reader has entered of one text.

    `table` is where keys go now, `array` the array of tables that it belongs to, `level` its depth. `end` is the end of the
    last statement, `told` says that this one has its fault.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.faults: list[Fault] = []
        self.newer: Fault | None = None
        self.root = self.table = Table(0, len(text), HEADER)
        self.array: Node | None = None
        self.level = self.end = 0
        self.told = False
        self.comments: list[tuple[int, int]] | None = None
        self.hinted: set[int] = set()

    def _header(self, many: bool, keys: Keys) -> None:
        """Make the table of a header current; where it cannot be, or has no name, one that is not in the tree."""
        self._finish()
        self.array, self.level = None, 0
        table = self._define(many, keys) if keys else None
        self.table = Table(0, 0, HEADER) if table is None else table

    def _finish(self) -> None:
        if self.table is not self.root:
            self.table.end = self.end
        if self.array is not None:
            self.array.end = self.end

    def _define(self, many: bool, keys: Keys) -> Table | None:
        table, level = self.root, int(many)
        for key, start, end in keys[:-1]:
            level += 1
            member = table.index.get(key)
            child = table.add(key, start, end, Table(start, end, None)) if member is None else member.node
            if type(child) is TableArray:
                child = child.value[-1]
                level += 1
            if type(child) is not Table or child.owner is INLINE:
                self._fault(start, end, self._closed(table.index[key]))
                return None
            if level >= DEPTH_MAX:
                self._fault(start, end, TOO_DEEP)
                return None
            table = child
        key, start, end = keys[-1]
        self.level = level + 1
        first = self.text.rindex("[", 0, keys[0][1]) - many
        closed = self.text.find("]", end)
        closers = 2 if many and self.text.startswith("]]", closed) else 1
        self.end = last = closed + closers if 0 < closed < self._next_line(end) else end
        member = table.index.get(key)
        new = Table(first, last, HEADER)
        if member is None:
            self.array = TableArray(ARRAY, first, last, [new]) if many else None
            table.add(key, start, end, self.array or new)
            return new
        node = member.node
        if many and type(node) is TableArray:
            self.array = node
            node.value.append(new)
            return new
        if not many and type(node) is Table and node.owner is None:
            node.owner, node.start = HEADER, first
            member.start, member.end = start, end
            return node
        self._fault(start, end, self._defined(member, many))
        return None

    def _put(self, base: Table, keys: Keys, node: Node) -> None:
        """Enter a value below `base`, the table of the last header or an inline table."""
        table = base
        for key, start, end in keys[:-1]:
            member = table.index.get(key)
            child = table.add(key, start, end, Table(start, end, DOTTED)) if member is None else member.node
            if type(child) is not Table or child.owner is HEADER or child.owner is INLINE:
                self._fault(start, end, self._closed(table.index[key]))
                return
            child.owner = DOTTED
            table = child
        key, start, end = keys[-1]
        if key in table.index:
            self._repeated(table.index[key], start, end)
        else:
            table.add(key, start, end, node)

    def _next_line(self, position: int) -> int:
        return self.text.find("\n", position) + 1 or len(self.text)

    def _split(self, start: int, end: int) -> Keys:
        name = self.text[start:end]
        if _simple_name(name):
            return [(name, start, end)]
        keys = []
        for match in re.compile(KEY).finditer(self.text, start, end):
            key = match[0]
            quote = key[0]
            if quote == '"' or quote == "'":  # noqa: PLR1714 - the quicker way to ask
                key = key[1:-1]
                if quote == '"' and "\\" in key:
                    key, wrong = unescape(key, match.start() + 1)
                    if wrong:
                        self._fault(*wrong)
                    self._escapes(*match.span())
            keys.append((key, *match.span()))
        return keys

    def _fault(self, start: int, end: int, message: str) -> None:
        if not self.told and len(self.faults) < FAULTS_MAX:
            self.told = True
            self.faults.append(Fault(start, end, message))

    def _newer(self, start: int, end: int, what: str) -> None:
        if self.newer is None:
            self.newer = Fault(start, end, what)

    def _escapes(self, start: int, end: int) -> None:
        if self.newer is None and self.text.startswith('"', start) and "\\" in self.text[start:end]:
            span = escape_of_1_1(self.text, start, end)
            if span is not None:
                self._newer(*span, f"the escape {show(self.text[slice(*span)])}")

    def _line(self, position: int) -> int:
        return self.text.count("\n", 0, position) + 1

    def _repeated(self, member: Member, start: int, end: int) -> None:
        """A key that its table has already; where a header is commented out between the two, that is told, once a header."""
        if self.told:
            return
        message = (
            f"{show(member.key)} is already defined on line {self._line(member.start)}; a TOML table cannot have a key twice"
        )
        if self.comments is None:
            self.comments = comments(self.text)
        for first, last in reversed(self.comments):
            if first < member.end:
                break
            match = re.compile(_COMMENTED_HEADER).fullmatch(self.text, first, last) if last <= start else None
            if match:
                if first in self.hinted:
                    return
                self.hinted.add(first)
                message += (
                    f". The header {show(match[1])} on line {self._line(first)} is commented out while the keys below it are"
                    " live: uncomment it, or comment them out as well"
                )
                break
        self._fault(start, end, message)

    def _closed(self, member: Member) -> str:
        """Why no key can be put below this one."""
        key, node, line = show(member.key), member.node, self._line(member.start)
        if type(node) is TableArray:
            return f"{key} is an array of tables (line {line}); dotted keys cannot add to it, only `[[…]]` headers can"
        if type(node) is not Table:
            return f"{key} is {_KINDS.get(node.kind, 'a ' + node.kind)} (line {line}), not a table; no key can stand below it"
        if node.owner is INLINE:
            return f"{key} is an inline table, complete as it stands on line {line}; nothing can be added to it"
        return f"{key} is defined by its own header on line {line}; its keys stand there"

    def _defined(self, member: Member, many: bool) -> str:
        """Why no header can define this key."""
        key, node, line = show(member.key), member.node, self._line(member.start)
        if type(node) is TableArray:
            return f"{key} is an array of tables since line {line}; one more of them has a header in double brackets"
        if type(node) is not Table or node.owner is INLINE or node.owner is DOTTED:
            return f"{key} is already defined on line {line}; a header cannot define it again"
        if many:
            return f"{key} is a table since line {line}, not an array of tables; no header in double brackets can add to it"
        return f"the table {key} is already defined by a header on line {line}; its keys stand together below one header"
