"""Which deliveries fail: a seeded pattern over the deliveries of a queue, in order, that both engines read at the same places.

The pattern is a long circle in which the failing places are drawn at random, as many as the share says. So neighbours fail as
independently as with dice, and the share is met almost exactly.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate

from cfq_lint.facts import limits
from emulator.engine.ids import stream

_CIRCLE, _LARGE_CIRCLE = 100_003, 1_000_003
"""Lengths of the circle: primes, so that batches of every size meet every place. The large one is for small shares."""
_FAILING_MIN = 2_000


class Draws:
    """The failing places of one queue, for a share from 0 to 1 of all deliveries.

    `places` are in order, and `before[n]` says how many are before place n; both go on behind the circle's end for as long as a
    batch may be, so that none is ever cut: what fails from place `at` on are `places[before[at] : before[at + count]]`.
    """

    def __init__(self, share: float, seed: int, name: str) -> None:
        self.length = _CIRCLE if share * _CIRCLE >= _FAILING_MIN or not share else _LARGE_CIRCLE
        count = round(share * self.length) if share in {0, 1} else max(1, round(share * self.length))
        chosen = sorted(stream(f"failures of {name}", seed).sample(range(self.length), count))
        again = limits.BATCH_SIZE_MAX
        self.places = chosen + [self.length + place for place in chosen if place < again]
        marks = bytearray(self.length + again)
        for place in self.places:
            marks[place] = 1
        self.before = list(accumulate(marks, initial=0))

    def failing(self, start: int, length: int) -> list[int]:
        """Which deliveries of a batch fail, counted from 0; `start` is the number of its first."""
        at = start % self.length
        return [place - at for place in self.places[self.before[at] : self.before[at + length]]]


@lru_cache(maxsize=32)
def draws(share: float, seed: int, name: str) -> Draws:
    """The pattern of a queue; made once."""
    return Draws(share, seed, name)
