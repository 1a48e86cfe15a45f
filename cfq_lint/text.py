"""Positions: from an offset in a text to the line and column that an editor shows, and the line itself."""

from __future__ import annotations

from bisect import bisect_right


class Place:
    """Where something stands in a file. Frozen by agreement: the class is written out because a run makes many.

    `path` is the file as it was named to the run, with forward slashes. `start` and `end` are offsets into the text in code
    points (a byte order mark is not part of the text), `end` exclusive. `line` and `column` are 1-based, columns count code
    points; `end_line` and `end_column` are where the range stops, exclusive. `excerpt` is the whole first line, without its line
    end.
    """

    __slots__ = ("column", "end", "end_column", "end_line", "excerpt", "line", "path", "start")

    def __init__(
        self, path: str, start: int, end: int, line: int, column: int, end_line: int, end_column: int, excerpt: str = ""
    ) -> None:
        self.path = path
        self.start = start
        self.end = end
        self.line = line
        self.column = column
        self.end_line = end_line
        self.end_column = end_column
        self.excerpt = excerpt

    def __reduce__(self) -> tuple[type[Place], tuple[object, ...]]:
        return Place, self._values()

    def __eq__(self, other: object) -> bool:
        return self._values() == other._values() if isinstance(other, Place) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.path, self.start, self.end))

    def __repr__(self) -> str:
        return f"Place({', '.join(map(repr, self._values()))})"

    def _values(self) -> tuple[object, ...]:
        where = (self.path, self.start, self.end, self.line, self.column, self.end_line, self.end_column)
        return (*where, self.excerpt)


class Lines:
    """The line starts of a text, found once when the first position is asked for. Ends of lines are LF, CR LF or a lone CR."""

    __slots__ = ("_lines", "_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] | None = None
        self._lines: dict[int, str] = {}

    @property
    def starts(self) -> list[int]:
        """Offsets at which lines start; the first is 0."""
        if self._starts is None:
            self._starts = _line_starts(self.text)
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both 1-based, of an offset within 0..len(text)."""
        starts = self.starts
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a 1-based line, without its line end. Raises IndexError for a line that does not exist."""
        found = self._lines.get(number)
        if found is None:
            starts = self.starts
            stop = starts[number] if number < len(starts) else len(self.text)
            found = self._lines[number] = self.text[starts[number - 1] : stop].rstrip("\r\n")
        return found

    def place(self, path: str, start: int, end: int) -> Place:
        """The place of a range of offsets; both are clamped to the text."""
        length = len(self.text)
        start = 0 if start < 0 else min(start, length)
        end = min(max(end, start), length)
        starts = self.starts
        line = bisect_right(starts, start)
        first = starts[line - 1]
        end_line = line if end < (starts[line] if line < len(starts) else length + 1) else bisect_right(starts, end)
        end_column = end - starts[end_line - 1] + 1
        return Place(path, start, end, line, start - first + 1, end_line, end_column, self.line(line))


def _line_starts(text: str) -> list[int]:
    starts = [0]
    offset = 0
    for piece in text.split("\n"):
        # A CR that ends a piece belongs to CR LF; any other CR ends a line of its own.
        if "\r" in piece:
            lone = piece.find("\r")
            while 0 <= lone < len(piece) - 1:
                starts.append(offset + lone + 1)
                lone = piece.find("\r", lone + 1)
        offset += len(piece) + 1
        starts.append(offset)
    starts.pop()
    if text.endswith("\r"):
        starts.append(len(text))
    return starts
