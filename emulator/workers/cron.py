"""Cron expressions as Cron Triggers read them: five fields, weekdays 1 (Sunday) to 7, `L`, `W` and `#`; all in UTC.

https://developers.cloudflare.com/workers/configuration/cron-triggers/#supported-cron-expressions, and Cloudflare's own reader,
https://github.com/cloudflare/saffron. Where both kinds of days are restricted, one that matches is enough. A range may run
over its end (`FRI-MON`, `22-2`).
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from emulator.engine.clock import moment, moment_us

_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
_SATURDAY = 7
_OFFSET_MAX, _NTH_MAX = 30, 5
_DAYS_MAX = 8 * 366 + 7
"""A day that does not come within eight years (29 February over 2100) never comes."""


class _Field(NamedTuple):
    """What a field may hold: its name, the least and the greatest value, and the names of values from the least on."""

    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()


_FIELDS = (
    _Field("minute", 0, 59), _Field("hour", 0, 23), _Field("day of month", 1, 31), _Field("month", 1, 12, _MONTHS),
    _Field("weekday", 1, 7, _WEEKDAYS),
)  # fmt: skip
_LAST = re.compile(r"L(?:-(\d+))?(W)?")
_NEAR = re.compile(r"(\d+)W")
_LAST_WEEKDAY, _NTH_WEEKDAY = re.compile(r"(\w+)L"), re.compile(r"(\w+)#(\d+)")
_PART = re.compile(r"(\*|\w+)(?:-(\w+))?(?:/(\d+))?")


class Cron:
    """One expression. Raises ValueError, which says what is wrong and what is allowed."""

    def __init__(self, text: str) -> None:
        self.text = text
        fields = text.split()
        if len(fields) != len(_FIELDS):
            names = ", ".join(each.name for each in _FIELDS)
            message = f"{text!r} has {len(fields)} fields, and a cron expression has five: {names}"
            raise ValueError(message)
        minute, hour, month_day, month, weekday = fields
        self._minutes, self._hours = sorted(_values(minute, _FIELDS[0])), sorted(_values(hour, _FIELDS[1]))
        self._months = _values(month, _FIELDS[3])
        self._any_day, self._any_weekday = month_day == "*", weekday == "*"
        self._month_day, self._weekday = _MonthDay(month_day), _Weekday(weekday)

    def next_after(self, at: datetime) -> datetime | None:
        """The first moment after another that matches, in UTC; None where there is none."""
        start = at.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
        day = start.date()
        for _ in range(_DAYS_MAX):
            if day.month in self._months and self._matches(day):
                for hour in self._hours:
                    for minute in self._minutes:
                        found = datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)
                        if found >= start:
                            return found
            if day == date.max:
                return None
            day += timedelta(days=1)
        return None

    def next_after_us(self, at_us: int) -> int | None:
        """The same in microseconds since 1970."""
        found = self.next_after(moment(at_us))
        return None if found is None else moment_us(found)

    def _matches(self, day: date) -> bool:
        if self._any_day or self._any_weekday:
            return self._month_day.matches(day) and self._weekday.matches(day)
        return self._month_day.matches(day) or self._weekday.matches(day)

    def __repr__(self) -> str:
        return f"Cron({self.text!r})"


class _MonthDay:
    """`*`, values, `L` (the last), `LW` (the last from Monday to Friday), `L-3`, `L-3W`, `15W` (the nearest such day)."""

    def __init__(self, text: str) -> None:
        self._days: frozenset[int] = frozenset()
        last, near = _LAST.fullmatch(text), _NEAR.fullmatch(text)
        self._from_end = int(last[1] or 0) if last else None
        self._weekday = bool(near or (last and last[2]))
        self._near = _value(near[1], _FIELDS[2]) if near else None
        if self._from_end is not None and (self._from_end > _OFFSET_MAX or (last and last[1] and not self._from_end)):
            raise ValueError(_wrong(text, _FIELDS[2], f"L-1 to L-{_OFFSET_MAX}"))
        if not (last or near):
            self._days = _values(text, _FIELDS[2])

    def matches(self, day: date) -> bool:
        """Whether a day is meant."""
        if self._days:
            return day.day in self._days
        length = monthrange(day.year, day.month)[1]
        wanted = length - self._from_end if self._from_end is not None else self._near
        if wanted is None or not 1 <= wanted <= length:
            return False
        return day.day == (_nearest(day.replace(day=wanted), length) if self._weekday else wanted)


class _Weekday:
    """`*`, values, `L` (Saturday), `6L` (the month's last Friday), `MON#2` (its second Monday)."""

    def __init__(self, text: str) -> None:
        field, plain = _FIELDS[4], text.upper()
        last, nth = _LAST_WEEKDAY.fullmatch(plain), _NTH_WEEKDAY.fullmatch(plain)
        self._last, self._nth = last is not None, int(nth[2]) if nth else 0
        if nth and not 1 <= self._nth <= _NTH_MAX:
            raise ValueError(_wrong(text, field, f"#1 to #{_NTH_MAX}"))
        one = last or nth
        if plain == "L":
            self._days = frozenset({_SATURDAY})
        else:
            self._days = frozenset({_value(one[1], field)}) if one else _values(text, field)

    def matches(self, day: date) -> bool:
        """Whether a day is meant."""
        if day.isoweekday() % 7 + 1 not in self._days:
            return False
        if self._last:
            return day.day + 7 > monthrange(day.year, day.month)[1]
        return not self._nth or (day.day - 1) // 7 + 1 == self._nth


def _nearest(day: date, length: int) -> int:
    """The day of the month from Monday to Friday that is nearest, within the month."""
    if day.isoweekday() == 6:  # noqa: PLR2004 - Saturday
        return day.day - 1 if day.day > 1 else day.day + 2
    if day.isoweekday() == 7:  # noqa: PLR2004 - Sunday
        return day.day + 1 if day.day < length else day.day - 2
    return day.day


def _values(text: str, field: _Field) -> frozenset[int]:
    """The values of a field: `*`, or a list of values, ranges and steps."""
    every = range(field.least, field.most + 1)
    found: set[int] = set()
    for part in text.split(","):
        match = _PART.fullmatch(part)
        if match is None or (match[1] == "*" and (match[2] or (part == "*" != text))):
            raise ValueError(_wrong(text, field))
        step = 1 if match[3] is None else int(match[3])
        if not 1 <= step <= field.most - field.least:
            raise ValueError(_wrong(text, field, f"steps of 1 to {field.most - field.least}"))
        first = field.least if match[1] == "*" else _value(match[1], field)
        last = _value(match[2], field) if match[2] else field.most if match[3] or match[1] == "*" else first
        span = [*range(first, last + 1)] if first <= last else [*range(first, every.stop), *range(every.start, last + 1)]
        found.update(span[::step])
    return frozenset(found)


def _value(text: str, field: _Field) -> int:
    name = text.upper()
    if name in field.names:
        return field.least + field.names.index(name)
    if not (text.isascii() and text.isdigit()) or not field.least <= int(text) <= field.most:
        raise ValueError(_wrong(text, field))
    return int(text)


def _wrong(text: str, field: _Field, allowed: str = "") -> str:
    names = f" or {field.names[0]} to {field.names[-1]}" if field.names else ""
    return f"{text!r} is no {field.name}: allowed are {allowed or f'{field.least} to {field.most}{names}, with * , - /'}"
