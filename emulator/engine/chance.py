"""Chance: whoever may take another course than the ordinary one asks `choose`. Seeded here; a search or a replay has its own.

A label names a fault of the table, and behind a slash a detail of it: `crashes`, `crashes/which`. 0 is the ordinary course.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from emulator.engine.faults import CALM, FAULTS, Faults
from emulator.engine.ids import stream

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

T = TypeVar("T")


class FaultCount(NamedTuple):
    """A fault that is switched on or has acted: its chance, and how often it acted."""

    fault: str
    chance: float
    acted: int


class Chance(Protocol):
    """Decides what the world leaves open."""

    active: bool
    """Whether anything but the ordinary course may be chosen; where it is not, nobody needs to ask."""
    drawn: dict[str, int]
    """How often each fault acted."""

    def choose(self, n: int, label: str) -> int:
        """A number from 0 to n - 1; 0 is the ordinary course."""


class Seeded:
    """Draws by the chances of `faults`. Each fault has a stream of its own, so that switching one on leaves the others."""

    def __init__(self, faults: Faults = CALM, seed: int | str | None = None) -> None:
        self._seed = seed
        self._streams: dict[str, Random] = {}
        self.drawn = dict.fromkeys(FAULTS, 0)
        self.faults = faults

    @property
    def faults(self) -> Faults:
        """The chances; they may be set at any time."""
        return self._faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        self._faults, self.active = faults, bool(faults)

    def choose(self, n: int, label: str) -> int:
        """0, or with the fault's chance one of the others, each as likely; a detail of a fault that acts takes any of n."""
        fault, _, detail = label.partition("/")
        chance = getattr(self._faults, fault)
        if not chance or (n < 2 and not detail):  # noqa: PLR2004 - there is nothing to choose
            return 0
        if fault not in self._streams:
            self._streams[fault] = stream(fault, self._seed)
        drawn = self._streams[fault]
        if detail:
            return drawn.randrange(n)
        if drawn.random() >= chance:
            return 0
        self.drawn[fault] += 1
        return 1 + drawn.randrange(n - 1) if n > 2 else 1  # noqa: PLR2004 - the one other course


def reordered(chance: Chance, waiting: Sequence[T], count: int) -> list[T]:
    """Others of those that wait than the first `count`, in another order; nothing when the order stays."""
    if not waiting or not chance.choose(2, "reorder"):
        return []
    left, taken = list(waiting), list[T]()
    while left and len(taken) < count:
        taken.append(left.pop(chance.choose(len(left), "reorder/next")))
    return taken
