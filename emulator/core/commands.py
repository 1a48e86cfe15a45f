"""What somebody asks for. Names, ids and chance travel inside a command, so that the core draws nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from emulator.core.model import Consumer


class _Asked(msgspec.Struct, frozen=True, gc=False):
    """Made in C."""


class CreateQueue(_Asked, frozen=True):
    """Create a queue. None takes the plan's default; seconds."""

    queue: str
    delivery_delay: int | None = None
    message_retention_period: int | None = None
    jurisdiction: str | None = None


class ChangeQueue(_Asked, frozen=True):
    """Change a queue's settings; None leaves one as it is."""

    queue: str
    delivery_delay: int | None = None
    message_retention_period: int | None = None
    delivery_paused: bool | None = None


class DeleteQueue(_Asked, frozen=True):
    """Delete a queue, its consumer and its messages."""

    queue: str


class SetConsumer(_Asked, frozen=True):
    """Give a queue its consumer, or with `replace` change the one it has. `attached`: its handler is there."""

    queue: str
    consumer: Consumer
    attached: bool = False
    replace: bool = False


class RemoveConsumer(_Asked, frozen=True):
    """Take a queue's consumer away."""

    queue: str


class Attach(_Asked, frozen=True):
    """A handler has come (or gone) for the push consumer of a queue."""

    queue: str
    attached: bool = True


class Send(_Asked, frozen=True):
    """Store messages. `delays_seconds` holds None where the batch's or the queue's delay applies; `many`: it was sendBatch."""

    queue: str
    ids: tuple[str, ...]
    bodies: tuple[bytes, ...]
    content_types: tuple[str, ...]
    delays_seconds: tuple[int | None, ...]
    batch_delay_seconds: int | None = None
    many: bool = False


class Deliver(_Asked, frozen=True):
    """Let a batch leave. `ids` picks out of order what is ready; empty takes the first."""

    queue: str
    ids: tuple[str, ...] = ()


class Settle(_Asked, frozen=True):
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


class Pull(_Asked, frozen=True):
    """Lease messages. `nonces` has at least one for each message that may come; they make the lease ids.

    `ids` picks out of order what is ready; empty takes the first.
    """

    queue: str
    batch_size: int
    nonces: tuple[str, ...]
    visibility_timeout_ms: int | None = None
    ids: tuple[str, ...] = ()


class Ack(_Asked, frozen=True):
    """Settle leases: acknowledge some, retry others after a delay in seconds (None: the consumer's `retry_delay`)."""

    queue: str
    acks: tuple[str, ...] = ()
    retries: tuple[tuple[str, int | None], ...] = ()


class Extend(_Asked, frozen=True):
    """Prolong leases from now on; each gets a new lease id."""

    queue: str
    leases: tuple[str, ...]
    nonces: tuple[str, ...]
    visibility_timeout_ms: int | None = None


class Purge(_Asked, frozen=True):
    """Remove what a queue holds, or only the messages of these ids. What a push consumer has in hand stays with it."""

    queue: str
    ids: tuple[str, ...] | None = None


class Redrive(_Asked, frozen=True):
    """Send messages of one queue to another again, in one step: ids, bodies and types stay, attempts start anew."""

    queue: str
    target: str
    ids: tuple[str, ...]


class StopClock(_Asked, frozen=True):
    """Remember the time, because the emulator closes."""


Command = (
    CreateQueue | ChangeQueue | DeleteQueue | SetConsumer | RemoveConsumer | Attach | Send | Deliver | Settle | Pull | Ack
    | Extend | Purge | Redrive | StopClock
)  # fmt: skip
