"""Alarms: what happens at moments of its own, whatever the queues do. Cron triggers are such.

They move no clock: who lets time pass comes by them, and then each goes off at its own moment.
"""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable


class Alarm(NamedTuple):
    """Goes off at the moments that `next_after_us` gives (None: never again), and calls `ring` with each. `owner` sets it."""

    owner: str
    next_after_us: Callable[[int], int | None]
    ring: Callable[[int], None]


class Alarms:
    """The alarms of an account, by moment and in the order in which they were set."""

    def __init__(self) -> None:
        self._due: list[tuple[int, int, Alarm]] = []
        self._numbers = count()

    def set(self, owner: str, alarms: list[Alarm], now_us: int) -> None:
        """Give an owner these alarms instead of those that it had: each goes off for the first time after now."""
        self._due = [entry for entry in self._due if entry[2].owner != owner]
        heapq.heapify(self._due)
        for alarm in alarms:
            self._enter(alarm, now_us)

    def _enter(self, alarm: Alarm, after_us: int) -> None:
        next_us = alarm.next_after_us(after_us)
        if next_us is not None:
            heapq.heappush(self._due, (next_us, next(self._numbers), alarm))

    def next_us(self) -> int | None:
        """When the next goes off."""
        return self._due[0][0] if self._due else None

    def ring(self, now_us: int) -> None:
        """Let go off what is due."""
        while self._due and self._due[0][0] <= now_us:
            moment_us, _, alarm = heapq.heappop(self._due)
            self._enter(alarm, moment_us)
            alarm.ring(moment_us)
