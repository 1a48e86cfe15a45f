"""Positions as editors count them: lines from 0, characters in units of UTF-16, UTF-8 or UTF-32, as both sides agreed.

https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/#position
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types

if TYPE_CHECKING:
    from cfq_lint.source.text import Lines, Place

_WIDTHS = {"utf-16": ("utf-16-le", 2), "utf-8": ("utf-8", 1), "utf-32": ("utf-32-le", 4)}


class Units:
    """Turns offsets in code points into positions of one encoding, and back.

    `shift` is for a text that an editor shows with its byte order mark, of `mark` units: our offsets do not count that.
    """

    def __init__(self, encoding: str = "utf-16") -> None:
        self.codec, self.width = _WIDTHS[encoding]
        self.mark = len("\ufeff".encode(self.codec)) // self.width

    def position(self, lines: Lines, offset: int, shift: int = 0) -> types.Position:
        """The position of an offset; one outside of the text is taken to its nearest end."""
        if offset < 0:
            return types.Position(0, 0)
        line, column = lines.position(offset)
        start = lines.starts[line - 1]
        before = lines.text[start : start + column - 1]
        units = len(before) if before.isascii() else len(before.encode(self.codec, "surrogatepass")) // self.width
        return types.Position(line - 1, units + (shift if line == 1 else 0))

    def offset(self, lines: Lines, position: types.Position, shift: int = 0) -> int:
        """The offset of a position; one behind the end of its line is that end, one within a character its start."""
        starts = lines.starts
        if position.line >= len(starts):
            return len(lines.text)
        text, character = lines.line(position.line + 1), position.character - (shift if position.line == 0 else 0)
        if text.isascii():
            return starts[position.line] + min(max(character, 0), len(text))
        units = 0
        for index, each in enumerate(text):
            units += len(each.encode(self.codec, "surrogatepass")) // self.width
            if units > character:
                return starts[position.line] + index
        return starts[position.line] + len(text)

    def range(self, place: Place, shift: int = 0) -> types.Range:
        """The range of a place."""
        return types.Range(self.position(place.lines, place.start, shift), self.position(place.lines, place.end, shift))
