"""What has happened, read from the events when somebody asks: deliveries, fates, the trace of a message, the report.

Nothing in here is kept while the emulator runs; a table is a plain text for people.
One reading of the events serves fates, traces and reports, and therefore they are one module.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.core import events as happened
from emulator.engine import bodies
from emulator.engine.clock import moment

if TYPE_CHECKING:
    from datetime import datetime

    from emulator.core.events import Event


class Delivery(NamedTuple):
    """A batch that a push consumer received. `messages` are (id, body, attempts); `outcome` is None while it runs."""

    at: datetime
    queue: str
    messages: list[tuple[str, Any, int]]
    outcome: str | None
    error: str | None


class Fate(NamedTuple):
    """What became of a message in one queue: waiting, acked, dead-lettered, dropped, expired or purged, and when."""

    id: str
    queue: str
    state: str
    at: datetime
    attempts: int
    body: Any


class Line(NamedTuple):
    """One thing that happened to a message."""

    at: datetime
    queue: str
    id: str
    attempt: int
    what: str


class Entry:
    """A message in one queue, while the events are read."""

    __slots__ = ("at_us", "attempts", "body", "content_type", "id", "queue", "state")

    def __init__(self, id: str, queue: str, at_us: int, body: bytes, content_type: str) -> None:
        self.id, self.queue, self.at_us, self.body, self.content_type = id, queue, at_us, body, content_type
        self.state, self.attempts = "waiting", 0


_ENDS = (("acked", "acked"), ("dead", "dead-lettered"), ("dropped", "dropped"), ("expired", "expired"))


class Reading:
    """Follows messages through the events. `entries` has one for each queue that a message entered, in order."""

    def __init__(self, tell: Callable[[Event, Entry, str], None] | None = None) -> None:
        self.entries: list[Entry] = []
        self._now: dict[tuple[str, str], Entry] = {}
        self._tell = tell

    def follow(self, events: Iterable[Event]) -> Reading:
        """Read events; may be called again with those that follow."""
        for event in events:
            if isinstance(event, happened.Sent):
                for id, body, content_type in zip(event.ids, event.bodies, event.content_types, strict=True):
                    self._enter(event, Entry(id, event.queue, event.at_us, body, content_type), "sent")
            elif isinstance(event, happened.Delivered | happened.Pulled):
                what = "delivered" if isinstance(event, happened.Delivered) else "leased"
                for id, attempts in zip(event.ids, event.attempts, strict=True):
                    entry = self._now[event.queue, id]
                    entry.attempts = attempts
                    self._say(event, entry, what)
            elif isinstance(event, happened.Settled | happened.LeasesSettled | happened.LeasesLapsed):
                self._settle(event)
            elif isinstance(event, happened.Expired):
                self._end(event, event.ids, "expired")
            elif isinstance(event, happened.Purged | happened.QueueDeleted):
                self._end(event, event.ids, "purged")
        return self

    def _settle(self, event: happened.Settled | happened.LeasesSettled | happened.LeasesLapsed) -> None:
        error = f": {event.error}" if isinstance(event, happened.Settled) and event.error else ""
        for id, ready_us in zip(event.retried, event.ready_us, strict=True):
            entry = self._now[event.queue, id]
            entry.at_us = event.at_us
            why = "lease lapsed" if isinstance(event, happened.LeasesLapsed) else "retried"
            until = "" if ready_us <= event.at_us else f" until {moment(ready_us).isoformat()}"
            self._say(event, entry, f"{why}{until}{error}")
        if isinstance(event, happened.Settled):
            for id in event.repeated:
                self._say(event, self._now[event.queue, id], "acked, but the acknowledgement got lost")
        buried = [self._now[event.queue, id] for id in event.dead]
        for field, state in _ENDS:
            self._end(event, getattr(event, field, ()), state, "" if state == "acked" else error)
        for old in buried:
            target = str(event.target)
            entry = Entry(old.id, target, event.at_us, old.body, old.content_type)
            self._enter(event, entry, f"arrived from {event.queue}")

    def _enter(self, event: Event, entry: Entry, what: str) -> None:
        self.entries.append(entry)
        self._now[entry.queue, entry.id] = entry
        self._say(event, entry, what)

    def _end(self, event: Any, ids: Iterable[str], state: str, why: str = "") -> None:
        for id in ids:
            entry = self._now[event.queue, id]
            entry.state, entry.at_us = state, event.at_us
            self._say(event, entry, state + why)

    def _say(self, event: Event, entry: Entry, what: str) -> None:
        if self._tell is not None:
            self._tell(event, entry, what)


def fates(events: Iterable[Event]) -> list[Fate]:
    """What became of every message in every queue that it entered, in order of entry."""
    return [
        Fate(e.id, e.queue, e.state, moment(e.at_us), e.attempts, bodies.decode(e.body, e.content_type))
        for e in Reading().follow(events).entries
    ]


def deliveries(events: Iterable[Event]) -> list[Delivery]:
    """Every batch that a push consumer received, in order."""
    contents: dict[str, tuple[bytes, str]] = {}
    found: list[Delivery] = []
    places: dict[tuple[str, int], int] = {}
    for event in events:
        if isinstance(event, happened.Sent):
            contents.update(zip(event.ids, zip(event.bodies, event.content_types, strict=True), strict=True))
        elif isinstance(event, happened.Delivered):
            places[event.queue, event.batch] = len(found)
            messages = [(id, bodies.decode(*contents[id]), n) for id, n in zip(event.ids, event.attempts, strict=True)]
            found.append(Delivery(moment(event.at_us), event.queue, messages, None, None))
        elif isinstance(event, happened.Settled):
            place = places[event.queue, event.batch]
            found[place] = found[place]._replace(outcome=event.outcome, error=event.error)
    return found


class Trace(Sequence[Line]):
    """The timeline of a message, or of all: a sequence of lines that prints as a table. `ends` tells where each message ended.

    They are of `ends.End`; `end` is that of the one message that was asked for, None when all were or it is not known.
    """

    def __init__(self, lines: list[Line], ends: Sequence[Any] = (), *, one: bool = False) -> None:
        self._lines = lines
        self.ends = list(ends)
        self.end: Any = self.ends[0] if one and self.ends else None

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, place: Any) -> Any:
        return self._lines[place]

    def __str__(self) -> str:
        rows = [(_clock(line.at), line.queue, line.id[:8], str(line.attempt or "-"), line.what) for line in self._lines]
        text = table(("when", "queue", "message", "attempt", "what became of it"), rows)
        if self.end is None:
            return text
        return f"{text}\n{self.end.text()}"

    def as_dict(self) -> dict[str, Any]:
        """Lines and ends as plain values."""
        lines = [{**line._asdict(), "at": line.at.isoformat()} for line in self._lines]
        return {"lines": lines, "messages": [end.as_dict() for end in self.ends]}

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.as_dict(), indent=2)

    __repr__ = __str__


def trace(events: Iterable[Event], message_id: str | None = None, ends: Sequence[Any] = ()) -> Trace:
    """What happened to one message (its id, or the beginning of it), or to all of them, line by line.

    `ends` (`emulator.engine.ledger.ends.End`) tell where they ended.
    """
    lines: list[Line] = []

    def tell(event: Event, entry: Entry, what: str) -> None:
        if message_id is None or entry.id.startswith(message_id):
            lines.append(Line(moment(event.at_us), entry.queue, entry.id, entry.attempts, what))

    Reading(tell).follow(events)
    return Trace(lines, ends, one=message_id is not None and len(ends) == 1)


def _clock(at: datetime) -> str:
    text = f"{at:%Y-%m-%d %H:%M:%S.%f}"
    return text.rstrip("0").rstrip(".")


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns of text under a ruled head."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]

    def drawn() -> Iterator[str]:
        for number, line in enumerate(lines):
            yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            if number == 0:
                yield "  ".join("-" * width for width in widths)

    return "\n".join(drawn())
