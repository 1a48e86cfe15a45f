"""What the core knows: queues, their consumers, their messages. Plain slotted data; only `apply` writes it.

Times are whole microseconds since 1970 (`_us`), so that sums are exact and a journal can be compared byte by byte.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import msgspec
from msgspec import field

from cfq_lint.facts import limits

READY, DELAYED, FLYING, LEASED, GONE = range(5)
"""Where a message is: ready, waiting for its delay, in a push batch, leased by a pull, or no longer in the queue."""


class QueueConfig(NamedTuple):
    """What is set on a queue itself. Seconds; `jurisdiction` None is global."""

    name: str
    delivery_delay: int = limits.DELIVERY_DELAY_SECONDS_DEFAULT
    message_retention_period: int = limits.RETENTION_SECONDS_DEFAULT
    jurisdiction: str | None = None
    delivery_paused: bool = False


class Consumer(NamedTuple):
    """What is set on a queue's consumer, in Wrangler's names and units (seconds, but `visibility_timeout_ms`)."""

    type: str = "worker"
    max_batch_size: int = limits.BATCH_SIZE_DEFAULT
    max_batch_timeout: int | float = limits.BATCH_TIMEOUT_SECONDS_DEFAULT
    max_retries: int = limits.RETRIES_DEFAULT
    dead_letter_queue: str | None = None
    retry_delay: int = 0
    max_concurrency: int | None = None
    visibility_timeout_ms: int = limits.VISIBILITY_TIMEOUT_MS_DEFAULT


DEFAULT_CONSUMER = Consumer()
"""The service's defaults; they hold for a lease whose consumer has been removed."""


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


class Flight(NamedTuple):
    """A push batch that a consumer has and has not settled; `size_bytes` is that of its bodies."""

    batch: int
    ids: tuple[str, ...]
    messages: list[Message]
    consumer: Consumer
    started_us: int
    size_bytes: int


class Track(msgspec.Struct, gc=False, eq=False):
    """Waiting messages in order of arrival, to know who expires next: the never delivered in a line, the returned in a heap.

    A message in flight is skipped, not removed; `tracked` tells whether a returned one must be entered again.
    """

    line: deque[Message] = field(default_factory=deque)
    returned: list[tuple[int, int, Message]] = field(default_factory=list)


class QueueState(msgspec.Struct, gc=False, eq=False):
    """A queue with everything in it. `ready` is in order, `leases` is a heap; some of what they hold may be gone.

    `delayed` is a heap of moments, and `delayed_until` has the messages of each in order of entry, or the one that waits alone.
    `ages` has the messages sent, `dead_ages` (a heap) the dead letters, by when they were sent. `window` has the moments of the
    last second of sending, each with how many came, and `lately` is their sum.
    """

    config: QueueConfig
    consumer: Consumer | None = None
    attached: bool = False
    messages: dict[str, Message] = field(default_factory=dict)
    ready: deque[Message] = field(default_factory=deque)
    ready_gone: int = 0
    delayed: list[int] = field(default_factory=list)
    delayed_until: dict[int, Message | list[Message]] = field(default_factory=dict)
    delayed_gone: int = 0
    flights: dict[int, Flight] = field(default_factory=dict)
    flying_count: int = 0
    flying_bytes: int = 0
    leases: list[tuple[int, int, str, Message]] = field(default_factory=list)
    ages: deque[Message] = field(default_factory=deque)
    dead_ages: list[tuple[int, int, Message]] = field(default_factory=list)
    track: Track = field(default_factory=Track)
    dead_track: Track = field(default_factory=Track)
    backlog_bytes: int = 0
    window: deque[tuple[int, int]] = field(default_factory=deque)
    lately: int = 0
    slots: int = 1
    backlog_seen: int | None = None
    failure_permille: int = 0
    wake_expiry_us: int | None = None
    wake_lapse_us: int | None = None
    wake_departure_us: int | None = None


class State(msgspec.Struct, eq=False):
    """An account. `dirty` and what follows it are the agenda, which `machine` derives from the queues.

    `passive` is a heap of (moment, kind, queue), `departures` one of (moment, queue), `turn` and `next_turn` hold queues.
    """

    plan: str = "paid"
    queues: dict[str, QueueState] = field(default_factory=dict)
    entries: int = 0
    batches: int = 0
    now_us: int = 0
    dirty: set[str] = field(default_factory=set)
    passive: list[tuple[int, int, str]] = field(default_factory=list)
    departures: list[tuple[int, str]] = field(default_factory=list)
    turn: list[str] = field(default_factory=list)
    next_turn: list[str] = field(default_factory=list)
