"""What Workers write with `console`: remembered by the Worker, and logged."""

from __future__ import annotations

import logging
from typing import NamedTuple

_log = logging.getLogger("emulator.worker")
_log.addHandler(logging.NullHandler())  # who wants to see it asks for it
_LEVELS = {"debug": logging.DEBUG, "warn": logging.WARNING, "error": logging.ERROR}


class Line(NamedTuple):
    """What a Worker wrote with `console`: `level` (log, info, debug, warn, error, trace) and `text`."""

    level: str
    text: str


def log(line: Line) -> None:
    """Give a line to the logger `emulator.worker`."""
    _log.log(_LEVELS.get(line.level, logging.INFO), "%s", line.text)
