"""Snapshots in a database: written a piece with each append that follows, read when a journal is opened.

Until its header is there a snapshot counts for nothing, and the one before it holds.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Protocol
from zlib import crc32

import msgspec

from emulator.engine.journal import snapshot

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emulator.core.model import State

_EVENT_COST, _MESSAGE_COST = 4, 1.5
"""What it takes to replay an event, and to load a message from a snapshot, where 1 is to replay one message of an event."""
_NUMBERS = b"%d %d %d "
"""What the checksum of a header starts with: the event that it was taken after, its first piece and its last."""


class Pieces(Protocol):
    """Where headers and pieces are kept; each call is a transaction."""

    def last_piece(self) -> int:
        """The number of the last piece; 0 where there is none."""

    def add_piece(self, piece: int, data: bytes, checksum: int) -> None:
        """Keep a piece."""

    def publish(self, seq: int, first: int, last: int, header: bytes, checksum: int) -> None:
        """Keep a header in place of all others."""

    def drop_piece(self, first: int) -> bool:
        """Delete the first piece if it stands before number `first`; whether it did."""

    def headers(self, length: int) -> Iterable[tuple[int, int, int, bytes, int]]:
        """The headers of snapshots after event `length` at most, the last one first."""

    def pieces(self, first: int, last: int) -> Iterable[tuple[int, bytes, int]]:
        """Number, data and checksum of some pieces, in order."""


class Keeping:
    """The snapshots of a journal. `failed` are the errors of its database: a snapshot that cannot be kept is let be."""

    def __init__(self, store: Pieces, failed: tuple[type[Exception], ...]) -> None:
        self._store = store
        self._failed: tuple[type[Exception], ...] = (*failed, OverflowError, UnicodeEncodeError)
        self._kept_seq = self._kept_entries = 0
        self._work: Iterator[None] | None = None

    @property
    def busy(self) -> bool:
        """Whether something of a snapshot is still to be written."""
        return self._work is not None

    def begin(self, state: State, length: int) -> None:
        """Keep the state after event `length`, where loading it takes less than to replay what has come since the last one.

        Its first piece is written at once, each other by `go_on`.
        """
        held = sum(queue.count for queue in state.queues.values())
        replay_cost = _EVENT_COST * (length - self._kept_seq) + state.entries - self._kept_entries
        if not self.busy and replay_cost > _MESSAGE_COST * held:
            self._work = self._write(state, length)
            self.go_on()

    def go_on(self) -> None:
        """Write one more piece."""
        assert self._work is not None, "somebody is keeping a snapshot"
        try:
            if next(self._work, self) is self:
                self._work = None
        except self._failed:
            self._work = None

    def give_up(self) -> None:
        """Leave the rest of a snapshot unwritten."""
        self._work = None

    def _write(self, state: State, seq: int) -> Iterator[None]:
        """Write a snapshot, a transaction at a time; at last delete what was kept before."""
        store, entries = self._store, state.entries
        header, pieces = snapshot.take(state)
        first = store.last_piece() + 1
        last = first - 1
        for last, data in enumerate(pieces, first):
            if last > first:
                yield
            store.add_piece(last, data, crc32(data))
        store.publish(seq, first, last, header, crc32(_NUMBERS % (seq, first, last) + header))
        self._kept_seq, self._kept_entries = seq, entries
        while store.drop_piece(first):
            yield

    def load(self, length: int) -> tuple[int, State] | None:
        """The last snapshot that can be read, and the number of the event that it was taken after; None where there is none."""
        for seq, first, last, header, checksum in self._store.headers(length):
            with suppress(ValueError, LookupError, msgspec.MsgspecError):
                _check(_NUMBERS % (seq, first, last) + header, checksum)
                state = snapshot.load(header, self._pieces(first, last))
                self._kept_seq, self._kept_entries = seq, state.entries
                return seq, state
        return None

    def _pieces(self, first: int, last: int) -> Iterator[bytes]:
        expected = first
        for piece, data, checksum in self._store.pieces(first, last):
            _check(data, checksum if piece == expected else None)
            yield data
            expected += 1
        if expected != last + 1:
            raise LookupError(expected)


def _check(data: bytes, checksum: int | None) -> None:
    if crc32(data) != checksum:
        raise ValueError("a snapshot is damaged")
