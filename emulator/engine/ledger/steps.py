"""What each event did to messages: steps, each of a kind. Nothing else reads from an event what became of a message."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.core import events as happened
from emulator.engine.clock import moment

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.core.events import Event


class Kind(StrEnum):
    """The kinds of steps, in the words that a trace has for them. REPEATED: the acknowledgement got lost."""

    SENT = "sent"
    ARRIVED = "arrived"
    DELIVERED = "delivered"
    LEASED = "leased"
    EXTENDED = "lease extended"
    RETRIED = "retried"
    LAPSED = "lease lapsed"
    REPEATED = "acked, but the acknowledgement got lost"
    ACKED = "acked"
    DEAD_LETTERED = "dead-lettered"
    DROPPED = "dropped"
    EXPIRED = "expired"
    PURGED = "purged"


ENTRIES = frozenset({Kind.SENT, Kind.ARRIVED})
"""With these a message enters a queue."""
DELIVERIES = frozenset({Kind.DELIVERED, Kind.LEASED})
"""With these a consumer gets it."""
RETURNS = frozenset({Kind.RETRIED, Kind.LAPSED, Kind.REPEATED})
"""With these it goes back into line."""
ENDS = frozenset({Kind.ACKED, Kind.DEAD_LETTERED, Kind.DROPPED, Kind.EXPIRED, Kind.PURGED})
"""With these it leaves its queue for good; a fate is named after one of them."""
MOVES = ENTRIES | RETURNS | ENDS
"""These change where a message is; the others leave it in its queue, in somebody's hands."""
_UNTIL = frozenset({Kind.RETRIED, Kind.LAPSED, Kind.EXTENDED})

_FAILED = frozenset({Kind.RETRIED, Kind.DEAD_LETTERED, Kind.DROPPED, Kind.EXPIRED})


class Step(NamedTuple):
    """The same step of several messages of one queue, at one moment.

    `values` has a number for each message: its attempts where it was delivered or leased; the moment (microseconds) when it is
    ready again or its lease ends. `other` is the queue that it arrived from or went to. `batch` is the push batch's number.
    """

    kind: Kind
    at_us: int
    queue: str
    ids: tuple[str, ...]
    values: tuple[int, ...] = ()
    error: str | None = None
    other: str | None = None
    batch: int | None = None
    bodies: tuple[bytes, ...] = ()
    content_types: tuple[str, ...] = ()

    def text(self, place: int) -> str:
        """What became of one of the messages, for people."""
        words = f"arrived from {self.other}" if self.kind is Kind.ARRIVED else str(self.kind)
        if self.kind in _UNTIL and self.values[place] > self.at_us:
            words += f" until {moment(self.values[place]).isoformat()}"
        return words if self.error is None else f"{words}: {self.error}"


def steps(event: Event) -> list[Step]:
    """The steps of an event, in order; none where it touches no message."""
    make = _MAKERS.get(type(event))
    return [] if make is None else make(event)


def _sent(event: happened.Sent) -> list[Step]:
    return [Step(Kind.SENT, event.at_us, event.queue, event.ids, (), None, None, None, event.bodies, event.content_types)]


def _delivered(event: happened.Delivered) -> list[Step]:
    return [Step(Kind.DELIVERED, event.at_us, event.queue, event.ids, event.attempts, batch=event.batch)]


def _pulled(event: happened.Pulled) -> list[Step]:
    return [Step(Kind.LEASED, event.at_us, event.queue, event.ids, event.attempts)]


def _extended(event: happened.LeasesExtended) -> list[Step]:
    return [Step(Kind.EXTENDED, event.at_us, event.queue, event.ids, (event.until_us,) * len(event.ids))]


def _settlement(event: Any) -> list[Step]:
    """What became of messages whose attempt ended: in a batch, by a pull consumer's word, or with their leases."""
    at_us, queue, batch = event.at_us, event.queue, getattr(event, "batch", None)
    lapsed = type(event) is happened.LeasesLapsed
    again = Kind.LAPSED if lapsed else Kind.RETRIED
    error: str | None = "its lease lapsed" if lapsed else getattr(event, "error", None) or None
    found = []
    for kind, ids in (
        (again, event.retried),
        (Kind.REPEATED, getattr(event, "repeated", ())),
        (Kind.ACKED, getattr(event, "acked", ())),
        (Kind.DEAD_LETTERED, event.dead),
        (Kind.DROPPED, event.dropped),
        (Kind.EXPIRED, event.expired),
    ):
        if ids:
            why = error if kind in _FAILED else None
            other = event.target if kind is Kind.DEAD_LETTERED else None
            found.append(Step(kind, at_us, queue, ids, event.ready_us if kind is again else (), why, other, batch))
    if event.dead:
        found.append(Step(Kind.ARRIVED, at_us, event.target, event.dead, (), None, queue))
    return found


def _expired(event: happened.Expired) -> list[Step]:
    return [Step(Kind.EXPIRED, event.at_us, event.queue, event.ids)]


def _purged(event: happened.Purged | happened.QueueDeleted) -> list[Step]:
    return [Step(Kind.PURGED, event.at_us, event.queue, event.ids)] if event.ids else []


_MAKERS: dict[type, Callable[[Any], list[Step]]] = {
    happened.Sent: _sent,
    happened.Delivered: _delivered,
    happened.Pulled: _pulled,
    happened.LeasesExtended: _extended,
    happened.Settled: _settlement,
    happened.LeasesSettled: _settlement,
    happened.LeasesLapsed: _settlement,
    happened.Expired: _expired,
    happened.Purged: _purged,
    happened.QueueDeleted: _purged,
}
