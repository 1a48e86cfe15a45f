"""Stacks for people: on the lines of the source, without frames of ours."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Container
    from pathlib import Path

    from emulator.workers.javascript.bundling.source_map import SourceMap

_OWN_FRAME = re.compile(r"\n +at (?:[^\n]*__cfq/[^\n]*|entry\.js:\d+:\d+)")
_OWN_FUNCTION = re.compile(r"(:\d+:\d+) in default$", re.MULTILINE)
"""The code of a module is evaluated in a function of ours."""


_OF_UNDEFINED = re.compile(r"Cannot read properties of undefined \(reading '([\w$]+)'\)")
_FRAME = re.compile(r"\n +at (?:[^\n]*\()?([^\n():]+):(\d+):\d+")


def naming_bindings(mapped: Callable[[str], str], folder: Path, names: Container[str], text: str) -> str:
    """A text on the lines of the source; where it is that of a binding which `env` has not, and `names` are all, it says so."""
    told = mapped(text)
    error = _OF_UNDEFINED.search(told)
    frame = None if error is None else _FRAME.match(told, error.end())
    if error is None or frame is None:
        return told
    try:
        line = (folder / frame[1]).read_text(encoding="utf-8").splitlines()[int(frame[2]) - 1]
    except (OSError, ValueError, IndexError):
        return told
    missing = [each for each in re.findall(rf"\benv\.([\w$]+)\.{re.escape(error[1])}\b", line) if each not in names]
    if not missing:
        return told
    return f"{told[: error.end()]}: env.{missing[0]} is not there, no binding has that name{told[error.end() :]}"


def on_source(source_map: SourceMap | None, module: str, first_line: int, text: str) -> str:
    """A text in which every place of the bundle is one of the source. `first_line` lines of ours stand before the bundle's."""
    if "\n" not in text and module not in text:
        return text
    own = _OWN_FUNCTION.sub(r"\1", _OWN_FRAME.sub("", text))

    def back(match: re.Match[str]) -> str:
        line, column = int(match[1]) - first_line, int(match[2])
        place = None if source_map is None else source_map.find(line, column)
        return f"{module}:{line}:{column}" if place is None else str(place)

    return re.sub(rf"(?<![\w./-])(?:file:///)?{re.escape(module)}:(\d+):(\d+)", back, own)
