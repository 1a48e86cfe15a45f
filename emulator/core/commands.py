"""What somebody asks for. Names, ids and chance travel inside a command, so that the core draws nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from emulator.core.model import Consumer


class CreateQueue(NamedTuple):
    """Create a queue. None takes the plan's default; seconds."""

    queue: str
    delivery_delay: int | None = None
    message_retention_period: int | None = None
    jurisdiction: str | None = None


class ChangeQueue(NamedTuple):
    """Change a queue's settings; None leaves one as it is."""

    queue: str
    delivery_delay: int | None = None
    message_retention_period: int | None = None
    delivery_paused: bool | None = None


class DeleteQueue(NamedTuple):
    """Delete a queue, its consumer and its messages."""

    queue: str


class SetConsumer(NamedTuple):
    """Give a queue its consumer, or with `replace` change the one it has. `attached`: its handler is there."""

    queue: str
    consumer: Consumer
    attached: bool = False
    replace: bool = False


class RemoveConsumer(NamedTuple):
    """Take a queue's consumer away."""

    queue: str


class Attach(NamedTuple):
    """A handler has come (or gone) for the push consumer of a queue."""

    queue: str
    attached: bool = True


class Send(NamedTuple):
    """Store messages. `delays_seconds` holds None where the batch's or the queue's delay applies; `many`: it was sendBatch."""

    queue: str
    ids: tuple[str, ...]
    bodies: tuple[bytes, ...]
    content_types: tuple[str, ...]
    delays_seconds: tuple[int | None, ...]
    batch_delay_seconds: int | None = None
    many: bool = False


class Deliver(NamedTuple):
    """Let a batch leave. `ids` picks out of order what is ready; empty takes the first."""

    queue: str
    ids: tuple[str, ...] = ()


class Settle(NamedTuple):
    """A batch has ended. `retries` maps ids to delays (None: the defaults); `lost` are acknowledgements that got lost."""

    queue: str
    batch: int
    outcome: str = "ok"
    error: str | None = None
    acks: frozenset[str] = frozenset()
    retries: tuple[tuple[str, int | None], ...] = ()
    ack_all: bool = False
    retry_all: bool = False
    retry_all_delay_seconds: int | None = None
    lost: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()


class Pull(NamedTuple):
    """Lease messages. `nonces` has at least one for each message that may come; they make the lease ids.

    `ids` picks out of order what is ready; empty takes the first.
    """

    queue: str
    batch_size: int
    nonces: tuple[str, ...]
    visibility_timeout_ms: int | None = None
    ids: tuple[str, ...] = ()


class Ack(NamedTuple):
    """Settle leases: acknowledge some, retry others after a delay in seconds (None: the consumer's `retry_delay`)."""

    queue: str
    acks: tuple[str, ...] = ()
    retries: tuple[tuple[str, int | None], ...] = ()


class Extend(NamedTuple):
    """Prolong leases from now on; each gets a new lease id."""

    queue: str
    leases: tuple[str, ...]
    nonces: tuple[str, ...]
    visibility_timeout_ms: int | None = None


class Purge(NamedTuple):
    """Remove what a queue holds, or only the messages of these ids. What a push consumer has in hand stays with it."""

    queue: str
    ids: tuple[str, ...] | None = None


class Redrive(NamedTuple):
    """Send messages of one queue to another again, in one step: ids, bodies and types stay, attempts start anew."""

    queue: str
    target: str
    ids: tuple[str, ...]


class StopClock(NamedTuple):
    """Remember the time, because the emulator closes."""


Command = (
    CreateQueue | ChangeQueue | DeleteQueue | SetConsumer | RemoveConsumer | Attach | Send | Deliver | Settle | Pull | Ack
    | Extend | Purge | Redrive | StopClock
)  # fmt: skip
