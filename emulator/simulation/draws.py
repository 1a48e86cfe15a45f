"""Which deliveries fail: a seeded pattern over the deliveries of a queue, in order, that both engines read at the same places.

The pattern is a long circle in which the failing places are drawn at random, as many as the share says. So neighbours fail as
independently as with dice, the share is met almost exactly, and how many fail in any stretch is known without walking it.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from itertools import accumulate, pairwise

from emulator.ids import stream

_CIRCLE, _LARGE_CIRCLE = 100_003, 1_000_003
"""Lengths of the circle: primes, so that batches of every size meet every place. The large one is for small shares."""
_FAILING_MIN = 2_000


class Draws:
    """The failing places of one queue. `share` is what was asked for, from 0 to 1."""

    def __init__(self, share: float, seed: int, name: str) -> None:
        self.share = share
        self.length = _CIRCLE if share * _CIRCLE >= _FAILING_MIN or not share else _LARGE_CIRCLE
        count = round(share * self.length) if share in {0, 1} else max(1, round(share * self.length))
        chosen = stream(f"failures of {name}", seed).sample(range(self.length), count)
        self.places = sorted(chosen)
        marks = bytearray(self.length)
        for place in chosen:
            marks[place] = 1
        self.before = list(accumulate(marks, initial=0))
        self._whole: dict[int, _Batches] = {}

    def count(self, start: int, length: int) -> int:
        """How many of so many deliveries fail, from delivery number `start` on."""
        rounds, rest = divmod(length, self.length)
        at = start % self.length
        end = at + rest
        before = self.before
        found = before[end] - before[at] if end <= self.length else before[-1] - before[at] + before[end - self.length]
        return rounds * before[-1] + found

    def failing(self, start: int, length: int) -> list[int]:
        """Which of so many deliveries fail, counted from 0; `length` is a batch's."""
        at = start % self.length
        found = []
        for base in (at, at - self.length):
            places = self.places
            for k in range(bisect_left(places, base), len(places)):
                if places[k] >= base + length:
                    break
                found.append(places[k] - base)
        return found

    def batch_share(self, size: int) -> float:
        """The share of batches of that size that have a failing message."""
        if not self.places:
            return 0.0
        places = [*self.places, self.places[0] + self.length]
        clear = sum(max(0, after - before - size) for before, after in pairwise(places))
        return 1 - clear / self.length

    def in_failing_batches(self, start: int, origin: int, size: int, length: int) -> float:
        """How many of so many deliveries are in a batch with a failing one, if batches of `size` begin at `origin`."""
        if size not in self._whole:
            self._whole[size] = _Batches(self, size)
        return self._whole[size].until(origin, start + length) - self._whole[size].until(origin, start)


class _Batches:
    """Batches of one size around the circle: how many of the first so many have a failing message."""

    def __init__(self, draws: Draws, size: int) -> None:
        self.size, self.length = size, draws.length
        before, length = draws.before, draws.length
        failing, at = [], 0
        for _ in range(length):
            end = at + size
            found = before[end] - before[at] if end <= length else before[-1] - before[at] + before[end - length]
            failing.append(1 if found else 0)
            at = end % length
        self.before = list(accumulate(failing, initial=0))
        self.inverse = pow(size, -1, length)

    def until(self, origin: int, end: int) -> float:
        """Messages in failing batches from `origin` to `end`; of a batch that is cut, its part."""
        batches, part = divmod(end - origin, self.size)
        first = origin % self.length * self.inverse % self.length  # how many steps from place 0 lead to the origin
        whole = self._within(first, batches)
        return whole * self.size + (self._within(first + batches, 1) * part if part else 0)

    def _within(self, first: int, count: int) -> int:
        rounds, rest = divmod(count, self.length)
        at = first % self.length
        end = at + rest
        before = self.before
        found = before[end] - before[at] if end <= self.length else before[-1] - before[at] + before[end - self.length]
        return rounds * before[-1] + found


@lru_cache(maxsize=32)
def draws(share: float, seed: int, name: str) -> Draws:
    """The pattern of a queue; made once."""
    return Draws(share, seed, name)
