"""Rates, sizes, shares and times as people write them: `500/s`, `2KB`, `3%`, `200ms`. 1 KB is 1,000 bytes."""

from __future__ import annotations

import re

_NUMBER = r"\s*(\d(?:_?\d){0,14}(?:\.\d{1,15})?)\s*"
"""Up to fifteen digits on each side of the point: what has more is a slip of the finger."""
_TIMES = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0, "day": 86_400.0, "hour": 3_600.0}
_MONTH_SECONDS = 30 * 86_400
_SIZES = {"": 1, "b": 1, "k": 1_000, "kb": 1_000, "m": 1_000_000, "mb": 1_000_000, "kib": 1_024, "mib": 1_048_576}
_COUNTS = {"": 1, "k": 1_000, "m": 1_000_000}


class WrongQuantity(ValueError):  # noqa: N818 - it names what the user wrote
    """Something that is no quantity of its kind; the message says what is."""


def rate(text: str) -> float:
    """Messages a second of `500/s`, `30/min`, `1M/day` or `500`."""
    match = re.fullmatch(_NUMBER + r"([kKmM]?)\s*(?:/\s*([a-z]+))?\s*", text)
    unit = match[3] or "s" if match else ""
    seconds = _MONTH_SECONDS if unit == "month" else _TIMES.get(unit)
    if match is None or seconds is None or unit == "ms":
        raise WrongQuantity(f"{text!r} is no rate; write 500/s, 30/min, 2000/h or 1M/day")
    return float(match[1].replace("_", "")) * _COUNTS[match[2].lower()] / seconds


def size(text: str) -> int:
    """Bytes of `2KB`, `127 KB` or `2000`."""
    match = re.fullmatch(_NUMBER + r"([kKmM]?i?[bB]?)\s*", text)
    factor = _SIZES.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise WrongQuantity(f"{text!r} is no size; write 2KB or 2000 (1 KB is 1,000 bytes)")
    return round(float(match[1].replace("_", "")) * factor)


def share(text: str) -> float:
    """The share, 0 to 1, of `3%` or `0.03`."""
    match = re.fullmatch(_NUMBER + r"(%?)\s*", text)
    value = float(match[1].replace("_", "")) / (100 if match[2] else 1) if match else -1.0
    if not 0 <= value <= 1:
        raise WrongQuantity(f"{text!r} is no share; write 3% or 0.03")
    return value


def duration(text: str) -> float:
    """Seconds of `200ms`, `2s`, `5m`, `1h` or `2`."""
    match = re.fullmatch(_NUMBER + r"([a-z]*)\s*", text)
    factor = _TIMES.get(match[2] or "s") if match else None
    if match is None or factor is None:
        raise WrongQuantity(f"{text!r} is no time; write 200ms, 2s, 5m or 1h")
    return float(match[1].replace("_", "")) * factor


def number(value: float) -> str:
    """A number for people: thousands apart, and no more places than are worth reading."""
    if value == int(value) or value >= _WHOLE_FROM:
        return f"{value:,.0f}"
    return f"{value:,.2f}".rstrip("0").rstrip(".") if value >= 1 else f"{value:.2g}"


def seconds(value: float) -> str:
    """A time for people, and in seconds where that is another number."""
    for unit, name in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if value >= unit and value % unit == 0:
            count = int(value // unit)
            return f"{count} {name}{'' if count == 1 else 's'} ({number(value)} s)"
    return f"{number(value)} s"


def dollars(value: float) -> str:
    """US dollars to the cent."""
    return f"${value:,.2f}"


_WHOLE_FROM = 1_000
