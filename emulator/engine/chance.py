"""Chance: whoever may take another course than the ordinary one asks `choose`. Seeded here; a search or a replay has its own.

A label names a fault of the table, and behind a slash a detail of it: `slow`, `slow/seconds`. 0 is the ordinary course.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from emulator.engine.faults import CALM, FAULTS, Faults
from emulator.engine.ids import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

    from emulator.core.model import Consumer

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
    searches: bool
    """Whether it also chooses orders in which nothing goes wrong."""
    drawn: dict[str, int]
    """How often each fault acted."""

    def choose(self, n: int, label: str, where: Any = None) -> int:
        """A number from 0 to n - 1; 0 is the ordinary course. `where` tells people at which place."""

    def seconds(self, label: str, where: Any = None) -> int:
        """How much longer something takes; 0 is the ordinary course."""

    def order(self, waiting: Sequence[T], count: int) -> list[T]:
        """Others of those that wait than the first `count`, in another order; nothing when the order stays."""

    def again_seconds(self, message: Any, consumer: Consumer) -> int | None:
        """Whether the acknowledgement of a message gets lost: in how many seconds it comes again; None where it holds."""

    def heard(self, delivery: Any, what: Any) -> None:
        """A handler has called something outside, and has its answer."""

    def described(self, awaitable: Any) -> Any:
        """What a handler awaits, for people; None where nobody asks."""

    def before_send(self, account: Any) -> None:
        """A test sends something now."""

    def stored(self, send: Any) -> Any:
        """What is stored of what was sent, None for nothing; only who `searches` is asked."""

    def drive(self, timeline: Any) -> None:
        """This is what moves the time of an account."""

    def moved(self, timeline: Any) -> None:
        """What was due at a moment is done; only who `searches` is told."""


searched: ContextVar[Chance | None] = ContextVar("searched", default=None)
"""Who decides in place of seeds and faults, for every account that is made meanwhile."""


memory: ContextVar[dict[Any, Any] | None] = ContextVar("memory", default=None)
"""What is dear and the same in every run of a search, by what tells it from others; None where each is made but once."""


def remembered(key: Any, make: Callable[[], T]) -> T:
    """What somebody makes; in a search once for all runs."""
    kept = memory.get()
    if kept is None:
        return make()
    if key not in kept:
        kept[key] = make()
    found: T = kept[key]
    return found


class Seeded:
    """Draws by the chances of `faults`. Each fault has a stream of its own, so that switching one on leaves the others."""

    def __init__(self, faults: Faults = CALM, seed: int | str | None = None) -> None:
        self._seed = seed
        self._streams: dict[str, Random] = {}
        self.drawn = dict.fromkeys(FAULTS, 0)
        self.faults = faults

    searches = False

    @property
    def faults(self) -> Faults:
        """The chances; they may be set at any time."""
        return self._faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        self._faults, self.active = faults, bool(faults)

    def choose(self, n: int, label: str, where: Any = None) -> int:  # noqa: ARG002 - nobody tells of it
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

    def seconds(self, label: str, where: Any = None) -> int:  # noqa: ARG002 - as above
        """0, or seconds within `slow_seconds`."""
        if not self.choose(2, label):
            return 0
        least, most = self._faults.slow_seconds
        return least + self.choose(most - least + 1, f"{label}/seconds")

    def order(self, waiting: Sequence[T], count: int) -> list[T]:
        """The order stays, or with the fault's chance is any other; likewise the number of messages."""
        if not waiting:
            return []
        left, taken = list(waiting), list[T]()
        if self.choose(2, "reorder"):
            while left and len(taken) < count:
                taken.append(left.pop(self.choose(len(left), "reorder/next")))
        most = min(count, len(waiting))
        if most > 1 and self.choose(2, "small_batches"):
            return (taken or left)[: 1 + self.choose(most - 1, "small_batches/count")]
        return taken

    def again_seconds(self, message: Any, consumer: Consumer) -> int | None:  # noqa: ARG002 - as above
        """None, or with the fault's chance at once."""
        return 0 if self.choose(2, "duplicates") else None

    def heard(self, delivery: Any, what: Any) -> None:
        """Nobody tells of it."""

    def described(self, awaitable: Any) -> None:
        """Nobody asks."""

    def before_send(self, account: Any) -> None:
        """A test's own course is the only one."""

    def stored(self, send: Any) -> Any:
        """All of it."""
        return send

    def drive(self, timeline: Any) -> None:
        """A test moves time."""

    def moved(self, timeline: Any) -> None:
        """Nobody looks."""
