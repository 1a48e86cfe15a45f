"""Times for people: `4 days`, where a file has 345600."""

from __future__ import annotations

_DAY_SECONDS = 86_400
_HOUR_SECONDS = 3_600
_MINUTE_SECONDS = 60


def duration(seconds: int) -> str:
    """A time in words, in the largest unit that shows it whole, e.g. `36 hours`."""
    for unit, length in (("day", _DAY_SECONDS), ("hour", _HOUR_SECONDS), ("minute", _MINUTE_SECONDS)):
        if seconds >= length and seconds % length == 0:
            return f"{seconds // length} {unit}{'' if seconds == length else 's'}"
    return f"{seconds:,} second{'' if seconds == 1 else 's'}"


def exactly(seconds: int) -> str:
    """A time in words, and in seconds as files have it where that is another number: `36 hours (129,600 s)`."""
    words = duration(seconds)
    return words if words.endswith(("second", "seconds")) else f"{words} ({seconds:,} s)"


def about(seconds: int) -> str:
    """A time in words, in whole numbers of the largest unit of which it has two, e.g. `37 hours`."""
    for unit, length in (("days", _DAY_SECONDS), ("hours", _HOUR_SECONDS), ("minutes", _MINUTE_SECONDS)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return duration(seconds)
