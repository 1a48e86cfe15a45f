"""What the core knows: queues, their consumers, their messages. Plain slotted data; only `apply` writes it.

Times are whole microseconds since 1970 (`_us`), so that sums are exact and a journal can be compared byte by byte.
"""

from __future__ import annotations

from collections import deque
from operator import attrgetter
from typing import NamedTuple

import msgspec
from msgspec import field

from cfq_lint.facts import limits
from emulator.core.messages import FLYING, Columns, Index, Message, Parcel

_ID = attrgetter("id")


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


class Flight(msgspec.Struct, gc=False, eq=False):
    """A push batch that a consumer has and has not settled; `size_bytes` is that of its bodies. Unpacked, it has `messages`."""

    batch: int
    ids: tuple[str, ...]
    attempts: tuple[int, ...]
    consumer: Consumer
    started_us: int
    size_bytes: int = 0
    parcels: tuple[Parcel, ...] = ()
    messages: list[Message] | None = None

    def columns(self) -> Columns:
        """What a consumer may see of it."""
        if self.messages is not None:
            rows = [(message.body, message.content_type, message.timestamp_us) for message in self.messages]
            return Columns(self.ids, self.attempts, *zip(*rows, strict=True))
        if len(self.parcels) == 1:
            (parcel,) = self.parcels
            return Columns(self.ids, self.attempts, parcel.bodies, parcel.content_types, (parcel.at_us,) * len(self.ids))
        bodies: tuple[bytes, ...] = ()
        content_types: tuple[str, ...] = ()
        timestamps_us: tuple[int, ...] = ()
        for parcel in self.parcels:
            bodies += parcel.bodies
            content_types += parcel.content_types
            timestamps_us += (parcel.at_us,) * len(parcel.ids)
        return Columns(self.ids, self.attempts, bodies, content_types, timestamps_us)


class QueueState(msgspec.Struct, gc=False, eq=False):
    """A queue with everything in it: `count` messages, of which `flying_count` are in `flights`.

    `fresh` has what stands in line as it was sent: `fresh_count` messages, behind those of `opened`; of its first parcel
    `fresh_start` have left. `opened` has the messages that are known one by one: read them by `index` or `messages`, which
    unpack the others where any are `packed`. `window` has the moments of the last second of sending, each with how many came,
    and `lately` is their sum.
    """

    config: QueueConfig
    consumer: Consumer | None = None
    attached: bool = False
    count: int = 0
    backlog_bytes: int = 0
    fresh: deque[Parcel] = field(default_factory=deque)
    fresh_start: int = 0
    fresh_count: int = 0
    flights: dict[int, Flight] = field(default_factory=dict)
    flying_count: int = 0
    flying_bytes: int = 0
    opened: Index | None = None
    packed: bool = False
    window: deque[tuple[int, int]] = field(default_factory=deque)
    lately: int = 0
    slots: int = 1
    backlog_seen: int | None = None
    failure_permille: int = 0
    wake_expiry_us: int | None = None
    wake_lapse_us: int | None = None
    wake_departure_us: int | None = None

    @property
    def index(self) -> Index:
        """Every message by itself. What was packed is unpacked: nothing that is told of the queue changes by that."""
        opened = self.opened
        if opened is None:
            opened = self.opened = Index()
        if not self.packed:
            return opened
        for flight in self.flights.values():
            if flight.messages is None:
                flight.messages = flying = [message for parcel in flight.parcels for message in parcel.messages()]
                for message in flying:
                    message.place, message.attempts, message.tracked = FLYING, 1, False
                opened.messages.update(zip(flight.ids, flying, strict=True))
                opened.ages.extend(flying)
        while self.fresh:
            parcel = self.fresh.popleft()
            waiting = parcel.part(self.fresh_start, len(parcel.ids)).messages()
            self.fresh_start = 0
            opened.messages.update(zip(map(_ID, waiting), waiting, strict=True))
            for line in (opened.ready, opened.track.line, opened.ages):
                line.extend(waiting)
        self.fresh_count, self.packed = 0, False
        return opened

    def messages_of(self, flight: Flight) -> list[Message]:
        """The messages of a batch that is out one by one, those that are gone meanwhile among them."""
        if flight.messages is None:
            self.index  # noqa: B018 - which unpacks whatever there is
        assert flight.messages is not None, "the batch is of this queue"
        return flight.messages

    @property
    def messages(self) -> dict[str, Message]:
        """Every message by its id, in order of entry."""
        return self.index.messages


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
