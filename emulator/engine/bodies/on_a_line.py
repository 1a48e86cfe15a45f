"""A body as people read it in a table: one short line."""

from __future__ import annotations

from typing import Any

from emulator.engine.bodies import decode

CHARACTERS_MAX = 40


def on_a_line(body: bytes, content_type: str) -> str:
    """A stored body: JSON as it is, the others with their kind, cut where it is long; what cannot be seen is a dot."""
    if content_type == "json":
        text = body[: 4 * CHARACTERS_MAX].decode("utf-8", "replace")
    elif content_type == "text":
        text = repr(body[: 4 * CHARACTERS_MAX].decode("utf-8", "replace"))
    else:
        try:
            text = f"{content_type} {_own(decode(body, content_type))}"
        except RecursionError:  # it is nested more deeply than Python shows
            text = f"{content_type}, {len(body):,} bytes"
    text = "".join([character if character.isprintable() else "·" for character in text])
    return text if len(text) <= CHARACTERS_MAX else text[: CHARACTERS_MAX - 1] + "…"


def _own(value: Any) -> str:
    """A value's own text, of a part of it where it is large."""
    return repr(value[:CHARACTERS_MAX] if isinstance(value, str | bytes | list) else value)[: 2 * CHARACTERS_MAX]
