"""What arrives in a queue, known without making the messages: evenly spaced sends, or the dead letters of other queues."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Protocol

from cfq_lint.facts import limits
from emulator.core.limits import SECOND_US

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

NEVER_US = 1 << 62


class Source(Protocol):
    """Arrivals, numbered from 0 in order of time; `total` is how many there are."""

    total: int

    def time_us(self, number: int) -> int:
        """When an arrival comes; NEVER_US beyond the last."""

    def before(self, at_us: int) -> int:
        """How many came before a moment."""

    def until(self, at_us: int) -> int:
        """How many came up to and including a moment."""


class Steady:
    """Messages at a rate (a second), evenly spaced from moment 0 until `end_us`."""

    def __init__(self, rate: Fraction, end_us: int) -> None:
        self._end_us = end_us
        between_us = SECOND_US / rate
        self._over, self._under = between_us.numerator, between_us.denominator
        self.total = -(-end_us * self._under // self._over)

    def time_us(self, number: int) -> int:
        """When an arrival comes."""
        return number * self._over // self._under if number < self.total else NEVER_US

    def before(self, at_us: int) -> int:
        """How many came before a moment."""
        return 0 if at_us <= 0 else self.total if at_us >= self._end_us else -(-at_us * self._under // self._over)

    def until(self, at_us: int) -> int:
        """How many came up to and including a moment."""
        return 0 if at_us < 0 else self.total if at_us + 1 >= self._end_us else -(-(at_us + 1) * self._under // self._over)


class Fed:
    """Arrivals in lots: so many from one moment to another, evenly. Lots are in order of time."""

    def __init__(self, lots: Iterable[tuple[int, int, int]]) -> None:
        self._from, self._to, self._numbers = array("q"), array("q"), array("q", [0])
        for start_us, end_us, count in lots:
            latest_us = self._to[-1] if self._to else 0
            start_us = max(start_us, latest_us)  # noqa: PLW2901 - lots of several queues may overlap, and stand in line
            self._from.append(start_us)
            self._to.append(max(end_us, start_us))
            self._numbers.append(self._numbers[-1] + count)
        self.total = self._numbers[-1]

    def time_us(self, number: int) -> int:
        """When an arrival comes."""
        if number >= self.total:
            return NEVER_US
        lot = bisect_right(self._numbers, number) - 1
        first, count = self._numbers[lot], self._numbers[lot + 1] - self._numbers[lot]
        return self._from[lot] + (number - first) * (self._to[lot] - self._from[lot]) // count

    def before(self, at_us: int) -> int:
        """How many came before a moment."""
        lot = bisect_left(self._from, at_us) - 1
        if lot < 0:
            return 0
        first, count = self._numbers[lot], self._numbers[lot + 1] - self._numbers[lot]
        span_us, passed_us = self._to[lot] - self._from[lot], at_us - self._from[lot]
        return first + (count if not span_us or passed_us > span_us else min(count, -(-passed_us * count // span_us)))

    def until(self, at_us: int) -> int:
        """How many came up to and including a moment."""
        return self.before(at_us + 1)


class DeadLetters(Fed):
    """Lots from batches of other queues that have ended. At their own moment they are there before anything leaves."""

    def before(self, at_us: int) -> int:
        """How many came before anything leaves at a moment."""
        return super().before(at_us + 1)

    until = before


def accepted(sent: Source, rate: float, end_us: int) -> tuple[Source, int]:
    """What a producer's messages become: the arrivals, and how many sends are refused because they are too fast.

    `rate` is the highest. Of the sends of a second the first 5,000 are taken; the others get 429, and nobody sends them again.
    """
    if rate <= limits.THROUGHPUT_PER_SECOND:
        return sent, 0
    lots = []
    for start_us in range(0, end_us, SECOND_US):
        first = sent.before(start_us)
        count = min(limits.THROUGHPUT_PER_SECOND, sent.before(min(end_us, start_us + SECOND_US)) - first)
        if count:
            lots.append((sent.time_us(first), sent.time_us(first + count - 1) + 1, count))
    fed = Fed(lots)
    return fed, sent.total - fed.total
