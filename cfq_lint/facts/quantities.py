"""Rates, sizes, shares and times as people write them: `500/s`, `2KB`, `3%`, `200ms`. 1 KB is 1,000 bytes.

They are read exactly, as fractions: a tenth is a tenth, and the same text is the same number for the linter and the emulator.
"""

from __future__ import annotations

import re
from fractions import Fraction

from cfq_lint.facts.errors import WrongQuantity

_NUMBER = r"(\d(?:[_,]?\d){0,14}(?:\.\d{1,15})?)\s*"
"""Up to fifteen digits on each side of the point: what has more is a slip of the finger."""
_TIMES = {
    "us": Fraction(1, 1_000_000), "ms": Fraction(1, 1_000), "s": Fraction(1), "sec": Fraction(1), "m": Fraction(60),
    "min": Fraction(60), "h": Fraction(3_600), "hour": Fraction(3_600), "d": Fraction(86_400), "day": Fraction(86_400),
    "w": Fraction(604_800), "week": Fraction(604_800),
}  # fmt: skip
_PERIODS = {unit: seconds for unit, seconds in _TIMES.items() if seconds >= 1} | {"month": Fraction(30 * 86_400)}
_SIZES = {"": 1, "b": 1, "k": 1_000, "kb": 1_000, "m": 1_000_000, "mb": 1_000_000, "kib": 1_024, "mib": 1_048_576}
_TIME_ADVICE = "write 200ms, 2s, 5m, 24h or 1h30m"
_COUNTS = {"": 1, "k": 1_000, "m": 1_000_000, "g": 1_000_000_000}


def rate(text: str) -> Fraction:
    """Messages a second of `500/s`, `30/min`, `1M/day` or `500`. Raises WrongQuantity, as all of these."""
    match = re.fullmatch(_NUMBER + r"([kKmMG]?)\s*(?:/\s*([a-z]+))?", text.strip())
    seconds = _PERIODS.get(match[3] or "s") if match else None
    if match is None or seconds is None:
        raise WrongQuantity(f"{text!r} is no rate; write 500/s, 30/min, 2000/h or 1M/day")
    return _exact(match[1]) * _COUNTS[match[2].lower()] / seconds


def size(text: str) -> int:
    """Bytes of `2KB`, `127 KB` or `2000`."""
    match = re.fullmatch(_NUMBER + r"([kKmM]?i?[bB]?)", text.strip())
    factor = _SIZES.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise WrongQuantity(f"{text!r} is no size; write 2KB or 2000 (1 KB is 1,000 bytes)")
    return round(_exact(match[1]) * factor)


def share(text: str) -> Fraction:
    """The share, 0 to 1, of `3%` or `0.03`."""
    match = re.fullmatch(_NUMBER + r"(%?)", text.strip())
    value = _exact(match[1]) / (100 if match[2] else 1) if match else Fraction(-1)
    if not 0 <= value <= 1:
        raise WrongQuantity(f"{text!r} is no share from 0 to 1; write 3% or 0.03")
    return value


def duration(text: str) -> Fraction:
    """Seconds of `200ms`, `2s`, `5m`, `1h30m` or `2`."""
    whole = text.strip()
    # A number that stands alone is seconds.
    if not re.fullmatch(rf"{_NUMBER}|(?:{_NUMBER}[a-z]+\s*)+", whole):
        raise WrongQuantity(f"{text!r} is no time; {_TIME_ADVICE}")
    parts = [(_exact(written), _TIMES.get(unit or "s")) for written, unit in re.findall(_NUMBER + r"([a-z]*)", whole)]
    if any(unit is None for _, unit in parts):
        raise WrongQuantity(f"{text!r} is no time; {_TIME_ADVICE}")
    return sum((count * unit for count, unit in parts if unit is not None), Fraction(0))


def _exact(written: str) -> Fraction:
    return Fraction(written.replace("_", "").replace(",", ""))


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
