"""Text for terminals and pages: what cannot be printed is escaped, and lines are wrapped below each other."""

from __future__ import annotations

import textwrap


def printable(text: str) -> str:
    """The text with characters that cannot be printed, such as those that steer a terminal, written out."""
    return text if text.isprintable() else "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def wrapped(text: str, width: int, first: str, rest: str | None = None) -> list[str]:
    """Lines of at most `width` columns; the first begins with `first`, the others with `rest` or as many blanks."""
    rest = " " * len(first) if rest is None else rest
    text = printable(text)
    if len(first) + len(text) <= width:
        return [first + text]
    return textwrap.wrap(text, width, initial_indent=first, subsequent_indent=rest, break_on_hyphens=False)
