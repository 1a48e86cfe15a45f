"""What is kept of each message, step by step, and what is told of it: deliveries, fates, lines, warnings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cfq_lint.facts import limits
from emulator.core import events as happened
from emulator.engine import bodies
from emulator.engine.clock import moment
from emulator.engine.ledger.steps import DELIVERIES, ENDS, ENTRIES, MOVES, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from emulator.core.events import Event
    from emulator.engine.ledger.steps import Step

_UNREAD: Any = object()
_NEAR_BYTES = limits.MESSAGE_SIZE_BYTES - limits.MESSAGE_METADATA_BYTES


class Delivery(NamedTuple):
    """A batch that a push consumer received. `messages` are (id, body, attempts); `outcome` is None while it runs."""

    at: datetime
    queue: str
    messages: list[tuple[str, Any, int]]
    outcome: str | None
    error: str | None


class Fate(NamedTuple):
    """What became of a message in one queue: waiting, acked, dead-lettered, dropped, expired, purged or redriven, and when."""

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


class Record(NamedTuple):
    """One message's part in a step: its number in the ledger's entries, its place in the step, its attempts by then."""

    entry: int
    step: Step
    place: int
    attempts: int

    def line(self) -> Line:
        """The same for people."""
        step, place = self.step, self.place
        return Line(moment(step.at_us), step.queue, step.ids[place], self.attempts, step.text(place))


class History:
    """One message through all its queues: the numbers of its entries, and its body."""

    __slots__ = ("_value", "body", "content_type", "entries", "id", "known")

    def __init__(self, id: str, body: bytes, content_type: str) -> None:
        self.id, self.body, self.content_type = id, body, content_type
        self.entries: list[int] = []
        self.known: Any = None
        self._value: Any = _UNREAD

    @property
    def value(self) -> Any:
        """The body, decoded when it is first asked for."""
        if self._value is _UNREAD:
            self._value = bodies.decode(self.body, self.content_type)
        return self._value


class Records:
    """Every step of every message, in order (`rows`); `entries` has, for each queue that a message entered, the numbers of its
    rows, `histories` each message, `warnings` what users of handlers, pulls and sends were warned of.
    """  # noqa: D205 - the first sentence names everything

    def __init__(self) -> None:
        self.rows: list[Record] = []
        self.entries: list[list[int]] = []
        self.histories: dict[str, History] = {}
        self.warnings: list[str] = []
        self._entered: dict[tuple[str, str], int] = {}
        self._batches: list[tuple[Step, str | None, str | None]] = []
        self._out: dict[tuple[str, int | None], int] = {}
        self._deliveries: list[Delivery] = []
        self._new_batches: set[int] = set()
        self._lines: list[Line] = []
        self._fates: list[Fate] = []
        self._fates_end = 0

    def add(self, step: Step, attempts: Mapping[str, int]) -> None:
        """Write down a step of each of its messages, with the attempts that are known of them."""
        if step.kind in ENTRIES:
            self._enter(step)
        if step.kind is Kind.DELIVERED:
            self._out[step.queue, step.batch] = len(self._batches)
            self._new_batches.add(len(self._batches))
            self._batches.append((step, None, None))
        known = dict(zip(step.ids, step.values, strict=True)) if step.kind in DELIVERIES else attempts
        for place, id in enumerate(step.ids):
            entry = self._entered[step.queue, id]
            self.entries[entry].append(len(self.rows))
            self.rows.append(Record(entry, step, place, known.get(id, 0)))

    def _enter(self, step: Step) -> None:
        for place, id in enumerate(step.ids):
            if id not in self.histories:
                self.histories[id] = History(id, step.bodies[place], step.content_types[place])
            self._entered[step.queue, id] = len(self.entries)
            self.histories[id].entries.append(len(self.entries))
            self.entries.append([])

    def hear(self, event: Event) -> None:
        """Take from an event what it tells beside its steps: the outcome of a batch, and warnings."""
        if isinstance(event, happened.Settled):
            place = self._out.pop((event.queue, event.batch))
            self._batches[place] = (self._batches[place][0], event.outcome, event.error)
            self._new_batches.add(place)
            self.warnings += event.warnings
        elif isinstance(event, happened.LeasesSettled):
            self.warnings += [f"lease {lease}: {text}" for lease, text in event.warnings]
        elif isinstance(event, happened.Sent) and max(map(len, event.bodies)) > _NEAR_BYTES:
            self.warnings += [
                f"message {id} has {len(body)} bytes: with about {limits.MESSAGE_METADATA_BYTES} bytes of metadata "
                f"Cloudflare may refuse it as over {limits.MESSAGE_SIZE_BYTES}"
                for id, body in zip(event.ids, event.bodies, strict=True)
                if _NEAR_BYTES < len(body) <= limits.MESSAGE_SIZE_BYTES
            ]

    def histories_of(self, id: str) -> list[History]:
        """The message of that id, or those whose ids begin so."""
        exact = self.histories.get(id)
        return [exact] if exact else [each for name, each in self.histories.items() if name.startswith(id)]

    # --- views that are kept, so that asking again costs what has changed

    def deliveries(self) -> list[Delivery]:
        """Every batch that a push consumer received, in order. Bodies are decoded once, and shared by all who ask."""
        made = self._deliveries
        for place in sorted(self._new_batches):
            step, outcome, error = self._batches[place]
            if place < len(made):
                made[place] = made[place]._replace(outcome=outcome, error=error)
                continue
            messages = [(id, self.histories[id].value, n) for id, n in zip(step.ids, step.values, strict=True)]
            made.append(Delivery(moment(step.at_us), step.queue, messages, outcome, error))
        self._new_batches.clear()
        return list(made)

    def lines(self) -> list[Line]:
        """Everything that happened to every message, in order."""
        self._lines += [record.line() for record in self.rows[len(self._lines) :]]
        return list(self._lines)

    def fates(self) -> list[Fate]:
        """What became of each message in each queue, in order of entry. Bodies are shared as in deliveries."""
        made, rows = self._fates, self.rows
        changed = {rows[number].entry for number in range(self._fates_end, len(rows))}
        self._fates_end = len(rows)
        for entry in sorted(changed):
            fate = self._fate(self.entries[entry])
            if entry < len(made):
                made[entry] = fate
            else:
                made.append(fate)
        return list(made)

    def _fate(self, entry: list[int]) -> Fate:
        _, step, place, _ = next(each for number in reversed(entry) if (each := self.rows[number]).step.kind in MOVES)
        id, state = step.ids[place], str(step.kind) if step.kind in ENDS else "waiting"
        attempts = self.rows[entry[-1]].attempts
        return Fate(id, step.queue, state, moment(step.at_us), attempts, self.histories[id].value)
