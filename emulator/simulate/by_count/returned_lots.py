"""Messages that came back and wait for their next delivery: lots of neighbours, in the order in which they are ready again.

A queue has one retry delay, so what comes back later is also ready later, and the order is that of coming back. A lot is a run
of message numbers with one moment and one number of attempts. Lots are columns of numbers, as there may be millions.
"""

from __future__ import annotations

from array import array
from bisect import insort
from collections import deque
from typing import TYPE_CHECKING

from emulator.simulate.sources import NEVER_US

if TYPE_CHECKING:
    from collections.abc import Iterator

Part = tuple[int, int, int]
"""Neighbours in a batch: the number of the first, how many, and which delivery this is to them."""
NOBODY = NEVER_US
"""The number of a message that is not there."""
_TRIM = 1 << 16
_LOT_BITS = 40
_LOT = (1 << _LOT_BITS) - 1


class Returned:
    """`ready` messages stand in line, from lot `front` to before lot `due`. Those behind wait, the first until `next_us`."""

    __slots__ = ("ages", "attempts", "base", "counts", "due", "firsts", "front", "next_us", "ready", "ready_us")

    def __init__(self) -> None:
        self.ready_us, self.firsts, self.counts, self.attempts = array("q"), array("q"), array("q"), array("B")
        self.front = self.due = self.ready = 0
        self.next_us = NEVER_US
        self.base = 0
        """Lots that have been forgotten; `ages` counts from the first ever."""
        self.ages: dict[int, deque[int]] | None = None
        """For each number of attempts the lots by age, as first message and lot in one number, once messages may die."""

    def enter(self, ready_us: int, parts: list[Part]) -> None:
        """Let messages wait until a moment; the deliveries that they have had are their attempts."""
        moments, firsts, counts, attempts = self.ready_us, self.firsts, self.counts, self.attempts
        for first, count, attempt in parts:
            last = len(firsts) - 1
            if (
                last >= self.due
                and firsts[last] + counts[last] == first
                and attempts[last] == attempt
                and moments[last] == ready_us
            ):
                counts[last] += count
                continue
            moments.append(ready_us)
            firsts.append(first)
            counts.append(count)
            attempts.append(attempt)
            if self.ages is not None:
                self._age(last + 1)
        if self.next_us == NEVER_US and parts:
            self.next_us = ready_us
        if self.front > _TRIM:
            self._trim()

    def _trim(self) -> None:
        """Forget the lots that have left."""
        for column in (self.ready_us, self.firsts, self.counts, self.attempts):
            del column[: self.front]
        self.base += self.front
        self.due -= self.front
        self.front = 0

    def promote(self, now_us: int) -> None:
        """Let those stand in line whose moment has come."""
        due, end, ready_us = self.due, len(self.ready_us), self.ready_us
        while due < end and (ready_us[due] <= now_us or not self.counts[due]):
            self.ready += self.counts[due]
            due += 1
        self.due = due
        self.next_us = ready_us[due] if due < end else NEVER_US

    def since_us(self) -> int:
        """Since when the first in line has been ready; somebody must stand in line."""
        while not self.counts[self.front]:
            self.front += 1
        return self.ready_us[self.front]

    def coming(self, until_us: int) -> Iterator[tuple[int, int]]:
        """The moments at which those who wait stand in line, up to one, and how many then."""
        for lot in range(self.due, len(self.ready_us)):
            if self.ready_us[lot] > until_us:
                return
            yield self.ready_us[lot], self.counts[lot]

    def take(self, count: int, before_us: int, parts: list[Part]) -> int:
        """Take no more than so many of those in line that were ready before a moment, and add them; how many they are."""
        front, due, ready_us, firsts, counts, attempts = (
            self.front,
            self.due,
            self.ready_us,
            self.firsts,
            self.counts,
            self.attempts,
        )
        left = count
        while left and front < due and ready_us[front] < before_us:
            whole, first = counts[front], firsts[front]
            if left < whole:
                parts.append((first, left, attempts[front] + 1))
                firsts[front] = first + left
                counts[front] = whole - left
                left = 0
                break
            if whole:
                parts.append((first, whole, attempts[front] + 1))
                left -= whole
            front += 1
        self.front = front
        self.ready -= count - left
        return count - left

    def oldest(self) -> int:
        """The lowest number of all; NOBODY when there is none."""
        return min(self.firsts[self.front :], default=NOBODY)

    # --- retention

    def dies(self) -> int:
        """The lowest number of all, as `oldest`, where it is asked for often: from the first call on lots are kept by age."""
        if self.ages is None:
            self.ages = {}
            for lot in range(self.front, len(self.firsts)):
                self._age(lot)
        lowest = NOBODY
        for ages in self.ages.values():
            while ages:
                lot = (ages[0] & _LOT) - self.base
                if lot >= self.front and self.counts[lot]:
                    lowest = min(lowest, self.firsts[lot])
                    break
                ages.popleft()
        return lowest

    def _age(self, lot: int) -> None:
        """Keep a lot by age. Messages of as many attempts come back in the order in which they came, or nearly so."""
        assert self.ages is not None, "`dies` has made it"
        ages = self.ages.setdefault(self.attempts[lot], deque())
        known = self.firsts[lot] << _LOT_BITS | self.base + lot
        if not ages or ages[-1] < known:
            ages.append(known)
        else:
            insort(ages, known)

    def expire(self, limit: int) -> tuple[int, int]:
        """Take out all messages with lower numbers: how many they were, and the highest of them (-1: none)."""
        gone, highest = 0, -1
        if self.dies() >= limit:
            return gone, highest
        assert self.ages is not None, "`dies` has made it"
        for ages in self.ages.values():
            while ages:
                lot = (ages[0] & _LOT) - self.base
                if lot >= self.front and self.counts[lot]:
                    first = self.firsts[lot]
                    if first >= limit:
                        break
                    part = min(self.counts[lot], limit - first)
                    self.counts[lot] -= part
                    self.firsts[lot] = first + part if self.counts[lot] else NOBODY
                    self.ready -= part if lot < self.due else 0
                    gone, highest = gone + part, max(highest, first + part - 1)
                    if self.counts[lot]:
                        break
                ages.popleft()
        if self.next_us != NEVER_US and not self.counts[self.due]:
            self.promote(0)
        return gone, highest
