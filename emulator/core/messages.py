"""Messages: one by one, as they were sent together, as a consumer gets them; and where in a queue each one stands.

A message that goes the straight way (sent, ready at once, delivered, acknowledged with its batch) never becomes a `Message`: it
stays a row of the columns that its send brought. That is for speed alone; a queue unpacks what it holds as soon as somebody
wants a message by itself (`QueueState.index`).
"""

from __future__ import annotations

from collections import deque
from itertools import count, repeat
from typing import NamedTuple

import msgspec
from msgspec import field

READY, DELAYED, FLYING, LEASED, GONE = range(5)
"""Where a message is: ready, waiting for its delay, in a push batch, leased by a pull, or no longer in the queue."""


class Message(msgspec.Struct, gc=False, eq=False, array_like=True):
    """One message in one queue. `entry` is renewed each time it returns; `body` is as stored; `dead`: it was dead-lettered.

    A struct, because hundreds of thousands are made; the collector need not look at them, as no circle runs through a message.
    """

    id: str
    body: bytes
    content_type: str
    timestamp_us: int
    arrived_us: int
    ready_us: int
    entry: int
    attempts: int = 0
    place: int = READY
    dead: bool = False
    tracked: bool = True
    lease: str = ""
    lease_until_us: int = 0


class Parcel(msgspec.Struct, gc=False, eq=False, frozen=True):
    """Messages of one send, in columns; all were sent, and were ready, at `at_us`. `entry` is the number of the first."""

    at_us: int
    entry: int
    ids: tuple[str, ...]
    bodies: tuple[bytes, ...]
    content_types: tuple[str, ...]

    def part(self, start: int, stop: int) -> Parcel:
        """Some of its messages."""
        ids, bodies, content_types = self.ids[start:stop], self.bodies[start:stop], self.content_types[start:stop]
        return Parcel(self.at_us, self.entry + start, ids, bodies, content_types)

    def messages(self) -> list[Message]:
        """Each message by itself."""
        now = repeat(self.at_us)
        return list(map(Message, self.ids, self.bodies, self.content_types, now, now, now, count(self.entry)))


class Columns(NamedTuple):
    """The messages of a batch as they were delivered, a column for each thing that a consumer may ask for."""

    ids: tuple[str, ...]
    attempts: tuple[int, ...]
    bodies: tuple[bytes, ...]
    content_types: tuple[str, ...]
    timestamps_us: tuple[int, ...]


class Track(msgspec.Struct, gc=False, eq=False):
    """Waiting messages in order of arrival, to know who expires next: the never delivered in a line, the returned in a heap.

    A message in flight is skipped, not removed; `tracked` tells whether a returned one must be entered again.
    """

    line: deque[Message] = field(default_factory=deque)
    returned: list[tuple[int, int, Message]] = field(default_factory=list)


class Index(msgspec.Struct, gc=False, eq=False):
    """Messages of a queue one by one, and where they stand. `ready` is in order, `leases` is a heap; some may be gone.

    `delayed` is a heap of moments, and `delayed_until` has the messages of each in order of entry, or the one that waits alone.
    `ages` has the messages sent, `dead_ages` (a heap) the dead letters, by when they were sent.
    """

    messages: dict[str, Message] = field(default_factory=dict)
    ready: deque[Message] = field(default_factory=deque)
    ready_gone: int = 0
    delayed: list[int] = field(default_factory=list)
    delayed_until: dict[int, Message | list[Message]] = field(default_factory=dict)
    delayed_gone: int = 0
    leases: list[tuple[int, int, str, Message]] = field(default_factory=list)
    ages: deque[Message] = field(default_factory=deque)
    dead_ages: list[tuple[int, int, Message]] = field(default_factory=list)
    track: Track = field(default_factory=Track)
    dead_track: Track = field(default_factory=Track)
