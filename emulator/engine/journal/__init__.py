"""Where events are kept. Append first, answer second; the state is what their replay gives.

An append names the sequence number that it expects, so that a second writer of the same journal is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from emulator.core.apply import apply
from emulator.core.model import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emulator.core.events import Event


class JournalError(Exception):
    """A journal cannot be used as it is. It has been left untouched."""


class JournalCorrupt(JournalError):  # noqa: N818 - the journal is what is corrupt
    """The file is no journal, or its content is damaged."""


class JournalNewer(JournalError):  # noqa: N818 - the journal is what is newer
    """A newer version of the emulator has written the file."""


class JournalUnwritable(JournalError):  # noqa: N818 - it is the journal that cannot be written
    """Nothing can be kept, such as on a full disk. What was asked for has not happened; it may be asked for again."""


class StaleWriter(JournalUnwritable):
    """Somebody else has appended to the journal meanwhile, or writes it now."""


class Journal(Protocol):
    """A sequence of events, and now and then a snapshot of the state that they gave."""

    @property
    def follows(self) -> bool:
        """Whether somebody else writes it at present: nothing may be appended, and what is read grows."""

    def length(self) -> int:
        """How many events there are; the sequence number of the last one."""

    def append(self, expected: int, events: Iterable[Event]) -> None:
        """Keep events behind event number `expected`. Raises StaleWriter when that is not the last one.

        Raises JournalUnwritable, and keeps none of them, where nothing can be kept.
        """

    def read(self, after: int = 0) -> Iterator[Event]:
        """The events behind number `after`, in order."""

    def snapshot(self) -> tuple[int, State] | None:
        """The last snapshot and the number of the event that it was taken after; None when there is none."""

    def keep_snapshot(self, state: State) -> None:
        """Keep the state as it is after the last event, where that spares the next start time and can be done. Never raises."""

    def close(self) -> None:
        """Let go of the file. Closing twice does nothing."""


def replay(events: Iterable[Event], plan: str = "paid", state: State | None = None) -> State:
    """The state that events give, from nothing or from a state."""
    state = State(plan) if state is None else state
    for event in events:
        apply(state, event)
    return state


def restore(journal: Journal, plan: str) -> State:
    """The state of a journal: its last snapshot, and what happened after it. Raises JournalCorrupt when they do not fit."""
    kept = journal.snapshot()
    try:
        if kept is None:
            return replay(journal.read(), plan)
        seq, state = kept
        state.plan = plan
        return replay(journal.read(seq), state=state)
    except (AssertionError, IndexError, KeyError) as error:
        message = f"the journal's events do not follow from each other: {error!r}"
        raise JournalCorrupt(message) from error
