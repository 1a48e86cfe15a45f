"""A plain text table: what reports and traces are printed as."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns of text under a ruled head."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]

    def drawn() -> Iterator[str]:
        for number, line in enumerate(lines):
            yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            if number == 0:
                yield "  ".join("-" * width for width in widths)

    return "\n".join(drawn())
