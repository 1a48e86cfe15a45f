"""What each event did to messages: steps, each of a kind. Nothing else reads from an event what became of a message."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.core import events as happened
from emulator.engine.clock import moment

if TYPE_CHECKING:
    from emulator.core.events import Event


class Kind(StrEnum):
    """The kinds of steps, in the words that a trace has for them. REPEATED: the acknowledgement got lost.

    A message is REDRIVEN out of a queue, and REENTERED in the one that it was sent to again.
    """

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
    REDRIVEN = "redriven"
    REENTERED = "redriven from"


ENTRIES = frozenset({Kind.SENT, Kind.ARRIVED, Kind.REENTERED})
"""With these a message enters a queue."""
DELIVERIES = frozenset({Kind.DELIVERED, Kind.LEASED})
"""With these a consumer gets it."""
RETURNS = frozenset({Kind.RETRIED, Kind.LAPSED, Kind.REPEATED})
"""With these it goes back into line."""
ENDS = frozenset({Kind.ACKED, Kind.DEAD_LETTERED, Kind.DROPPED, Kind.EXPIRED, Kind.PURGED, Kind.REDRIVEN})
"""With these it leaves its queue for good; a fate is named after one of them."""
MOVES = ENTRIES | RETURNS | ENDS
"""These change where a message is; the others leave it in its queue, in somebody's hands."""
_TOLD_WHERE = {Kind.ARRIVED: " from", Kind.REENTERED: "", Kind.REDRIVEN: " to"}
"""These name the other queue."""
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
        words = f"{self.kind}{_TOLD_WHERE[self.kind]} {self.other}" if self.kind in _TOLD_WHERE else str(self.kind)
        if self.kind in _UNTIL and self.values[place] > self.at_us:
            words += f" until {moment(self.values[place]).isoformat()}"
        return words if self.error is None else f"{words}: {self.error}"


def steps(event: Event) -> list[Step]:
    """The steps of an event, in order; none where it touches no message."""
    kind: type = type(event)
    made: Any = event
    if kind is happened.Sent:
        found = Step(Kind.SENT, made.at_us, made.queue, made.ids, (), None, None, None, made.bodies, made.content_types)
    elif kind is happened.Delivered:
        found = Step(Kind.DELIVERED, made.at_us, made.queue, made.ids, made.attempts, batch=made.batch)
    elif kind in _SETTLEMENTS:
        return _settlement(made)
    elif kind is happened.Pulled:
        found = Step(Kind.LEASED, made.at_us, made.queue, made.ids, made.attempts)
    elif kind is happened.LeasesExtended:
        found = Step(Kind.EXTENDED, made.at_us, made.queue, made.ids, (made.until_us,) * len(made.ids))
    elif kind is happened.Redriven:
        out = Step(Kind.REDRIVEN, made.at_us, made.queue, made.ids, other=made.target)
        return [out, Step(Kind.REENTERED, made.at_us, made.target, made.ids, other=made.queue)]
    elif kind in _DELETIONS and made.ids:
        found = Step(_DELETIONS[kind], made.at_us, made.queue, made.ids)
    else:
        return []
    return [found]


_SETTLEMENTS = frozenset({happened.Settled, happened.LeasesSettled, happened.LeasesLapsed})
_DELETIONS = {happened.Expired: Kind.EXPIRED, happened.Purged: Kind.PURGED, happened.QueueDeleted: Kind.PURGED}


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
