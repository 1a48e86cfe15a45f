"""JSONC exactly as wrangler reads it: comments and trailing commas, in `.json` as well, and nothing else of JSON5.

wrangler reads both `.json` and `.jsonc` with Microsoft's jsonc-parser 3.2.0 and `{allowTrailingComma: true}`; a text is
accepted here if and only if it is accepted there, with the same value. What is beyond that: every value keeps its span, and a
broken text yields all its faults and the tree that can be saved.

The usual member, `"key": scalar,`, is one match of one regular expression. Possessive quantifiers and atomic groups keep every
match linear. No possessive quantifier stands behind a group: before Python 3.11.5 such a one keeps what a failed try has eaten
(python/cpython#106052). Whatever the fast expressions do not match is taken apart slowly, with a fault; after FAULTS_MAX faults
reading stops.

The module is longer than most: the fast way and the slow one share one reader's state.
"""

from __future__ import annotations

import re

from cfq_lint.source.node import (
    ARRAY,
    BOOLEAN,
    BROKEN,
    DEPTH_MAX,
    FAULTS_MAX,
    NULL,
    NUMBER,
    OBJECT,
    STRING,
    Fault,
    Member,
    Node,
    Tree,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_COMMENT = r"/(?:/[^\r\n]*+|\*(?s:.*?)\*/)"
# What is rare, a comment or an escape, is an alternative behind a look at one character: the usual text does not pay for it.
_TRIVIA = rf"[ \t\r\n]*+(?:(?!/)|(?>(?:{_COMMENT}[ \t\r\n]*+)+))"
_STRING = r'"[^"\\\x00-\x1f]*+(?:"|(?>(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)+)")'
_LITERAL = r"(?:-?(?:0|[1-9][0-9]*+)(?>(?:\.[0-9]++)?)(?>(?:[eE][+-]?[0-9]++)?)|true|false|null)(?![\w.$+-])"

# Groups of the two fast expressions: (key,) string, literal, separator, opening bracket.
_member = re.compile(
    rf"{_TRIVIA}({_STRING}){_TRIVIA}:{_TRIVIA}(?:(?:({_STRING})|({_LITERAL})){_TRIVIA}([,}}])?|([\[{{]))"
).match
_element = re.compile(rf"{_TRIVIA}(?:(?:({_STRING})|({_LITERAL})){_TRIVIA}([,\]])?|([\[{{]))").match
_trivia = re.compile(rf"(?>(?:[ \t\r\n]++|{_COMMENT})*)").match
_separated = re.compile(rf"{_TRIVIA}([,}}\]])").match

# What the slow path sees: a string as JSON5 has it, a string that its line never closes, a word, or any one character.
_WORD = (
    r'"(?>(?:[^"\\\r\n]++|\\(?:\r\n|[\s\S]))*)"'
    r"|'(?>(?:[^'\\\r\n]++|\\(?:\r\n|[\s\S]))*)'"
    r"|[\"'][^\r\n]*+"
    r"|[^\s\[\]{}\",:'/=#]++"
    r"|[\s\S]"
)
_JSON5_BLANKS = "\v\f\xa0\u2028\u2029\ufeff"
_LITERALS_ELSEWHERE = {"True": "true", "False": "false", "None": "null", "nil": "null", "undefined": "null"}
_SHOWN_MAX = 40

_CONSTANTS = {"true": (BOOLEAN, True), "false": (BOOLEAN, False), "null": (NULL, None)}
_CLOSERS = {OBJECT: "}", ARRAY: "]"}


def parse(text: str) -> Tree:
    """Read a text without byte order mark. Never raises; a broken text has faults, and a root of None if it holds no value."""
    return _Reader(text).read()


def comments(text: str) -> list[tuple[int, int]]:
    """The spans of all comments, line ends not included; an unclosed block comment runs to the end of the text."""
    # Strings are matched as well, so that comment marks inside them are passed over.
    pattern = re.compile(r'"(?>(?:[^"\\\r\n]++|\\.)*)"?|(//[^\r\n]*+|/\*(?s:.*?)(?:\*/|\Z))')
    return [match.span(1) for match in pattern.finditer(text) if match.group(1) is not None]


def _end(match: re.Match[str] | None) -> int:
    assert match is not None, "the pattern matches the empty string"
    return match.end()


def _unquote(token: str) -> str:
    if "\\" not in token:
        return token[1:-1]
    from json import loads  # json costs a cold start more than it serves

    value: str = loads(token)
    return value


def _number(token: str) -> int | float:
    try:
        return int(token)
    except ValueError:  # a fraction, an exponent, or more digits than int() takes
        return float(token)


def _literal(token: str, start: int, end: int) -> Node:
    constant = _CONSTANTS.get(token)
    if constant is not None:
        return Node(constant[0], start, end, constant[1])
    return Node(NUMBER, start, end, _number(token))


class _StopReading(Exception):  # noqa: N818 - not an error: there is nothing more to read, or nothing more worth saying
    """The text ended within a container, or FAULTS_MAX or DEPTH_MAX is reached."""


class _Reader:
    """One pass over one text.

    `stack` holds the open containers, the innermost last; `after_value` says whether a separator or an item comes next there.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.root: Node | None = None
        self.faults: list[Fault] = []
        self.stack: list[Node] = []
        self.after_value = False
        self.closer_is_swallowed = False
        self.repeats = False

    def read(self) -> Tree:
        try:
            position = self._skip(0)
            if position >= len(self.text):
                self._fault(0, 0, "there is no value in this file; expected `{`")
            else:
                self.root, position = self._value(position)
                while self.stack:
                    position = self._separator(position) if self.after_value else self._items(position)
                position = self._skip(position)
                if position < len(self.text):
                    self._fault(position, _line_end(self.text, position), "unexpected text after the end of the configuration")
        except _StopReading:
            while self.stack:
                self._close(len(self.text))
        return Tree(self.root, self.faults, repeats=self.repeats)

    def _fault(self, start: int, end: int, message: str, replacement: str | None = None, *, json5: bool = False) -> None:
        self.faults.append(Fault(start, end, message, replacement, json5=json5))
        if len(self.faults) >= FAULTS_MAX:
            raise _StopReading

    def _skip(self, position: int) -> int:
        """Past white space and comments; what only JSON5 or another language takes for such is a fault, and passed over too."""
        text = self.text
        while True:
            position = _end(_trivia(text, position))
            found = text[position : position + 1]
            if found == "#":
                end = _line_end(text, position)
                self._fault(position, end, "`#` starts no comment in JSONC; write `//`")
            elif text.startswith("/*", position):
                end = len(text)
                self.closer_is_swallowed = True
                self._fault(position, position + 2, "this comment is never closed; `*/` is missing")
            elif found and (found == "\ufeff" or found.isspace()):
                end = position + 1
                json5 = found in _JSON5_BLANKS
                message = f"U+{ord(found):04X} is no white space to wrangler; write a plain space"
                self._fault(position, end, message, " " if json5 else None, json5=json5)
            else:
                return position
            position = end

    def _open(self, position: int) -> Node:
        if len(self.stack) >= DEPTH_MAX:
            self._fault(position, position + 1, f"nested deeper than {DEPTH_MAX} levels; the file is not read further")
            raise _StopReading
        node = Node(OBJECT if self.text[position] == "{" else ARRAY, position, position + 1, [])
        if self.root is None:
            self.root = node
        self.stack.append(node)
        self.after_value = False
        return node

    def _opened(self, opener: str, position: int) -> Node:
        """A container within another, whose bracket ends there: `_open` for the many."""
        if len(self.stack) >= DEPTH_MAX:
            return self._open(position - 1)
        node = Node(OBJECT if opener == "{" else ARRAY, position - 1, position, [])
        self.stack.append(node)
        return node

    def _close(self, position: int) -> int:
        node = self.stack.pop()
        node.end = position
        if node.kind == OBJECT and len(node.value) > 1 and len({member.key for member in node.value}) < len(node.value):
            self.repeats = True
        self.after_value = True
        return position

    def _items(self, position: int) -> int:
        """Plain items of the innermost container and of those that open and close within it, until something is odd.

        All of it stands in one loop, since a run spends its time here; it does to plain text what `_open`, `_close` and
        `_separator` do to any.
        """
        text, stack = self.text, self.stack
        node = stack[-1]
        while True:
            if node.kind == OBJECT:
                match = _member(text, position)
                if match is None:
                    break
                key, string, literal, separator, opener = match.groups()
                start, end = match.span(1)
                position = match.end()
                member = Member(key[1:-1] if "\\" not in key else _unquote(key), start, end, node)
                node.value.append(member)
                if string is not None:
                    start, end = match.span(2)
                    member.node = Node(STRING, start, end, string[1:-1] if "\\" not in string else _unquote(string))
                elif opener is None:
                    start, end = match.span(3)
                    member.node = _literal(literal, start, end)
                else:
                    member.node = node = self._opened(opener, position)
                    continue
            else:
                match = _element(text, position)
                if match is None:
                    break
                string, literal, separator, opener = match.groups()
                position = match.end()
                if string is not None:
                    start, end = match.span(1)
                    node.value.append(Node(STRING, start, end, string[1:-1] if "\\" not in string else _unquote(string)))
                elif opener is None:
                    start, end = match.span(2)
                    node.value.append(_literal(literal, start, end))
                else:
                    value = self._opened(opener, position)
                    node.value.append(value)
                    node = value
                    continue
            if separator == ",":
                continue
            if separator is None:
                self.after_value = True
                return position
            position = self._close_all(position)
            if self.after_value:
                return position
            node = stack[-1]
        self.after_value = False
        return self._odd_item(position)

    def _close_all(self, position: int) -> int:
        """Close the innermost container and all that close right behind it; then past the comma, if one follows."""
        self._close(position)
        while self.stack:
            match = _separated(self.text, position)
            if match is None:
                return position
            separator = match.group(1)
            if separator == ",":
                self.after_value = False
                return match.end()
            if separator != _CLOSERS[self.stack[-1].kind]:
                return position
            position = self._close(match.end())
        return position

    def _separator(self, position: int) -> int:
        """Past the comma after a value, or past the bracket that closes the container."""
        match = _separated(self.text, position)
        if match is not None and match.group(1) == ",":
            self.after_value = False
            return match.end()
        position = match.end() - 1 if match is not None else self._skip(position)
        found = self.text[position : position + 1]
        closer = _CLOSERS[self.stack[-1].kind]
        if found == closer:
            return self._close(position + 1)
        if not found:
            self._end_of_text()
        if found == ":":
            self._fault(position, position + 1, f"unexpected `:`; expected `,` or `{closer}`")
            return position + 1
        self.after_value = False
        if found == ",":
            return position + 1
        if found not in "]}":  # a wrong bracket is for _odd_item to explain
            self._fault(position, position + 1, f"expected `,` or `{closer}` before {self._shown(position)}")
        return position

    def _odd_item(self, position: int) -> int:
        """An item that is not plain JSON, or the end of the container, or what cannot stand there. Always moves or closes."""
        position = self._skip(position)
        node = self.stack[-1]
        found = self.text[position : position + 1]
        closer = _CLOSERS[node.kind]
        if found == closer:
            return self._close(position + 1)
        if not found:
            self._end_of_text()
        if found in ",:":
            wanted = "a property name in double quotes" if node.kind == OBJECT else "a value"
            self._fault(position, position + 1, f"unexpected `{found}`; expected {wanted} or `{closer}`")
            return position + 1
        if found in "]}":
            opener = self.text[node.start]
            self._fault(
                position, position + 1, f"unexpected `{found}`; the `{opener}` that is open here is closed by `{closer}`"
            )
            # Where a container further out waits for this bracket, the inner one was forgotten; else there is one too many.
            if any(_CLOSERS[outer.kind] == found for outer in self.stack):
                return self._close(position)
            return position + 1
        if node.kind == OBJECT:
            return self._odd_member(node, position)
        value, position = self._value(position)
        node.value.append(value)
        self.after_value = self.stack[-1] is node
        return position

    def _odd_member(self, node: Node, start: int) -> int:
        name, end = self._key(start)
        position = self._skip(end)
        found = self.text[position : position + 1]
        if found == "=":
            self._fault(position, position + 1, "unexpected `=`; expected `:` between a property name and its value")
        elif not found or found in ",}]" or (found != ":" and "\n" in self.text[end:position]):
            self._fault(start, end, f"expected `:` and a value after the property name {name!r}")
            self.after_value = True
            return position
        elif found != ":":
            self._fault(position, position + 1, f"expected `:` before {self._shown(position)}")
            position -= 1
        position = self._skip(position + 1)
        found = self.text[position : position + 1]
        if not found or found in ",}]:":
            self._fault(start, end, f"expected a value for the property {name!r}")
            self.after_value = True
            return position
        value, position = self._value(position)
        node.value.append(Member(name, start, end, value))
        self.after_value = self.stack[-1] is node
        return position

    def _key(self, start: int) -> tuple[str, int]:
        plain = re.compile(_STRING).match(self.text, start)
        if plain is not None:
            return _unquote(plain.group()), plain.end()
        token, end = self._token(start)
        from cfq_lint.source.json5_tokens import explain_key, quote  # only a broken file needs it

        known = explain_key(token)
        if known is not None:
            name, what = known
            replacement = quote(name)
            self._fault(
                start, end, f"{what} is JSON5, which wrangler does not read; write {replacement}", replacement, json5=True
            )
            return name, end
        self._bad_token(start, end, token, "a property name in double quotes")
        return token.strip("\"'"), end

    def _value(self, start: int) -> tuple[Node, int]:
        """A scalar, or a container that is now open."""
        if self.text[start] in "{[":
            return self._open(start), start + 1
        plain = re.compile(_STRING).match(self.text, start)
        if plain is not None:
            return Node(STRING, start, plain.end(), _unquote(plain.group())), plain.end()
        plain = re.compile(_LITERAL).match(self.text, start)
        if plain is not None:
            return _literal(plain.group(), start, plain.end()), plain.end()
        token, end = self._token(start)
        from cfq_lint.source.json5_tokens import explain_value  # only a broken file needs it

        known = explain_value(token)
        if known is None:
            self._bad_token(start, end, token, "a value")
            return Node(BROKEN, start, end, token), end
        value, what, replacement = known
        advice = f"; write {replacement}" if replacement is not None else ", and JSON has no such number"
        self._fault(start, end, f"{what} is JSON5, which wrangler does not read{advice}", replacement, json5=True)
        return Node(STRING if isinstance(value, str) else NUMBER, start, end, value), end

    def _token(self, start: int) -> tuple[str, int]:
        """Something that no plain JSON starts with: a string of any kind, a word, or one character."""
        match = re.compile(_WORD).match(self.text, start)
        assert match is not None, "the last alternative takes any character"
        return match.group(), match.end()

    def _bad_token(self, start: int, end: int, token: str, wanted: str) -> None:
        if token[0] in "\"'" and (len(token) == 1 or token[-1] != token[0]):
            self.closer_is_swallowed |= "}" in token or "]" in token
            self._fault(start, end, "this string is never closed on its line")
        elif token[0] in "\"'":
            self._fault(start, end, "this string holds a character or an escape that JSON does not allow")
        elif token in _LITERALS_ELSEWHERE:
            self._fault(start, end, f"unexpected `{token}`; JSON writes it `{_LITERALS_ELSEWHERE[token]}`")
        else:
            self._fault(start, end, f"unexpected {self._shown(start)}; expected {wanted}")

    def _shown(self, position: int) -> str:
        token, _ = self._token(position)
        return f"`{token}`" if len(token) <= _SHOWN_MAX else f"`{token[:_SHOWN_MAX]}…`"

    def _end_of_text(self) -> NoReturn:
        if not self.closer_is_swallowed:
            start = self.stack[-1].start
            self._fault(start, start + 1, f"this `{self.text[start]}` is never closed")
        raise _StopReading


def _line_end(text: str, position: int) -> int:
    match = re.compile(r"[\r\n]|\Z").search(text, position)
    assert match is not None, "every text has an end"
    return match.start()
