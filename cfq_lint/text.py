"""Positions: from an offset in a text to the line and column that an editor shows, and the line itself."""

from __future__ import annotations

from bisect import bisect_right

from cfq_lint.record import record


@record
class Place:
    """Where something stands in a file.

    `path` is the file as it was named to the run, with forward slashes. `start` and `end` are offsets into the text in code points
    (a byte order mark is not part of the text), `end` exclusive. `line` and `column` are 1-based, columns count code points;
    `end_line` and `end_column` are where the range stops, exclusive. `excerpt` is the whole first line, without its line end.
    """

    path: str
    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int
    excerpt: str = ""


class Lines:
    """The line starts of a text, found once when the first position is asked for. Ends of lines are LF, CR LF or a lone CR."""

    __slots__ = ("_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts: list[int] | None = None

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
        starts = self.starts
        stop = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : stop].rstrip("\r\n")

    def place(self, path: str, start: int, end: int) -> Place:
        """The place of a range of offsets; both are clamped to the text."""
        start = min(max(start, 0), len(self.text))
        end = min(max(end, start), len(self.text))
        line, column = self.position(start)
        end_line, end_column = self.position(end)
        return Place(path, start, end, line, column, end_line, end_column, self.line(line))


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
