"""How far a search has come, on a terminal: a few lines that are drawn again; elsewhere a plain line now and then."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING, TextIO

from emulator.engine.clock import real_seconds
from emulator.explore.story import deviations

if TYPE_CHECKING:
    from emulator.explore.found import Now

_DRAW_EVERY_SECONDS, _SAY_EVERY_SECONDS = 0.2, 10.0
_DIM, _BOLD, _RED, _GREEN, _PLAIN = "\x1b[2m", "\x1b[1m", "\x1b[31m", "\x1b[32m", "\x1b[0m"
_CLEAR_LINE, _UP = "\x1b[K", "\x1b[1A"
_COLUMNS_LEAST = 20


class Searching:
    """Hears of a search's progress, and shows it on a stream. `close` takes away what was drawn."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._colour = self._live and not os.environ.get("NO_COLOR")
        self._drawn = 0
        self._next_at = 0.0 if self._live else real_seconds() + _SAY_EVERY_SECONDS

    def __call__(self, _schedules: int, _seconds: float, now: Now) -> None:
        """So much is done."""
        at = real_seconds()
        if at < self._next_at:
            return
        self._next_at = at + (_DRAW_EVERY_SECONDS if self._live else _SAY_EVERY_SECONDS)
        if not self._live:
            print(" · ".join(text for text, _ in lines(now)[:2]), file=self._stream, flush=True)
            return
        self._wipe()
        width = max(_COLUMNS_LEAST, shutil.get_terminal_size().columns) - 1
        shown = [(_fitting(text, width), style) for text, style in lines(now)]
        told = [f"{style}{text}{_PLAIN}" if self._colour and style else text for text, style in shown]
        self._stream.write("\n".join(told) + "\n")
        self._stream.flush()
        self._drawn = len(told)

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._wipe()
        self._stream.flush()

    def _wipe(self) -> None:
        self._stream.write(f"{_UP}{_CLEAR_LINE}" * self._drawn)
        self._drawn = 0


def lines(now: Now) -> list[tuple[str, str]]:
    """What there is to say, a line each, with its style: how much and how fast, how far, what could go otherwise, the best."""
    rate = now.schedules / max(now.seconds, 1e-9)
    found = [(f"{now.schedules:,} schedules, {rate:,.0f} a second, {now.seconds:,.0f} s", _BOLD), (_depth(now), "")]
    kinds = sorted(now.points, key=lambda name: (-now.tried.get(name, 0), name))
    told = ", ".join(f"{name} {now.tried.get(name, 0):,} ({now.points[name]})" for name in kinds)
    if told:
        found.append((f"tried (places): {told}", _DIM))
    if now.spared:
        found.append((f"{now.spared:,} spared by {now.states:,} states seen", _DIM))
    found.append(
        (f"broken: {now.best}; making it shorter", _RED) if now.best is not None else ("nothing is broken yet", _GREEN)
    )
    return found


def _depth(now: Now) -> str:
    whole = {-1: "", 0: "the ordinary course holds"}.get(now.complete, f"exhaustive up to {deviations(now.complete)}")
    at = "random schedules" if now.depth < 0 else f"at {deviations(now.depth)}" if now.depth else "at the ordinary course"
    return f"{whole}, {at}" if whole else at


def _fitting(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
