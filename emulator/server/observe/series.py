"""A queue's depth and the age of its oldest message over time: dense for the last minutes, sparser for hours and days.

A point stands for a slot of time in which something changed, so that a clock that jumps ten days costs no more than one that
does not. Between two points the depth stays as it was, and the oldest message grows older.
"""

from __future__ import annotations

from array import array
from typing import NamedTuple

from emulator.engine.clock import SECOND_US

_FIELDS = 4
_TIERS = ((SECOND_US, 300), (20 * SECOND_US, 360), (600 * SECOND_US, 432))
"""Width of a slot and how many are kept: five minutes, two hours and three days without a gap."""


class Point(NamedTuple):
    """The state at the end of a slot, and the most messages that there were within it. `oldest_us` 0: there was none."""

    at_us: int
    depth: int
    depth_max: int
    oldest_us: int


class Series:
    """The points of one queue. Times only go forward."""

    __slots__ = ("_first_us", "_tiers")

    def __init__(self) -> None:
        self._tiers = tuple(array("q") for _ in _TIERS)
        self._first_us: int | None = None

    def add(self, at_us: int, depth: int, oldest_us: int) -> None:
        """Note what a queue holds at a moment."""
        if self._first_us is None:
            self._first_us = at_us
        for (width_us, count), kept in zip(_TIERS, self._tiers, strict=True):
            if kept and kept[-4] // width_us == at_us // width_us:
                kept[-4], kept[-3], kept[-2], kept[-1] = at_us, depth, max(depth, kept[-2]), oldest_us
                continue
            kept.extend((at_us, depth, depth, oldest_us))
            if len(kept) > count * _FIELDS:
                del kept[:_FIELDS]

    def since(self, start_us: int) -> list[Point]:
        """The points from a moment on and the one before it, from the densest tier that reaches back so far."""
        for kept in self._tiers:
            if kept and (kept[0] <= start_us or kept[0] == self._first_us):
                return _cut(kept, start_us)
        return _cut(self._tiers[-1], start_us)


def _cut(kept: array[int], start_us: int) -> list[Point]:
    points = [Point(*kept[at : at + _FIELDS]) for at in range(0, len(kept), _FIELDS)]
    first = next((number for number, point in enumerate(points) if point.at_us >= start_us), len(points))
    return points[max(0, first - 1) :]
