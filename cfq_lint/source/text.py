"""Positions: from an offset in a text to the line and column that an editor shows, and the line itself."""

from __future__ import annotations

from bisect import bisect_right

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.source.dialect import Dialect


class Lines:
    """A text by its lines. The line starts are found when the first position is asked for.

    Ends of lines are LF, CR LF or a lone CR. `dialect` is how a file speaks that is no wrangler file; None for one that is.
    """

    __slots__ = ("_starts", "dialect", "text")

    def __init__(self, text: str, dialect: Dialect | None = None) -> None:
        self.text = text
        self.dialect = dialect
        self._starts: list[int] | None = None

    def __reduce__(self) -> tuple[type[Lines], tuple[str, Dialect | None]]:
        return Lines, (self.text, self.dialect)

    @property
    def starts(self) -> list[int]:
        """Offsets at which lines start; the first is 0."""
        if self._starts is None:
            self._starts = _line_starts(self.text)
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, both 1-based, of an offset; one outside of the text is taken to its nearest end."""
        offset = min(max(offset, 0), len(self.text))
        starts = self.starts
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a 1-based line, without its line end. Raises IndexError for a line that does not exist."""
        starts = self.starts
        stop = starts[number] if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : stop].rstrip("\r\n")


class Place:
    """Where something stands in a file: a frozen value by agreement, written out because a run makes many and resolves few.

    `path` is the file as it was named to the run, with forward slashes. `start` and `end` are offsets into the text in code
    points (a byte order mark is not part of the text and has the offset -1), `end` exclusive. `lines` is that text.
    """

    __slots__ = ("end", "lines", "path", "start")

    def __init__(self, path: str, lines: Lines, start: int, end: int) -> None:
        self.path = path
        self.lines = lines
        self.start = start
        self.end = end

    def __reduce__(self) -> tuple[type[Place], tuple[str, Lines, int, int]]:
        return Place, (self.path, self.lines, self.start, self.end)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Place):
            return NotImplemented
        return (self.path, self.start, self.end) == (other.path, other.start, other.end)

    def __hash__(self) -> int:
        return hash((self.path, self.start, self.end))

    def __repr__(self) -> str:
        return f"Place({self.path}:{self.line}:{self.column}-{self.end_line}:{self.end_column})"

    @property
    def line(self) -> int:
        """1-based line of the start."""
        return self.lines.position(self.start)[0]

    @property
    def column(self) -> int:
        """1-based column of the start, in code points."""
        return self.lines.position(self.start)[1]

    @property
    def end_line(self) -> int:
        """1-based line of the end."""
        return self.lines.position(self.end)[0]

    @property
    def end_column(self) -> int:
        """1-based column of the end, exclusive, in code points."""
        return self.lines.position(self.end)[1]

    @property
    def address(self) -> str:
        """The address of the resource there, in a Terraform plan; else ""."""
        return self.lines.dialect.address(self.start) if self.lines.dialect is not None else ""

    @property
    def excerpt(self) -> str:
        """The whole line of the start, without its line end."""
        return self.lines.line(self.line)


class Text:
    """A text under a name, and places in it."""

    __slots__ = ("lines", "path", "text")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self.lines = Lines(text)

    def place(self, start: int, end: int) -> Place:
        """The place of a range of offsets."""
        return Place(self.path, self.lines, start, end)


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
