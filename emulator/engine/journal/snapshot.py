"""The state of an account in pieces, and back: a header with the account and its queues, then messages, some thousands a piece.

What is taken is as the state was at that moment, however late a piece is made of it: a copy of each message, without its body.
The agenda is derived and left out. The order in line, the tracks and heaps are found again from the messages.
"""

from __future__ import annotations

from heapq import heapify
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from emulator.core.index import enqueue
from emulator.core.messages import DELAYED, LEASED, READY, Index, Message
from emulator.core.model import Consumer, Flight, QueueConfig, QueueState, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PIECE_MESSAGES, PIECE_BYTES = 5_000, 2_000_000
"""As many messages, or about as many bytes of bodies, are in a piece: some milliseconds of work."""


class _Queue(NamedTuple):
    """A queue without its messages and leases. Flights are (batch, ids, consumer, started_us)."""

    config: QueueConfig
    consumer: Consumer | None
    attached: bool
    flights: list[tuple[int, tuple[str, ...], Consumer, int]]
    window: list[tuple[int, int]]
    scale: tuple[int, int | None, int]


class _Account(NamedTuple):
    entries: int
    batches: int
    now_us: int
    queues: list[_Queue]


class _Piece(NamedTuple):
    """Some messages of a queue, or some of its leases: (until, entry, lease id)."""

    queue: str
    messages: list[Message]
    leases: list[tuple[int, int, str]]


_encode = msgspec.msgpack.Encoder().encode
_read_account = msgspec.msgpack.Decoder(_Account).decode
_read_piece = msgspec.msgpack.Decoder(_Piece).decode


def take(state: State) -> tuple[bytes, Iterator[bytes]]:
    """The header of a state and, to be made later, its pieces. Raises OverflowError for numbers beyond 64 bits."""
    queues = state.queues.values()
    header = _encode(_Account(state.entries, state.batches, state.now_us, [_taken(queue) for queue in queues]))
    copy = Message.__copy__  # type: ignore[attr-defined] # every struct has it, and `copy.copy` takes three times as long
    copied = [
        (queue.config.name, queue.backlog_bytes, list(map(copy, queue.messages.values())), list(queue.index.leases))
        for queue in queues
        if queue.count
    ]
    return header, _pieces(copied)


def _taken(queue: QueueState) -> _Queue:
    flights = [(flight.batch, flight.ids, flight.consumer, flight.started_us) for flight in queue.flights.values()]
    scale = (queue.slots, queue.backlog_seen, queue.failure_permille)
    return _Queue(queue.config, queue.consumer, queue.attached, flights, list(queue.window), scale)


def _pieces(copied: list[tuple[str, int, list[Message], list[tuple[int, int, str, Message]]]]) -> Iterator[bytes]:
    for name, size_bytes, messages, leases in copied:
        size = max(1, min(PIECE_MESSAGES, PIECE_BYTES * len(messages) // max(size_bytes, 1)))
        for at in range(0, len(messages), size):
            yield _encode(_Piece(name, messages[at : at + size], []))
        for at in range(0, len(leases), PIECE_MESSAGES):
            yield _encode(_Piece(name, [], [lease[:3] for lease in leases[at : at + PIECE_MESSAGES]]))


def load(header: bytes, pieces: Iterable[bytes]) -> State:
    """A state from its header and pieces, every queue due for a look. Raises msgspec.DecodeError and what `pieces` raises."""
    account = _read_account(header)
    state = State()
    state.entries, state.batches, state.now_us = account.entries, account.batches, account.now_us
    leases: dict[str, list[tuple[int, int, str]]] = {}
    for row in account.queues:
        state.queues[row.config.name] = QueueState(row.config)
        state.dirty.add(row.config.name)
    for piece in map(_read_piece, pieces):
        held = state.queues[piece.queue].messages
        held.update(zip(map(attrgetter("id"), piece.messages), piece.messages, strict=True))
        leases.setdefault(piece.queue, []).extend(piece.leases)
    for row in account.queues:
        queue = state.queues[row.config.name]
        _restore(queue, row)
        if not queue.count:
            continue
        index = queue.index
        _stand_in_line(index)
        for until_us, entry, lease in leases.get(row.config.name, ()):
            message = index.messages.get(lease.partition(".")[0])
            if message is not None and message.lease == lease and message.place == LEASED:
                index.leases.append((until_us, entry, lease, message))
        heapify(index.leases)
    return state


def _restore(queue: QueueState, row: _Queue) -> None:
    queue.consumer, queue.attached = row.consumer, row.attached
    held = queue.opened.messages if queue.opened is not None else {}
    queue.count, queue.backlog_bytes = len(held), sum(map(len, map(attrgetter("body"), held.values())))
    for batch, ids, consumer, started_us in row.flights:
        messages = [held[id] for id in ids if id in held]
        size_bytes = sum(len(message.body) for message in messages)
        attempts = tuple([message.attempts for message in messages])
        queue.flights[batch] = Flight(batch, ids, attempts, consumer, started_us, size_bytes, messages=messages)
        queue.flying_count += len(messages)
        queue.flying_bytes += size_bytes
    queue.window.extend(row.window)
    queue.lately = sum(count for _at_us, count in row.window)
    queue.slots, queue.backlog_seen, queue.failure_permille = row.scale


def _stand_in_line(index: Index) -> None:
    """Ready and delayed messages in their order, and every waiting one in its track. A million takes a third of a second."""
    messages = index.messages.values()
    waiting = sorted([message for message in messages if message.place <= DELAYED], key=attrgetter("entry"))
    if len(waiting) < len(messages):
        for message in messages:
            message.tracked = message.place <= DELAYED
    ready = [message for message in waiting if message.place == READY]
    index.ready.extend(sorted(ready, key=attrgetter("ready_us")))
    if len(ready) < len(waiting):
        for message in waiting:
            if message.place == DELAYED:
                enqueue(index, message, message.ready_us - 1)
    waiting.sort(key=attrgetter("arrived_us"))
    index.track.line.extend([message for message in waiting if not message.dead])
    index.dead_track.line.extend([message for message in waiting if message.dead])
    index.ages.extend(sorted([message for message in messages if not message.dead], key=attrgetter("timestamp_us")))
    index.dead_ages += [(message.timestamp_us, message.entry, message) for message in messages if message.dead]
    heapify(index.dead_ages)
