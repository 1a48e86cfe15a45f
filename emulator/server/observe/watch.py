"""Watches a broker for the dashboard, the metrics and the log: follows its events, in order and each once.

The broker tells its listeners what commands bring about; what time brings about by itself (expiries, lapsed leases) stands in
the journal between two commands and is read from there. Nothing here is kept over a restart: what a short journal tells is read
again, behind a long one counters begin at 0, as Prometheus expects. The counts of the state itself go on in any case.
"""

from __future__ import annotations

from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING

from emulator.core import events as happened
from emulator.core.apply import apply
from emulator.core.model import State
from emulator.engine.ledger.ledger import Ledger
from emulator.engine.metrics import oldest_us
from emulator.server.observe.series import Series

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emulator.core.events import Event
    from emulator.core.model import QueueState
    from emulator.engine.account import Account
    from emulator.engine.ledger.ledger import Death
    from emulator.engine.ledger.tally import Tally

QUEUES_PLOTTED_MAX = 1_000
"""Of so many queues at most the history is kept."""
PAST_EVENTS_MAX, PAST_MESSAGES_MAX = 20_000, 50_000
"""What happened before is read again if it is no more than this, so that a start stays fast."""


class Watch:
    """Follows a broker from now on. `ledger` has tallies by queue and deaths, `series` the course of each queue."""

    def __init__(self, broker: Account) -> None:
        self._lock = Lock()
        self._tellers: list[Callable[[Event], None]] = []
        self._attach(broker)

    def _attach(self, broker: Account) -> None:
        self.broker = broker
        self.series: dict[str, Series] = {}
        self.ledger = Ledger(keeps=False)
        if not self._read_past(broker.sequence):
            self.series = {}
            self.ledger = Ledger.behind(broker.state, broker.sequence)
        for name in list(broker.state.queues):
            self._sample(broker.state, name, broker.clock.now_us())
        broker.listeners.append(self._hear)

    @property
    def tallies(self) -> dict[str, Tally]:
        """The numbers of each queue."""
        return self.ledger.tallies

    @property
    def deaths(self) -> dict[tuple[str, str], Death]:
        """What is known of dead letters, by (dead-letter queue, message)."""
        return self.ledger.deaths

    def _read_past(self, count: int) -> bool:
        """Go through what happened before, with a state of its own. Whether it was short enough."""
        if count > PAST_EVENTS_MAX:
            return False
        state, messages = State(self.broker.state.plan), 0
        for event in islice(self.broker.journal.read(), count):
            messages += len(getattr(event, "ids", ()))
            if messages > PAST_MESSAGES_MAX:
                return False
            touched = self._note(event)
            apply(state, event)
            for name, at_us in touched.items():
                self._sample(state, name, at_us)
        return True

    def follow(self, broker: Account) -> None:
        """Follow another broker from now on, and forget the first: the emulator was reset."""
        with self._lock:
            if self._hear in self.broker.listeners:
                self.broker.listeners.remove(self._hear)
            self._attach(broker)

    def tell(self, teller: Callable[[Event], None]) -> None:
        """Call a function with every event from now on."""
        self._tellers.append(teller)

    def catch_up(self) -> None:
        """Read what has happened by itself since the last event, and note what each queue holds now."""
        with self._lock:
            self._take(())
            now_us = self.broker.clock.now_us()
            for name in list(self.series):
                self._sample(self.broker.state, name, now_us)

    def dedupe_hit(self, queue: str, count: int = 1) -> None:
        """A consumer has recognized deliveries that it had dealt with before."""
        with self._lock:
            self.ledger.tally(queue).dedupe_hits += count

    def empty_pull(self, queue: str) -> None:
        """A pull found nothing: Cloudflare bills it as a read, and it leaves no event."""
        with self._lock:
            self.ledger.tally(queue).operations["read"] += 1

    def _hear(self, events: tuple[Event, ...]) -> None:
        with self._lock:
            self._take(events)

    def _take(self, events: tuple[Event, ...]) -> None:
        """Count what is new. `events` are the journal's last; without them, or where there are more, it is read."""
        seen = self.ledger.sequence
        new = self.broker.sequence - seen
        if new <= 0:
            return
        touched: dict[str, int] = {}
        for event in events[-new:] if new <= len(events) else islice(self.broker.journal.read(seen), new):
            for teller in self._tellers:
                teller(event)
            touched |= self._note(event)
        for name, at_us in touched.items():
            self._sample(self.broker.state, name, at_us)

    def _note(self, event: Event) -> dict[str, int]:
        """Count an event. The queues that it has changed, with its moment."""
        touched = {step.queue: step.at_us for step in self.ledger.take(event)}
        if not isinstance(event, happened.ClockStopped):
            touched[event.queue] = event.at_us
        return touched

    def _sample(self, state: State, name: str, at_us: int) -> None:
        queue = state.queues.get(name)
        if queue is None:
            self.series.pop(name, None)
            return
        if name not in self.series:
            if len(self.series) >= QUEUES_PLOTTED_MAX:
                return
            self.series[name] = Series()
        self.series[name].add(at_us, len(queue.messages), oldest_us(queue) or 0)


def dead_letter_sources(queues: Iterable[tuple[str, QueueState]]) -> dict[str, list[str]]:
    """For each dead-letter queue, the queues whose consumers name it."""
    found: dict[str, list[str]] = {}
    for name, queue in queues:
        target = None if queue.consumer is None else queue.consumer.dead_letter_queue
        if target is not None:
            found.setdefault(target, []).append(name)
    return found
