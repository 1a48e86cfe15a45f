"""A journal in memory: a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.engine.journal import StaleWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emulator.core.events import Event
    from emulator.core.model import State


class MemoryJournal:
    """Events in a list. It needs no snapshots, because nothing is left after the process."""

    __slots__ = ("events",)

    follows = False

    def __init__(self, events: Iterable[Event] = ()) -> None:
        self.events = list(events)

    def length(self) -> int:
        """How many events there are."""
        return len(self.events)

    def append(self, expected: int, events: Iterable[Event]) -> None:
        """Keep events. Raises StaleWriter when `expected` is not the number of the last one."""
        if expected != len(self.events):
            message = f"the journal has {len(self.events)} events, and the writer knows {expected}"
            raise StaleWriter(message)
        self.events += events

    def read(self, after: int = 0) -> Iterator[Event]:
        """The events behind number `after`."""
        return iter(self.events[after:] if after else self.events)

    def snapshot(self) -> tuple[int, State] | None:
        """There is none."""
        return None

    def keep_snapshot(self, state: State) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        """Nothing to let go of."""
