"""Rates, durations and outages of a load, within bounds, and how they are shown. What is wrong is one line (ValueError)."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from cfq_lint.facts import quantities
from cfq_lint.facts.errors import WrongQuantity
from emulator.core.limits import SECOND_US

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

T = TypeVar("T")
_YEAR_SECONDS = 366 * 86_400
_MINUTE, _WHOLE_MINUTES, _HOURS_MAX, _WHOLE = 60, 600, 48, 100
_NEARLY_SECOND = 0.9995
_TIMES = ((1, "s"), (60, "min"), (3_600, "h"), (86_400, "day"))
_NEARLY_ONE = 1 - 1e-9
_UNITS = ((999.5e6, 1e9, "G"), (999.5e3, 1e6, "M"), (1e4, 1e3, "k"))
"""From where a number is written in which unit: three digits round 999,500 up to the next."""


def _read(read: Callable[[str], T], text: str, what: str) -> T:
    try:
        return read(text)
    except WrongQuantity as error:
        message = f"{what}: {error}"
        raise ValueError(message) from None


def rate(text: str) -> Fraction:
    """Messages a second: `500/s`, `30000/min`, `1M/day`; more than none. Raises ValueError."""
    a_second = _read(quantities.rate, text, "rate").limit_denominator(1_000_000_000)
    if not a_second:
        message = f"rate: {text!r} is no message at all; write 500/s or 1/h"
        raise ValueError(message)
    return a_second


def duration_us(text: str, what: str = "duration", *, least_us: int = 0) -> int:
    """Microseconds of `24h`, `90s`, `200ms`, `1d`, `1h30m`; at most a year. Raises ValueError."""
    total_us = _read(quantities.duration, text, what) * SECOND_US
    if not least_us <= total_us <= _YEAR_SECONDS * SECOND_US:
        message = f"{what}: {text!r} is not within {span(least_us)} and {span(_YEAR_SECONDS * SECOND_US)}"
        raise ValueError(message)
    return round(total_us)


def share(text: str, what: str = "failure") -> float:
    """A share from 0 to 1: `3%` or `0.03`. Raises ValueError."""
    return float(_read(quantities.share, text, what))


def size_bytes(text: str) -> int:
    """Bytes of `1KB` or `64000`; 1 KB is 1,000 bytes, as on Cloudflare's pages. Raises ValueError."""
    return _read(quantities.size, text, "size")


def outages(texts: list[str], duration: int) -> tuple[tuple[int, int], ...]:
    """From when until when, of `2h@6h` each: for two hours, six hours after the start. Raises ValueError."""
    found = []
    for text in texts:
        length, at, start = text.partition("@")
        if not at:
            message = f"outage {text!r}: expected how long and when it begins, such as 2h@6h"
            raise ValueError(message)
        start_us, length_us = duration_us(start, "start of the outage"), duration_us(length, "length of the outage", least_us=1)
        if start_us + length_us > duration:
            message = f"outage {text!r}: it ends {span(start_us + length_us)} after the start, the run after {span(duration)}"
            raise ValueError(message)
        found.append((start_us, start_us + length_us))
    found.sort()
    for one, other in pairwise(found):
        if other[0] < one[1]:
            message = f"two outages overlap at {span(other[0])}: give one that covers both"
            raise ValueError(message)
    return tuple(found)


def span(us: float) -> str:
    """A duration for people: `0.8 s`, `12 min`, `2 h 5 min`, `3 d`."""
    seconds = us / SECOND_US
    if seconds < _NEARLY_SECOND:
        return f"{seconds * 1_000:.3g} ms" if seconds else "0 s"
    if seconds < _MINUTE:
        return f"{seconds:.3g} s"
    minutes = round(seconds / 60, 1) if seconds < _WHOLE_MINUTES else round(seconds / 60)
    if minutes < _MINUTE:
        return f"{minutes:g} min"
    if minutes < _HOURS_MAX * 60:
        hours, rest = divmod(round(minutes), 60)
        return f"{hours} h" + (f" {rest} min" if rest else "")
    days, rest = divmod(round(minutes / 60), 24)
    return f"{days} d" + (f" {rest} h" if rest else "")


def rate_text(a_second: float) -> str:
    """A rate for people, for the shortest time in which a message comes: `500/s`, `2/min`, `1/day`."""
    for seconds, unit in _TIMES:
        if a_second * seconds >= _NEARLY_ONE:
            return f"{compact(a_second * seconds)}/{unit}"
    return f"{compact(a_second * _TIMES[-1][0])}/{_TIMES[-1][1]}"


def compact(value: float) -> str:
    """A number for people: `999`, `43.2M`, `1.5k`."""
    for least, one, unit in _UNITS:
        if abs(value) >= least:
            return f"{value / one:.3g}{unit}"
    return f"{value:,.0f}" if value == round(value) or abs(value) >= _WHOLE else f"{value:.3g}"
