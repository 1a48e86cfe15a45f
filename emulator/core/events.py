"""What has happened, a batch at a time. Events are the truth: folded they give the state, and what is shown is read from them.

Every event has `at_us` (microseconds since 1970) first and, but for the last, the queue second.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import msgspec

from emulator.core.model import Consumer  # noqa: TC001 - who reads events from bytes asks for the types of their fields


class _Happened(msgspec.Struct, frozen=True, gc=False, array_like=True, forbid_unknown_fields=True):
    """Made in C, and nothing that the collector of garbage would have to look at: there may be millions."""


class QueueCreated(_Happened, frozen=True):
    """A queue came into being. Seconds."""

    at_us: int
    queue: str
    delivery_delay: int
    message_retention_period: int
    jurisdiction: str | None


class QueueChanged(_Happened, frozen=True):
    """A queue's settings are these now."""

    at_us: int
    queue: str
    delivery_delay: int
    message_retention_period: int
    delivery_paused: bool


class QueueDeleted(_Happened, frozen=True):
    """A queue is gone, and the messages in it with it."""

    at_us: int
    queue: str
    ids: tuple[str, ...]


class ConsumerSet(_Happened, frozen=True):
    """A queue has this consumer; `attached` tells whether its handler is there."""

    at_us: int
    queue: str
    consumer: Consumer
    attached: bool


class ConsumerRemoved(_Happened, frozen=True):
    """A queue has no consumer any more."""

    at_us: int
    queue: str


class HandlerAttached(_Happened, frozen=True):
    """The handler of a push consumer came or went."""

    at_us: int
    queue: str
    attached: bool


class Sent(_Happened, frozen=True):
    """Messages were stored, each ready at its moment."""

    at_us: int
    queue: str
    ids: tuple[str, ...]
    bodies: tuple[bytes, ...]
    content_types: tuple[str, ...]
    ready_us: tuple[int, ...]


class Delivered(_Happened, frozen=True):
    """A batch left for the push consumer. `attempts` count from 1."""

    at_us: int
    queue: str
    batch: int
    ids: tuple[str, ...]
    attempts: tuple[int, ...]


class Settled(_Happened, frozen=True):
    """A batch ended, and what became of each message. `retried` are ready at `ready_us`; `dead` went to `target`.

    `repeated` were acknowledged, but will come again: a fault lost the acknowledgement. `scale` is what the autoscaler
    made of it: slots, backlog seen, failure rate in permille.
    """

    at_us: int
    queue: str
    batch: int
    outcome: str
    error: str | None
    acked: tuple[str, ...]
    retried: tuple[str, ...] = ()
    ready_us: tuple[int, ...] = ()
    dead: tuple[str, ...] = ()
    target: str | None = None
    dropped: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    repeated: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    scale: tuple[int, int, int] | None = None


class Pulled(_Happened, frozen=True):
    """Messages were leased until a moment."""

    at_us: int
    queue: str
    ids: tuple[str, ...]
    attempts: tuple[int, ...]
    leases: tuple[str, ...]
    until_us: int


class LeasesSettled(_Happened, frozen=True):
    """A pull consumer acknowledged and retried; `warnings` pair lease ids with what was wrong with them."""

    at_us: int
    queue: str
    acked: tuple[str, ...]
    retried: tuple[str, ...] = ()
    ready_us: tuple[int, ...] = ()
    dead: tuple[str, ...] = ()
    target: str | None = None
    dropped: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    warnings: tuple[tuple[str, str], ...] = ()


class LeasesLapsed(_Happened, frozen=True):
    """Leases ran out: a failed attempt for each message."""

    at_us: int
    queue: str
    retried: tuple[str, ...] = ()
    ready_us: tuple[int, ...] = ()
    dead: tuple[str, ...] = ()
    target: str | None = None
    dropped: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()


class LeasesExtended(_Happened, frozen=True):
    """Leases were prolonged under new ids."""

    at_us: int
    queue: str
    ids: tuple[str, ...]
    leases: tuple[str, ...]
    until_us: int


class Expired(_Happened, frozen=True):
    """Waiting messages reached the retention of their queue."""

    at_us: int
    queue: str
    ids: tuple[str, ...]


class Purged(_Happened, frozen=True):
    """Messages were purged."""

    at_us: int
    queue: str
    ids: tuple[str, ...]


class Redriven(_Happened, frozen=True):
    """Messages were sent again from one queue to another, `target`, and are ready there at a moment."""

    at_us: int
    queue: str
    ids: tuple[str, ...]
    target: str
    ready_us: int


class ClockStopped(_Happened, frozen=True):
    """The emulator closed at this moment."""

    at_us: int


Event = (
    QueueCreated | QueueChanged | QueueDeleted | ConsumerSet | ConsumerRemoved | HandlerAttached | Sent | Delivered | Settled
    | Pulled | LeasesSettled | LeasesLapsed | LeasesExtended | Expired | Purged | Redriven | ClockStopped
)  # fmt: skip

KINDS: dict[str, type[Any]] = {kind.__name__: kind for kind in Event.__args__}
"""Every kind of event by its name."""


def to_json(event: Event) -> list[Any]:
    """An event as plain JSON: its kind, then its fields. A body that is UTF-8 is text, another one a list of its base64."""
    row: list[Any] = [type(event).__name__, *msgspec.structs.astuple(event)]
    if type(event) is Sent:
        try:
            row[4] = [body.decode() for body in event.bodies]
        except UnicodeDecodeError:
            row[4] = [_body_to_json(body) for body in event.bodies]
    return row


def _body_to_json(body: bytes) -> str | list[str]:
    try:
        return body.decode()
    except UnicodeDecodeError:
        return [b64encode(body).decode()]
