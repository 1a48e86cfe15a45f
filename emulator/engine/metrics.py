"""The backlog of a queue at a moment: how many messages, how many bytes, and how old the oldest is.

https://developers.cloudflare.com/queues/observability/metrics/. Counts are of messages not acknowledged: waiting, delayed,
leased and out for delivery. A batch's own metadata count what remained when it left, without what push consumers have in hand.
Cloudflare calls its counts approximate; these are exact.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING, Any

from emulator.core.messages import FLYING, GONE
from emulator.engine.clock import moment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from emulator.core.messages import Message
    from emulator.core.model import QueueState


class Metrics:
    """`backlog_count`, `backlog_bytes`, `oldest_message_timestamp` at the moment at which the value was made.

    JavaScript's names and items (`metrics["backlog_count"]`) give the same.
    """

    __slots__ = ("_oldest_us", "backlog_bytes", "backlog_count")

    def __init__(self, queue: QueueState, *, remaining: bool = False) -> None:
        self.backlog_count, self.backlog_bytes = queue.count, queue.backlog_bytes
        if remaining:
            self.backlog_count -= queue.flying_count
            self.backlog_bytes -= queue.flying_bytes
        self._oldest_us = (_oldest_waiting_us(queue) if remaining else oldest_us(queue)) if self.backlog_count else None

    @property
    def oldest_message_timestamp(self) -> datetime | None:
        """When the oldest message was sent; None when there is none."""
        return None if self._oldest_us is None else moment(self._oldest_us)

    @property
    def oldest_message_timestamp_ms(self) -> int:
        """The same in milliseconds since 1970; 0 when there is none."""
        return (self._oldest_us or 0) // 1_000

    @property
    def backlogCount(self) -> int:  # noqa: N802 - JavaScript's name
        """`backlog_count`."""
        return self.backlog_count

    @property
    def backlogBytes(self) -> int:  # noqa: N802 - JavaScript's name
        """`backlog_bytes`."""
        return self.backlog_bytes

    @property
    def oldestMessageTimestamp(self) -> datetime | None:  # noqa: N802 - JavaScript's name
        """`oldest_message_timestamp`."""
        return self.oldest_message_timestamp

    def __getitem__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(type(self), name):
            raise KeyError(name)
        return getattr(self, name)

    def __repr__(self) -> str:
        return (
            f"Metrics(backlog_count={self.backlog_count}, backlog_bytes={self.backlog_bytes}, "
            f"oldest_message_timestamp={self.oldest_message_timestamp})"
        )


def oldest_us(queue: QueueState) -> int | None:
    """When the oldest message was sent. Only the heads are looked at: those that are gone are cleared there."""
    packed_us = queue.fresh[0].at_us if queue.fresh else None
    for flight in queue.flights.values():
        if flight.messages is None:
            packed_us = flight.parcels[0].at_us
            break
    if (index := queue.opened) is None:
        return packed_us
    found = [] if packed_us is None else [packed_us]
    found += islice((message.timestamp_us for message in index.ages if message.place != GONE), 1)
    found += [sent_us for sent_us, _, _ in index.dead_ages[:1]]
    return min(found, default=None)


def _oldest_waiting_us(queue: QueueState) -> int | None:
    """The same without what is in flight: the tracks begin with what waits, so that nobody has to step over the rest."""
    fresh_us = queue.fresh[0].at_us if queue.fresh else None
    if (index := queue.opened) is None:
        return fresh_us
    found = [] if fresh_us is None else [fresh_us]
    found += [message.timestamp_us for message in islice(index.track.line, 1)]
    found += [message.timestamp_us for _, _, message in index.track.returned[:1]]
    found += islice(_waiting_dead_letters(index.dead_ages), 1)
    return min(found, default=None)


def _waiting_dead_letters(heap: list[tuple[int, int, Message]]) -> Iterator[int]:
    """When dead letters were sent, the oldest first: a walk down from the heap's top, past what is in flight or gone."""
    edge = [(heap[0][0], 0)] if heap else []
    while edge:
        sent_us, index = heappop(edge)
        if heap[index][2].place not in {FLYING, GONE}:
            yield sent_us
        for child in (2 * index + 1, 2 * index + 2):
            if child < len(heap):
                heappush(edge, (heap[child][0], child))
