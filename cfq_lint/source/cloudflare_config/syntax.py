"""A module of TypeScript as tree-sitter reads it: loaded where such a file is read, and nowhere else."""

from __future__ import annotations

import re

from cfq_lint.source.javascript import TYPESCRIPT, tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

WRAPPERS = frozenset({
    "as_expression", "await_expression", "non_null_expression", "parenthesized_expression", "satisfies_expression",
    "type_assertion",
})  # fmt: skip
FUNCTIONS = frozenset({"arrow_function", "function_declaration", "function_expression", "method_definition"})
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}


class Source:
    """One module: its root, and spans in code points."""

    __slots__ = ("_points", "root", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        data = text.encode("utf-8", "surrogatepass")
        self.root = tree(TYPESCRIPT, data)
        self._points: list[int] | None = None
        if len(data) != len(text):  # bytes to code points: a byte that starts none belongs to the one before
            points, count = [], -1
            for byte in data:
                count += (byte & 0xC0) != 0x80  # noqa: PLR2004 - a continuation byte of UTF-8
                points.append(count)
            self._points = [*points, len(text)]

    def span(self, node: Any) -> tuple[int, int]:
        """Start and end of a node, the end exclusive."""
        if self._points is None:
            return node.start_byte, node.end_byte
        return self._points[node.start_byte], self._points[node.end_byte]


def comments(text: str) -> list[tuple[int, int]]:
    """The spans of all comments."""
    source = Source(text)
    return [source.span(node) for node in walk(source.root) if node.type == "comment"]


def walk(node: Any) -> Iterator[Any]:
    """A node and all below it, in the order of the text."""
    waiting = [node]
    while waiting:
        at = waiting.pop()
        yield at
        waiting += reversed(at.children)


def text_of(node: Any) -> str:
    """The text of a node."""
    return str(node.text.decode("utf-8", "replace"))


def unwrapped(node: Any) -> Any:
    """The value within `(…)`, `await …`, `… as T`, `<T>…`, `… satisfies T` and `…!`."""
    while node.type in WRAPPERS:
        named = [each for each in node.named_children if each.type != "comment"]
        if not named:
            break
        node = named[-1] if node.type == "type_assertion" else named[0]
    return node


def unescaped(text: str) -> str:
    """What an escape sequence of a string stands for."""
    if match := re.fullmatch(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})", text):
        point = int(match[1] or match[2] or match[3], 16)
        return chr(point) if point <= 0x10FFFF else "\ufffd"  # noqa: PLR2004 - the last code point
    return _ESCAPES.get(text[1:], text[1:])


def number_of(text: str) -> int | float | None:
    """The value of a number as it is written; None for a BigInt and what is none."""
    plain = text.replace("_", "").lower()
    try:
        if plain.startswith(("0x", "0o", "0b")):
            return int(plain, 0)
        value = float(plain)
    except ValueError:
        return None
    return int(value) if re.fullmatch(r"[0-9]+", plain) and len(plain) < 16 else value  # noqa: PLR2004 - whole in a double


def name_of(node: Any) -> str | None:
    """The name of a property that stands in no brackets."""
    if node.type in {"property_identifier", "identifier", "shorthand_property_identifier", "number"}:
        return text_of(node)
    if node.type == "string":
        return string_of(node)
    return None


def string_of(node: Any) -> str:
    """What a string says."""
    return "".join(
        unescaped(text_of(part)) if part.type == "escape_sequence" else text_of(part) for part in node.named_children
    )
