"""Chaos, seeded and off by default: what Cloudflare warns of and a test seldom meets. Same seed, same run.

https://developers.cloudflare.com/queues/reference/delivery-guarantees/: at least once, in no particular order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from emulator.engine.ids import stream

if TYPE_CHECKING:
    from emulator.core.model import Message


class WorkerCrashed(BaseException):
    """Chaos ends the handler here, in the middle of its batch. No `except Exception` catches it."""


class Faults(NamedTuple):
    """Chances from 0 to 1. All are 0 unless somebody asks for chaos.

    duplicates: an acknowledgement gets lost, and the message comes again (as long as it has attempts left).
    reorder: a batch is taken in random order from the next messages in line.
    crashes: the handler's process dies while it reads a message; what it said is lost, the whole batch has failed.
    refused_sends: a send is refused with 10250, Too Many Requests, and nothing is stored.
    slow: a handler takes longer, by a whole number of seconds from `slow_seconds` (least, most).
    """

    duplicates: float = 0.0
    reorder: float = 0.0
    crashes: float = 0.0
    refused_sends: float = 0.0
    slow: float = 0.0
    slow_seconds: tuple[int, int] = (1, 60)


CALM = Faults()
CHAOS = Faults(duplicates=0.05, reorder=0.5, crashes=0.05, refused_sends=0.02, slow=0.1)
"""A little of everything."""

WINDOW_BATCHES = 3
"""A reordered batch is drawn from so many batches' worth of waiting messages."""


class Dice:
    """Draws faults. Each kind has its own seeded stream, so that switching one on leaves the others as they were."""

    def __init__(self, faults: Faults, seed: int | str | None) -> None:
        for name in ("duplicates", "reorder", "crashes", "refused_sends", "slow"):
            chance = getattr(faults, name)
            if not 0 <= chance <= 1:
                message = f"{name} must be a chance from 0 to 1, not {chance!r}"
                raise ValueError(message)
        self.faults = faults
        self.calm = not any((faults.duplicates, faults.reorder, faults.crashes, faults.refused_sends, faults.slow))
        self._streams = {name: stream(name, seed) for name in Faults._fields}

    def refuses_send(self) -> bool:
        """Whether this send is refused."""
        return self._happens("refused_sends", self.faults.refused_sends)

    def order(self, waiting: list[Message], count: int) -> tuple[str, ...]:
        """The ids of a reordered batch; empty when the batch keeps its order."""
        if not self._happens("reorder", self.faults.reorder):
            return ()
        return tuple(message.id for message in self._streams["reorder"].sample(waiting, min(count, len(waiting))))

    def crash_at(self, count: int) -> int | None:
        """The place of the message at which the handler dies; None when it lives."""
        if not self._happens("crashes", self.faults.crashes):
            return None
        return self._streams["crashes"].randrange(count)

    def lost(self, ids: tuple[str, ...]) -> frozenset[str]:
        """The messages whose acknowledgement will be lost."""
        return frozenset(id for id in ids if self._happens("duplicates", self.faults.duplicates))

    def extra_seconds(self) -> int:
        """How much longer a handler takes."""
        if not self._happens("slow", self.faults.slow):
            return 0
        return self._streams["slow"].randint(*self.faults.slow_seconds)

    def _happens(self, name: str, chance: float) -> bool:
        return chance > 0 and self._streams[name].random() < chance
