"""What the core knows: queues, their consumers, their messages. Plain slotted data; only `apply` writes it.

Times are whole microseconds since 1970 (`_us`), so that sums are exact and a journal can be compared byte by byte.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

import msgspec

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
    """A push batch that a consumer has and has not settled."""

    batch: int
    ids: tuple[str, ...]
    messages: list[Message]
    consumer: Consumer
    started_us: int


class Track:
    """Waiting messages in order of arrival, to know who expires next: the never delivered in a line, the returned in a heap.

    A message in flight is skipped, not removed; `tracked` tells whether a returned one must be entered again.
    """

    __slots__ = ("line", "returned")

    def __init__(self) -> None:
        self.line: deque[Message] = deque()
        self.returned: list[tuple[int, int, Message]] = []


class Counts:
    """How many messages took each way through a queue since it was created. `received` arrived as dead letters."""

    __slots__ = (
        "acked", "dead_lettered", "delivered", "dropped", "expired", "purged", "received", "repeated", "retried", "sent",
    )  # fmt: skip

    def __init__(self) -> None:
        self.sent = self.received = self.delivered = self.acked = self.retried = self.repeated = 0
        self.dead_lettered = self.dropped = self.expired = self.purged = 0


class QueueState:
    """A queue with everything in it. `ready` is in order, `leases` is a heap; some of what they hold may be gone.

    `delayed` is a heap of moments, and `delayed_until` has the messages of each in order of entry, or the one that waits alone.
    `ages` has the messages sent, `dead_ages` (a heap) the dead letters, by when they were sent. `window` has the moments of the
    last second of sending, each with how many came, and `lately` is their sum.
    """

    __slots__ = (
        "ages", "attached", "backlog_bytes", "backlog_seen", "config", "consumer", "counts", "dead_ages", "dead_track",
        "delayed", "delayed_gone", "delayed_until", "failure_permille", "flights", "flying_bytes", "flying_count", "lately",
        "leases", "messages", "ready", "ready_gone", "slots", "track", "wake_departure_us", "wake_expiry_us", "wake_lapse_us",
        "window",
    )  # fmt: skip

    def __init__(self, config: QueueConfig) -> None:
        self.config = config
        self.consumer: Consumer | None = None
        self.attached = False
        self.messages: dict[str, Message] = {}
        self.ready: deque[Message] = deque()
        self.ready_gone = 0
        self.delayed: list[int] = []
        self.delayed_until: dict[int, Message | list[Message]] = {}
        self.delayed_gone = 0
        self.flights: dict[int, Flight] = {}
        self.flying_count = self.flying_bytes = 0
        self.leases: list[tuple[int, int, str, Message]] = []
        self.ages: deque[Message] = deque()
        self.dead_ages: list[tuple[int, int, Message]] = []
        self.track = Track()
        self.dead_track = Track()
        self.backlog_bytes = 0
        self.window: deque[tuple[int, int]] = deque()
        self.lately = 0
        self.counts = Counts()
        self.slots = 1
        self.backlog_seen: int | None = None
        self.failure_permille = 0
        self.wake_expiry_us: int | None = None
        self.wake_lapse_us: int | None = None
        self.wake_departure_us: int | None = None


class State:
    """An account. `dirty` and what follows it are the agenda, which `machine` derives from the queues.

    `passive` is a heap of (moment, kind, queue), `departures` one of (moment, queue), `turn` and `next_turn` hold queues.
    """

    __slots__ = ("batches", "departures", "dirty", "entries", "next_turn", "now_us", "passive", "plan", "queues", "turn")

    def __init__(self, plan: str = "paid") -> None:
        self.plan = plan
        self.queues: dict[str, QueueState] = {}
        self.entries = 0
        self.batches = 0
        self.now_us = 0
        self.dirty: set[str] = set()
        self.passive: list[tuple[int, int, str]] = []
        self.departures: list[tuple[int, str]] = []
        self.turn: list[str] = []
        self.next_turn: list[str] = []
