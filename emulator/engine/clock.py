"""The only module that reads time. Virtual time stands still until somebody moves it; wall and scaled time run on their own."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
SECOND_US = 1_000_000


class Clock(Protocol):
    """Tells the time in whole microseconds since 1970."""

    def now_us(self) -> int:
        """The present moment."""


class VirtualClock:
    """Moves only when `move_to` is called, and never back."""

    __slots__ = ("_now_us",)

    def __init__(self, start_us: int) -> None:
        self._now_us = start_us

    def now_us(self) -> int:
        """The moment to which the clock was moved last."""
        return self._now_us

    def move_to(self, moment_us: int) -> None:
        """Go to a later moment. Raises ValueError for an earlier one."""
        if moment_us < self._now_us:
            message = f"time cannot go back: from {moment(self._now_us)} to {moment(moment_us)}"
            raise ValueError(message)
        self._now_us = moment_us


class WallClock:
    """The computer's own time."""

    __slots__ = ()

    def now_us(self) -> int:
        """What the computer says."""
        return time.time_ns() // 1_000


class ScaledClock:
    """Runs `speed` times as fast as the computer's time, from `start_us` on."""

    __slots__ = ("_real_ns", "_speed", "_start_us")

    def __init__(self, start_us: int, speed: float) -> None:
        self._start_us, self._speed, self._real_ns = start_us, speed, time.monotonic_ns()

    def now_us(self) -> int:
        """The start, and the real time since then, scaled."""
        return self._start_us + round((time.monotonic_ns() - self._real_ns) * self._speed / 1_000)


def real_seconds() -> float:
    """Real seconds that only run forward, to bound a wait for something outside the emulator."""
    return time.monotonic()


def wait_really(seconds: float) -> None:
    """Let real time pass: for a client that asks again and again, never for the emulator itself."""
    time.sleep(seconds)


def moment(at_us: int) -> datetime:
    """An aware datetime in UTC."""
    return EPOCH + timedelta(microseconds=at_us)


def moment_us(start: datetime | str) -> int:
    """Microseconds since 1970 of a datetime or an ISO string; without a zone it is UTC. Raises ValueError for another text."""
    when = datetime.fromisoformat(start) if isinstance(start, str) else start
    return ((when if when.tzinfo else when.replace(tzinfo=UTC)) - EPOCH) // MICROSECOND


def span_us(span: float | timedelta, rest_us: float = 0.0) -> tuple[int, float]:
    """Whole microseconds of seconds or of a timedelta, and the rest that rounding left, so that thirds add up to a whole.

    Raises ValueError for a negative span, TypeError for what is no number.
    """
    if type(span) is int and span >= 0:
        return span * SECOND_US, rest_us
    if (span.total_seconds() if isinstance(span, timedelta) else span) < 0:
        message = f"time cannot go back: {span!r} is negative"
        raise ValueError(message)
    if isinstance(span, timedelta):
        return span // MICROSECOND, rest_us
    exact_us = span * SECOND_US + rest_us
    whole_us = max(0, round(exact_us))
    return whole_us, exact_us - whole_us
