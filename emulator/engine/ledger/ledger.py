"""The one fold of the journal. Everything that is told of messages is a view on it; nothing is folded before somebody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cfq_lint.facts import limits
from emulator.core import events as happened
from emulator.engine import bodies
from emulator.engine.clock import moment
from emulator.engine.ledger.steps import DELIVERIES, ENDS, ENTRIES, MOVES, Kind, steps
from emulator.engine.ledger.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from emulator.core.events import Event
    from emulator.core.model import State
    from emulator.engine.ledger.steps import Step

DEATHS_MAX = 20_000
"""Of so many dead letters at most it is remembered where they came from and why; the oldest are forgotten first."""
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


class Death(NamedTuple):
    """Where a dead letter came from, when, after how many attempts, and the error of the last one."""

    source: str
    at_us: int
    attempts: int
    error: str | None


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


class Ledger:
    """Follows events. `sequence` is the number of the last one, `tallies` the numbers by name of queue, `deaths` what is known
    of dead letters by (dead-letter queue, message), `consumed` the queues that have a consumer.

    What `keeps` adds: `records` has every message's every step in order, `entries` for each queue that a message entered the
    numbers of its records, `histories` each message; and tallies outlive their queues. Without it, what has ended is forgotten.
    """  # noqa: D205 - the first sentence names everything

    def __init__(self, *, keeps: bool = True) -> None:
        self.keeps, self.sequence = keeps, 0
        self.tallies: dict[str, Tally] = {}
        self.deaths: dict[tuple[str, str], Death] = {}
        self.consumed: set[str] = set()
        self.records: list[Record] = []
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

    def numbers(self) -> dict[str, Any]:
        """Its numbers as plain JSON, to go on from after a restart."""
        return {"sequence": self.sequence, "queues": {name: tally.dump() for name, tally in self.tallies.items()}}

    @classmethod
    def resumed(cls, numbers: dict[str, Any]) -> Ledger:
        """A ledger with such numbers, of which the next event follows. It forgets what has ended."""
        ledger = cls(keeps=False)
        ledger.sequence = numbers["sequence"]
        ledger.tallies = {name: Tally.load(each) for name, each in numbers["queues"].items()}
        return ledger

    def remember(self, state: State) -> None:
        """Take from the state what has to be known of the messages that are there, where their past was not read."""
        for name, queue in state.queues.items():
            self.tally(name).remember(queue)

    def tally(self, queue: str) -> Tally:
        """The numbers of a queue."""
        found = self.tallies.get(queue)
        if found is None:
            found = self.tallies[queue] = Tally()
        return found

    def follow(self, events: Iterable[Event]) -> Ledger:
        """Fold events that come behind those that were folded."""
        for event in events:
            self.take(event)
        return self

    def take(self, event: Event) -> list[Step]:
        """Fold one event; its steps."""
        self.sequence += 1
        found = steps(event)
        for step in found:
            tally = self.tally(step.queue)
            if step.kind is Kind.DEAD_LETTERED:
                self._remember_deaths(step, tally)
            if self.keeps:
                self._record(step, tally)
            tally.count(step, self.tallies[step.other] if step.kind is Kind.ARRIVED and step.other else None)
        self._note(event)
        return found

    def _remember_deaths(self, step: Step, tally: Tally) -> None:
        for id in step.ids:
            death = Death(step.queue, step.at_us, tally.attempts.get(id, 0), step.error)
            self.deaths[str(step.other), id] = death
        while len(self.deaths) > DEATHS_MAX:
            del self.deaths[next(iter(self.deaths))]

    def _record(self, step: Step, tally: Tally) -> None:
        """Write down what became of each message."""
        if step.kind in ENTRIES:
            self._enter(step)
        if step.kind is Kind.DELIVERED:
            self._out[step.queue, step.batch] = len(self._batches)
            self._new_batches.add(len(self._batches))
            self._batches.append((step, None, None))
        known = dict(zip(step.ids, step.values, strict=True)) if step.kind in DELIVERIES else tally.attempts
        for place, id in enumerate(step.ids):
            entry = self._entered[step.queue, id]
            self.entries[entry].append(len(self.records))
            self.records.append(Record(entry, step, place, known.get(id, 0)))

    def _enter(self, step: Step) -> None:
        for place, id in enumerate(step.ids):
            if id not in self.histories:
                self.histories[id] = History(id, step.bodies[place], step.content_types[place])
            self._entered[step.queue, id] = len(self.entries)
            self.histories[id].entries.append(len(self.entries))
            self.entries.append([])

    def _note(self, event: Event) -> None:
        """What events tell beside the steps of messages: queues, consumers, purges, and what is said of batches and calls."""
        if isinstance(event, happened.QueueCreated):
            self.tally(event.queue)
        elif isinstance(event, happened.ConsumerSet):
            self.consumed.add(event.queue)
        elif isinstance(event, happened.ConsumerRemoved):
            self.consumed.discard(event.queue)
        elif isinstance(event, happened.QueueDeleted):
            self.consumed.discard(event.queue)
            if not self.keeps:
                self.tallies.pop(event.queue, None)
        elif isinstance(event, happened.Purged):
            self.tally(event.queue).operations["purge"] += 1
        elif self.keeps:
            self._hear(event)

    def _hear(self, event: Event) -> None:
        """Outcomes of batches, and warnings."""
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
        self._lines += [record.line() for record in self.records[len(self._lines) :]]
        return list(self._lines)

    def fates(self) -> list[Fate]:
        """What became of each message in each queue, in order of entry. Bodies are shared as in deliveries."""
        made, records = self._fates, self.records
        changed = {records[number].entry for number in range(self._fates_end, len(records))}
        self._fates_end = len(records)
        for entry in sorted(changed):
            fate = self._fate(self.entries[entry])
            if entry < len(made):
                made[entry] = fate
            else:
                made.append(fate)
        return list(made)

    def _fate(self, entry: list[int]) -> Fate:
        _, step, place, _ = next(each for number in reversed(entry) if (each := self.records[number]).step.kind in MOVES)
        id, state = step.ids[place], str(step.kind) if step.kind in ENDS else "waiting"
        attempts = self.records[entry[-1]].attempts
        return Fate(id, step.queue, state, moment(step.at_us), attempts, self.histories[id].value)
