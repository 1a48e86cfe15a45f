"""The backlog of a queue at a moment: how many messages, how many bytes, and how old the oldest is.

https://developers.cloudflare.com/queues/observability/metrics/. Counts are of messages not acknowledged: waiting, delayed,
leased and out for delivery. A batch's own metadata count what remained when it left, without what push consumers have in hand.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from emulator.clock import moment
from emulator.core.model import FLYING, GONE, QueueState


class Metrics:
    """Counts are of the moment at which the value was made; the age of the oldest message is read when it is asked for."""

    __slots__ = ("_queue", "_remaining", "backlog_bytes", "backlog_count")

    def __init__(self, queue: QueueState | None, *, remaining: bool = False) -> None:
        self._queue, self._remaining = queue, remaining
        self.backlog_count = self.backlog_bytes = 0
        if queue is not None:
            self.backlog_count, self.backlog_bytes = len(queue.messages), queue.backlog_bytes
            if remaining:
                self.backlog_count -= queue.flying_count
                self.backlog_bytes -= queue.flying_bytes

    @property
    def oldest_message_timestamp(self) -> datetime | None:
        """When the oldest message was sent; None when there is none."""
        oldest_us = self._oldest_us()
        return None if oldest_us is None else moment(oldest_us)

    @property
    def oldest_message_timestamp_ms(self) -> int:
        """The same in milliseconds since 1970; 0 when there is none."""
        return (self._oldest_us() or 0) // 1_000

    def _oldest_us(self) -> int | None:
        if self._queue is None or not self.backlog_count:
            return None
        beyond = FLYING if self._remaining else GONE
        held = [m.timestamp_us for m in self._queue.messages.values() if m.place != beyond]
        return min(held) if held else None

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
