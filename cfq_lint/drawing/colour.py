"""Colour for terminals: a style is a name, and no style changes what the text says."""

from __future__ import annotations

_CODES = {"error": "1;31", "warning": "1;33", "info": "1;36", "bold": "1", "dim": "2", "caret": "1;31", "good": "1;32"}


class Paint:
    """Gives text a style, or leaves it alone where there is no colour."""

    def __init__(self, *, colour: bool) -> None:
        self.colour = colour

    def __call__(self, style: str, text: str) -> str:
        """The text in that style."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colour and text else text
