"""The line that a finding stands in, with carets under what is wrong, cut to the width of the terminal."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.drawing.colour import Paint
    from cfq_lint.source.text import Place

_TAB = "    "
_ELLIPSIS = "…"


def excerpt(place: Place, paint: Paint, width: int) -> list[str]:
    """Two lines: the source and the carets. None for a place without a line, such as an empty file."""
    lines = place.lines
    line_number, column = lines.position(place.start)
    end_number, end_column = lines.position(place.end)
    line = lines.line(line_number)
    if not line or line.isspace():
        return []
    number = str(line_number)
    gutter = f"  {number} | "
    start = column - 1
    end = end_column - 1 if end_number == line_number else len(line)
    room = width - len(gutter)
    line, start, end = _window(line, start, max(end, start + 1), room)
    before, marked = _printable(line[:start]), _printable(line[start:end])
    after = _printable(line[end:])
    carets = " " * _columns(before) + paint("caret", "^" * max(_columns(marked), 1))
    return [f"{paint('dim', gutter)}{before}{marked}{after}", f"{paint('dim', ' ' * (len(number) + 2) + ' | ')}{carets}"]


def _window(line: str, start: int, end: int, room: int) -> tuple[str, int, int]:
    """The part of a long line around what is marked, and where the mark is in it."""
    end = min(end, len(line)) if end > len(line) > start else end
    if len(line) <= room:
        return line, start, end
    first = max(0, min(start - room // 3, len(line) - room))
    cut = line[first : first + room]
    start, end = start - first, min(end - first, room)
    if first:
        cut = _ELLIPSIS + cut[1:]
    if first + room < len(line):
        cut = cut[:-1] + _ELLIPSIS
    return cut, start, end


def _printable(text: str) -> str:
    text = text.replace("\t", _TAB)
    return text if text.isprintable() else "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _columns(text: str) -> int:
    """How many columns of a terminal a text takes: wide characters take two, combining ones none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width  # most configurations are ASCII

    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
