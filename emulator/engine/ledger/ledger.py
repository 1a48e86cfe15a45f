"""The one fold of the journal. Everything that is told of messages is a view on it; nothing is folded before somebody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.core import events as happened
from emulator.engine.ledger.records import Records
from emulator.engine.ledger.steps import Kind, steps
from emulator.engine.ledger.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emulator.core.events import Event
    from emulator.core.model import State
    from emulator.engine.ledger.steps import Step

ORIGINS_MAX = 20_000
"""Of so many dead letters at most it is remembered where they came from and why; the oldest are forgotten first."""


_MOVED = frozenset({Kind.ARRIVED, Kind.REENTERED})


class Origin(NamedTuple):
    """Where a dead letter came from, when, after how many attempts, and the error of the last one."""

    source: str
    at_us: int
    attempts: int
    error: str | None


class Ledger:
    """Follows events. `sequence` is the number of the last one, `tallies` has the numbers of each queue by name, `origins` what
    is known of dead letters by (dead-letter queue, message), `consumed` the queues that have a consumer.

    One that `keeps` has `records` of every message besides, and tallies that outlive their queues. The other forgets what has
    ended, for a server that is up for weeks.
    """  # noqa: D205 - the first sentence names everything

    def __init__(self, *, keeps: bool = True) -> None:
        self.keeps, self.sequence = keeps, 0
        self.tallies: dict[str, Tally] = {}
        self.origins: dict[tuple[str, str], Origin] = {}
        self.consumed: set[str] = set()
        self.records = Records()

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
                self._remember_origins(step, tally)
            if self.keeps:
                self.records.add(step, tally.attempts)
            tally.count(step, self.tallies[step.other] if step.kind in _MOVED and step.other else None)
        self._note(event)
        return found

    def _remember_origins(self, step: Step, tally: Tally) -> None:
        for id in step.ids:
            origin = Origin(step.queue, step.at_us, tally.attempts.get(id, 0), step.error)
            self.origins[str(step.other), id] = origin
        while len(self.origins) > ORIGINS_MAX:
            del self.origins[next(iter(self.origins))]

    def _note(self, event: Event) -> None:
        """What events tell beside the steps of messages: queues, consumers, purges, and what is said of batches and calls."""
        if isinstance(event, happened.Delivered):
            tally = self.tallies[event.queue]
            tally.out += 1
            tally.peak = max(tally.peak, tally.out)
            return
        if isinstance(event, happened.Settled):
            self.tallies[event.queue].out -= 1
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
            self.records.hear(event)
