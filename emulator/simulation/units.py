"""Rates, durations, shares and sizes as people write them. What is wrong is said in one line (ValueError)."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import pairwise

from emulator.core.limits import SECOND_US

_SECONDS = {"us": Fraction(1, SECOND_US), "ms": Fraction(1, 1_000), "s": Fraction(1), "sec": Fraction(1), "min": Fraction(60),
            "m": Fraction(60), "h": Fraction(3_600), "hour": Fraction(3_600), "d": Fraction(86_400), "day": Fraction(86_400),
            "w": Fraction(604_800)}  # fmt: skip
_MANY = {"": 1, "k": 1_000, "M": 1_000_000, "G": 1_000_000_000}
_NUMBER = r"(\d[\d_,]*(?:\.\d+)?)"
_YEAR_SECONDS = 366 * 86_400
_MINUTE, _WHOLE_MINUTES, _HOURS_MAX, _WHOLE = 60, 600, 48, 100


def number(text: str) -> Fraction:
    """A number with thousands separators."""
    return Fraction(text.replace("_", "").replace(",", ""))


def rate(text: str) -> Fraction:
    """Messages a second: `500/s`, `30000/min`, `1M/day`. Raises ValueError."""
    found = re.fullmatch(_NUMBER + r"\s*([kMG]?)\s*/\s*([a-z]+)", text.strip())
    if found is None or found[3] not in _SECONDS:
        message = f"rate {text!r}: expected a number and a unit of time, such as 500/s, 30000/min or 1M/day"
        raise ValueError(message)
    a_second = number(found[1]) * _MANY[found[2]] / _SECONDS[found[3]]
    if not a_second:
        message = f"rate {text!r}: expected more than 0 messages"
        raise ValueError(message)
    return a_second.limit_denominator(1_000_000_000)


def duration_us(text: str, what: str = "duration", *, least_us: int = 0) -> int:
    """Microseconds of `24h`, `90s`, `200ms`, `1d`, `1h30m`. Raises ValueError."""
    parts = re.findall(_NUMBER + r"\s*([a-z]+)\s*", text.strip())
    whole = "".join(re.findall(r"\S", text))
    if not parts or "".join(f"{n}{unit}" for n, unit in parts) != whole or any(unit not in _SECONDS for _, unit in parts):
        message = f"{what} {text!r}: expected a number and a unit, such as 24h, 90s, 200ms or 1d"
        raise ValueError(message)
    total = sum(number(n) * _SECONDS[unit] for n, unit in parts)
    if not least_us <= total * SECOND_US <= _YEAR_SECONDS * SECOND_US:
        message = f"{what} {text!r}: expected {span(least_us)} to {span(_YEAR_SECONDS * SECOND_US)}"
        raise ValueError(message)
    return round(total * SECOND_US)


def share(text: str, what: str = "failure") -> float:
    """A share from 0 to 1: `3%` or `0.03`. Raises ValueError."""
    found = re.fullmatch(r"(\d*\.?\d+)\s*(%?)", text.strip())
    value = None if found is None else float(found[1]) / (100 if found[2] else 1)
    if value is None or not 0 <= value <= 1:
        message = f"{what} {text!r}: expected a share from 0% to 100%, such as 3% or 0.03"
        raise ValueError(message)
    return value


def size_bytes(text: str) -> int:
    """Bytes of `1KB`, `64000`, `0.5 kB`; 1 KB is 1,000 bytes, as on Cloudflare's pages. Raises ValueError."""
    found = re.fullmatch(_NUMBER + r"\s*(k|kB|KB|MB|B|)", text.strip())
    if found is None:
        message = f"size {text!r}: expected bytes, such as 1KB or 64000"
        raise ValueError(message)
    return round(number(found[1]) * {"": 1, "B": 1, "MB": 1_000_000}.get(found[2], 1_000))


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
    if seconds < 1:
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


def compact(value: float) -> str:
    """A number for people: `999`, `43.2M`, `1.5k`."""
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= limit:
            return f"{value / (1e3 if unit == 'k' else limit):.3g}{unit}"
    return f"{value:,.0f}" if value == round(value) or abs(value) >= _WHOLE else f"{value:.3g}"
