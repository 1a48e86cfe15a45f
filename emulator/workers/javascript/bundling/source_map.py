"""Source maps (https://tc39.es/ecma426/): from a place in a bundle back to the user's file, line and column."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_DIGITS = {each: value for value, each in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}
_MORE, _BITS = 32, 5
_LINE, _WHOLE = 3, 4
"""A segment of one field belongs to no source; one of four or five says source, line and column."""


class Place(NamedTuple):
    """A place in a source; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class SourceMap:
    """A map, read when it is first asked. Sources are named from `folder` where they lie below it."""

    def __init__(self, file: Path, folder: Path) -> None:
        self.file, self.folder = file, folder

    @cached_property
    def _told(self) -> dict[str, Any]:
        told: dict[str, Any] = msgspec.json.decode(self.file.read_bytes())
        return told

    @cached_property
    def _rows(self) -> list[list[tuple[int, int, int, int]]]:
        return list(rows(self._told["mappings"]))

    def find(self, line: int, column: int) -> Place | None:
        """Where a place of the bundle (from 1) is in the sources; None for what is in none of them."""
        if not 1 <= line <= len(self._rows):
            return None
        row = self._rows[line - 1]
        at = bisect_right(row, column - 1, key=lambda segment: segment[0]) - 1
        if at < 0 or row[at][1] < 0:
            return None
        _, source, source_line, source_column = row[at]
        return Place(self._name(source), source_line + 1, source_column + 1)

    def _name(self, source: int) -> str:
        file = os.path.normpath(
            os.path.join(self.file.parent, self._told.get("sourceRoot") or "", self._told["sources"][source])
        )
        named = os.path.relpath(file, self.folder)
        return file if named.startswith(os.pardir) else named.replace(os.sep, "/")

    def mapped(self, stack: str, module: str) -> str:
        """A stack in which every place of that module is one of the sources."""

        def back(match: re.Match[str]) -> str:
            place = self.find(int(match[1]), int(match[2]))
            return match[0] if place is None else str(place)

        return re.sub(rf"(?<![\w./-])(?:file:///)?{re.escape(module)}:(\d+):(\d+)", back, stack)


def rows(mappings: str) -> Iterator[list[tuple[int, int, int, int]]]:
    """For each line of the bundle its segments in order: column, source (-1 for none), line and column there, from 0.

    Raises ValueError for what is no map.
    """
    source = line = column = 0
    for row in mappings.split(";"):
        here, found = 0, []
        for segment in filter(None, row.split(",")):
            fields = _numbers(segment)
            here += fields[0]
            if len(fields) >= _WHOLE:
                source, line, column = source + fields[1], line + fields[2], column + fields[_LINE]
                found.append((here, source, line, column))
            else:
                found.append((here, -1, 0, 0))
        yield sorted(found, key=lambda each: each[0])


@lru_cache(maxsize=16_384)
def _numbers(segment: str) -> tuple[int, ...]:
    """The numbers of a segment: base 64 digits, five bits each, the lowest first, and the sign in the lowest of all.

    Remembered: a map is made of a few segments that come again and again.
    """
    numbers, value, shift = list[int](), 0, 0
    for letter in segment:
        digit = _DIGITS.get(letter)
        if digit is None:
            message = f"{letter!r} is no digit of a source map"
            raise ValueError(message)
        value |= (digit & (_MORE - 1)) << shift
        shift += _BITS
        if not digit & _MORE:
            numbers.append(-(value >> 1) if value & 1 else value >> 1)
            value = shift = 0
    if shift:
        raise ValueError("a number of the source map has no end")
    return tuple(numbers)
