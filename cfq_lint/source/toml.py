r"""TOML 1.1 (https://toml.io/en/v1.1.0) with spans, and with every fault of a broken text.

What TOML 1.1 adds is read as smol-toml 1.9.0 reads it, which wrangler has since 4.137.0 (1.8.0 then): line ends, comments and a
last comma in inline tables, `\e`, `\xHH`, times without seconds. `Tree.newer` is the first such place. For all else verdict and
value are those of `tomllib` (Python 3.11 to 3.14), save for three departures:

- an integer beyond ±(2^53 - 1) is a fault, because wrangler refuses it (tried: smol-toml 1.9.0 and 1.5.2);
- an integer of more digits than Python converts is a fault, where `tomllib` raises a plain ValueError;
- what is nested deeper than DEPTH_MAX is a fault, where `tomllib` goes on until a RecursionError.

A usual statement, be it `key = "text"`, a number, a boolean or a header, is one match of one regular expression. Whatever that
does not take is read slowly, with at most one fault a statement, since what follows a first mistake is often its consequence.
Possessive quantifiers and atomic groups keep every match linear; as in `jsonc`, none of the former stands behind a group.
After FAULTS_MAX faults reading stops.
"""

from __future__ import annotations

import re

from cfq_lint.source.node import (
    ARRAY,
    BOOLEAN,
    BROKEN,
    DATETIME,
    DEPTH_MAX,
    FAULTS_MAX,
    NUMBER,
    OBJECT,
    STRING,
    Member,
    Node,
    Tree,
)
from cfq_lint.source.toml_tables import BARE, INLINE, PATH, TOO_DEEP, Table, Tables
from cfq_lint.source.toml_values import (
    ANY_STRING,
    CONTROL,
    WORD,
    found_at,
    lacks_seconds,
    read_string,
    read_word,
    show,
    why_broken,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    Keys = list[tuple[str, int, int]]  # the parts of a dotted key, each with its span

_COMMENT = rf"#[^{CONTROL}]*+"
_END = rf"[ \t]*+(?>(?:{_COMMENT})?)(?:\r?\n|\Z)"
_BLANK = rf"(?>(?:[ \t]*+(?>(?:{_COMMENT})?)\r?+\n)*)[ \t]*+"
# The usual statement. Groups: 1 key and, where its value is as plain, 2 text, 3 integer, 4 boolean; or 5 [ again, 6 header.
_statement = re.compile(
    rf"{_BLANK}(?:({BARE})[ \t]*+=[ \t]*+"
    rf'(?:(?:"([^"\\{CONTROL}]*+)"|(-?[1-9][0-9]{{0,14}}|0)|(true|false)){_END})?'
    rf"|\[(\[)?({BARE}(?>(?:\.{BARE})*))\](?(5)\]){_END})"
).match
_simple_key = re.compile(rf"({BARE})[ \t]*+=[ \t]*+").match
_simple_string = re.compile(rf'"(?!"")([^"\\{CONTROL}]*+)"').match
_end = re.compile(_END).match
_gap = re.compile(rf"(?>(?:[ \t\n]++|\r\n|{_COMMENT})*)").match
# What follows is for what is less usual; such patterns are compiled when they are first needed, and `re` keeps them.
# The start of a line that can hardly be anything but a statement: where reading goes on after a bracket that nothing closes.
_FRESH_HEADER = rf"[ \t]*+\[\[?[ \t]*+(?!(?:true|false|inf|nan)[ \t]*\])(?=[A-Za-z_]){PATH}[ \t]*+\]\]?{_END}"
_FRESH = rf"[ \t]*+{PATH}[ \t]*+=|{_FRESH_HEADER}"
_LOOK_MAX = 4_096
"""So many characters are searched for the bracket that closes, before it is taken to be missing."""
_CLOSERS = {OBJECT: "}", ARRAY: "]"}
_BARE_RULE = "a key without quotes holds only A-Z, a-z, 0-9, `_` and `-`"


def parse(text: str) -> Tree:
    """The tree and the faults of a text without byte order mark; raises nothing.

    The root is an object that spans the whole text. A repeated key or table keeps its first value. What stands below a header
    that is refused is not in the tree. A member whose value is broken is there: BROKEN, or a container of what could be read.
    """
    return _Reader(text).read()


class _Open:
    """An array or inline table that is not closed yet: its depth, and the key whose value is read."""

    __slots__ = ("keys", "level", "node")

    def __init__(self, node: Node, level: int) -> None:
        self.node = node
        self.level = level
        self.keys: Keys = []


class _Lost(Exception):  # noqa: N818 - it is caught one call further out and never seen outside
    """The value is broken at `at`. Reading goes on there, if `fresh`, else where the brackets in `opened` have been closed."""

    def __init__(self, at: int, opened: list[_Open], *, fresh: bool = False) -> None:
        self.at = at
        self.opened = opened
        self.fresh = fresh


class _Reader(Tables):
    """One pass over one text.

    `looked` is how far `_look` has looked. `tail` is the start of a line and a pattern: if that line matches it, it is no
    statement but the rest of the broken one above.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.looked = 0
        self.tail: tuple[int, str] | None = None

    def read(self) -> Tree:
        text, position, length = self.text, 0, len(self.text)
        table, index, faults = self.table, self.table.index, self.faults
        while position < length and len(faults) < FAULTS_MAX:
            match = _statement(text, position)
            kind = match.lastindex if match else 0
            if match is None or kind == 1:
                self.told = False
                position = self._slow(position) if match is None else self._member(self._split(*match.span(1)), match.end())
                table, index = self.table, self.table.index
                continue
            position = match.end()
            if kind == 2:  # noqa: PLR2004
                start, end = match.span(2)
                node = Node(STRING, start - 1, end + 1, match[2])
            elif kind == 3:  # noqa: PLR2004
                node = Node(NUMBER, *match.span(3), int(match[3]))
            elif kind == 4:  # noqa: PLR2004
                node = Node(BOOLEAN, *match.span(4), match[4] == "true")
            else:
                self.told = False
                self._header(match[5] is not None, self._split(*match.span(6)))
                table, index = self.table, self.table.index
                continue
            self.end = node.end
            key, (start, end) = match[1], match.span(1)
            if key in index:
                self.told = False
                self._repeated(index[key], start, end)
            else:
                member = index[key] = Member(key, start, end, node)
                table.value.append(member)
        self._finish()
        return Tree(self.root, self.faults, newer=self.newer)

    # Statements

    def _blanks(self, position: int) -> int:
        """Past spaces and tabs."""
        match = re.compile(r"[ \t]*+").match(self.text, position)
        return match.end() if match else position

    def _slow(self, position: int) -> int:
        """A statement that is not plain, or a mistake, or blanks up to the end. Moves on to the start of the next line."""
        text = self.text
        position = re.compile(_BLANK).match(text, position).end()  # type: ignore[union-attr]  # it matches the empty string
        found = text[position : position + 1]
        if not found:
            return position
        if found == "#":
            return self._line_end(position, "")
        if self._is_tail(position):
            return self._after_brackets(position, [])
        if found == "[":
            return self._slow_header(position)
        match = re.compile(PATH).match(text, position)
        if match is None:
            self._unexpected(position, "a key or a `[header]`", _BARE_RULE)
            return self._after_brackets(position, [])
        keys = self._split(*match.span())
        position = self._equals(match.end())
        return self._member(keys, position) if position > 0 else self._after_brackets(-position, [])

    def _is_tail(self, position: int) -> bool:
        tail, self.tail = self.tail, None
        if tail is None or tail[0] > position or self.text[tail[0] : position].strip(" \t"):
            return False
        return bool(re.compile(tail[1]).match(self.text, position)) and not re.compile(_FRESH).match(self.text, position)

    def _equals(self, position: int) -> int:
        """Past the `=` after a key; where there is none, minus the place (a key stands before it, so it is not 0)."""
        position = self._blanks(position)
        found = self.text[position : position + 1]
        if found != "=":
            self._unexpected(position, "`=` after the key" if found != "." else "a key on either side of the dot", _BARE_RULE)
            if found != ":":  # which is how JSON and YAML write it
                return -position
        return self._blanks(position + 1)

    def _member(self, keys: Keys, position: int) -> int:
        """The value of a key and the rest of its line."""
        level = self.level + len(keys) - 1
        if level >= DEPTH_MAX:
            self._fault(*keys[-1][1:], TOO_DEEP)
            return self._after_brackets(position, [])
        self.looked = position
        try:
            node, after = self._value(position, level)
        except _Lost as lost:
            brackets = [_CLOSERS[frame.node.kind] for frame in lost.opened]
            after = lost.at if lost.fresh else self._after_brackets(lost.at, brackets)
            end = position + len(self.text[position : lost.at].rstrip(" \t\r\n"))
            node = Node(BROKEN, position, end, self.text[position:end])
            if lost.opened:
                node = lost.opened[0].node
                while lost.opened:
                    inner = lost.opened.pop().node
                    inner.end = end
                    if lost.opened:
                        self._attach(lost.opened[-1], inner)
            self.end = end
        else:
            self.end = node.end
            after = self._line_end(after, "value")
        self._put(self.table, keys, node)
        return after

    def _line_end(self, position: int, thing: str) -> int:
        match = _end(self.text, position)
        if match:
            return match.end()
        position = self._blanks(position)
        if self.text.startswith("#", position):
            position = re.compile(_COMMENT).match(self.text, position).end()  # type: ignore[union-attr]  # it matches at any `#`
            self._unexpected(position, "the end of the line", "a comment holds no control character but tab")
            return self._next_line(position)
        self._unexpected(position, f"a newline or a comment after the {thing}")
        return self._after_brackets(position, []) if thing == "value" else self._next_line(position)

    def _after_brackets(self, position: int, brackets: list[str]) -> int:
        return self._scan(position, brackets, re.compile(_FRESH), len(self.text))[0]

    def _scan(self, position: int, brackets: list[str], stop: re.Pattern[str], limit: int) -> tuple[int, bool]:
        """Where the line begins that follows once `brackets`, and those opened since, are closed; and whether they are.

        An earlier line that `stop` matches ends the search, and so does `limit`. Strings and comments are passed over.
        """
        text, last = self.text, ""
        for match in re.compile(rf"{ANY_STRING}|#[^\n]*+|[^\"'#\[\]{{}}\n]++|[\[\]{{}}\n]").finditer(text, position, limit):
            found = text[match.start()]
            if found == "\n":
                end = match.end()
                if not brackets:
                    return end, True
                within = brackets[-1] == "}" and last in ("{", ",")  # there a key is the next member's, not a statement's
                if not within and stop.match(text, end):
                    return end, False
            elif found in "[{":
                brackets.append("]" if found == "[" else "}")
            elif found in "]}" and brackets:
                brackets.pop()
            if found not in "#\n":
                last = match[0].rstrip(" \t\r")[-1:] or last
        return limit, limit == len(text) and not brackets

    # Headers and tables

    def _slow_header(self, position: int) -> int:
        text = self.text
        many = text.startswith("[[", position)
        at = self._blanks(position + 1 + many)
        match = re.compile(PATH).match(text, at)
        if match is None:
            self._unexpected(at, "the name of a table", _BARE_RULE)
            self._header(many, [])
            return self._next_line(at)
        at = self._blanks(match.end())
        closer = "]]" if many else "]"
        keys = self._split(*match.span())
        if text.startswith(closer, at):
            self._header(many, keys)
            return self._line_end(at + len(closer), "header")
        self._unexpected(at, f"`{closer}` at the end of the header")
        self.tail = (self._next_line(at), r"\]")
        # Where only brackets are missing the name is certain, and what stands below belongs to it.
        self._header(many, keys if text[at : at + 1] in ("", "\r", "\n", "#", "]") else [])
        return self._next_line(at)

    # Values

    def _value(self, position: int, level: int) -> tuple[Node, int]:
        """The value at `position`, below `level` containers, and where it ends."""
        text = self.text
        opened: list[_Open] = []
        outer: Node | None = None
        while True:
            found = text[position : position + 1]
            if found == "[" or found == "{":  # noqa: PLR1714 - the quicker way to ask
                level = opened[-1].level + (len(opened[-1].keys) or 1) if opened else level + 1
                if level > DEPTH_MAX:
                    self._fault(position, position + 1, TOO_DEEP)
                    raise _Lost(position, opened)
                node = Node(ARRAY, position, position, []) if found == "[" else Table(position, position, INLINE)
                outer = outer or node
                opened.append(_Open(node, level))
                position = self._separators(position + 1, opened, ready=True)
            else:
                node, position = self._scalar(position, opened)
                if outer is None:
                    return node, position
                self._attach(opened[-1], node)
                position = self._separators(position, opened, ready=False)
            if not opened and outer is not None:
                return outer, position

    def _attach(self, frame: _Open, node: Node) -> None:
        if frame.keys:
            self._put(frame.node, frame.keys, node)  # type: ignore[arg-type]  # only inline tables have keys, and they are such
            frame.keys = []
        elif frame.node.kind == ARRAY and node.end > node.start:
            frame.node.value.append(node)

    def _separators(self, position: int, opened: list[_Open], *, ready: bool) -> int:
        """Past commas and closing brackets to where the next value must stand, or to the end of the outermost container.

        `ready` says that a value may follow at once, because a bracket has just been opened.
        """
        text, comma = self.text, -1
        while opened:
            frame = opened[-1]
            node = frame.node
            closer = _CLOSERS[node.kind]
            before = position
            position = _gap(text, position).end()  # type: ignore[union-attr]  # it matches the empty string
            found = text[position : position + 1]
            if not found:
                raise self._unclosed(frame, "the end of the file", position, opened)
            if node.kind == OBJECT and position > before:
                self._several_lines(before, position, opened, ready)
            if found == closer:
                if comma >= 0 and ready and node.kind == OBJECT:
                    self._newer(comma, comma + 1, "a comma at the end of an inline table")
                position += 1
                node.end = position
                opened.pop()
                if opened:
                    self._attach(opened[-1], node)
                ready = False
            elif found == ",":
                if ready:
                    self._unexpected(position, "a value or `]`" if node.kind == ARRAY else "a key or `}`")
                comma, ready = position, True
                position += 1
            elif ready:
                return position if node.kind == ARRAY else self._inline_key(position, opened)
            else:
                self._look(position, opened)
                self._unexpected(position, f"`,` or `{closer}`")
                if found in "]}":
                    raise _Lost(position, opened)
                ready = True
        return position

    def _inline_key(self, position: int, opened: list[_Open]) -> int:
        """Past a key and its `=` in an inline table."""
        simple = _simple_key(self.text, position)
        if simple:
            opened[-1].keys = [(simple[1], *simple.span(1))]
            return simple.end()
        match = re.compile(PATH).match(self.text, position)
        if match is None:
            self._look(position, opened)
            self._unexpected(position, "a key or `}`", _BARE_RULE)
            raise _Lost(position, opened)
        opened[-1].keys = self._split(*match.span())
        after = self._equals(match.end())
        if after < 0:
            opened[-1].keys = []
            raise _Lost(-after, opened)
        return after

    def _several_lines(self, before: int, position: int, opened: list[_Open], ready: bool) -> None:
        """An inline table that goes on in the next line, unless that looks like a statement below a table never closed."""
        start = self._blanks(before)
        if start < position:
            self._look(position, opened, headers_only=ready)
            end = start + (self.text[start] == "#")
            self._newer(start, end, "a line end in an inline table")

    def _scalar(self, position: int, opened: list[_Open]) -> tuple[Node, int]:
        text = self.text
        found = text[position : position + 1]
        if found == '"' or found == "'":  # noqa: PLR1714 - the quicker way to ask
            match = _simple_string(text, position)
            if match:
                return Node(STRING, position, match.end(), match[1]), match.end()
            node, wrong = read_string(text, position)
            if wrong and not self.told:
                self._fault(*wrong)
                self.tail = (self._next_line(node.end), rf"[^\n]*{found}")
            self._escapes(position, node.end)
            return node, node.end
        match = re.compile(WORD).match(text, position)
        if match:
            word = match[0]
            kind, value, message = read_word(word)
            if kind == BROKEN:
                self._look(position, opened)
            elif kind == DATETIME and lacks_seconds(word):
                self._newer(position, match.end(), "a time without seconds")
            if (message or kind == BROKEN) and not self.told:
                if opened and re.compile(r"[ \t]*+=").match(text, match.end()):
                    message = f"expected a value, found the key {show(word)}; in an array `key = value` stands in braces"
                self._fault(position, match.end(), message or why_broken(word))
            return Node(kind, position, match.end(), value), match.end()
        self._look(position, opened)
        closer = _CLOSERS[opened[-1].node.kind] if opened else ""
        self._unexpected(position, "a value" + (" or `]`" if closer == "]" else ""))
        if not opened:
            self.tail = (self._next_line(position), r"[\"'\[{0-9+-]|(?:true|false|inf|nan)\b")
        if opened and found and found in "]}" and found != closer:
            raise _Lost(position, opened)
        # Nothing else stops the reading of a container at these two, so they are passed here.
        end = position + 1 if found and found in "=\r" else position
        return Node(BROKEN, end, end, ""), end

    def _look(self, position: int, opened: list[_Open], *, headers_only: bool = False) -> None:
        """Where something is wrong in a container: if this line looks like a statement, the container was never closed."""
        line = self.text.rfind("\n", self.looked, position) + 1
        self.looked = position
        if not (opened and line):
            return
        if re.compile(_FRESH_HEADER if headers_only else _FRESH).match(self.text, line):
            brackets = [_CLOSERS[frame.node.kind] for frame in opened]
            after, closed = self._scan(position, brackets, re.compile(_FRESH_HEADER), min(position + _LOOK_MAX, len(self.text)))
            if closed and not headers_only:
                self.looked = after - 1
                return
            frame = next((frame for frame in reversed(opened) if frame.node.start < line), opened[0])
            raise self._unclosed(frame, f"line {self._line(line)}", line, opened)

    def _unclosed(self, frame: _Open, before: str, at: int, opened: list[_Open]) -> _Lost:
        start, closer = frame.node.start, _CLOSERS[frame.node.kind]
        self._fault(start, start + 1, f"this `{self.text[start]}` is not closed: expected `{closer}` before {before}")
        return _Lost(at, opened, fresh=True)

    # What to say

    def _unexpected(self, position: int, wanted: str, rule: str = "") -> None:
        """A fault at whatever stands at `position`; `rule` is told where a character is what is wrong."""
        if self.told:
            return
        end, shown = found_at(self.text, position)
        told = f"; {rule}" if rule and end > position and self.text[position] not in "\r#=,.:[]{}" else ""
        self._fault(position, end, f"expected {wanted}, found {shown}{told}")
