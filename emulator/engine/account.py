"""The engine room: one lock around step, journal and listeners. Store first, answer second."""

from __future__ import annotations

from contextlib import suppress
from threading import RLock
from typing import TYPE_CHECKING

from emulator.core import machine
from emulator.core.apply import apply
from emulator.core.commands import Attach, ChangeQueue, Command, Deliver, Send, Settle, StopClock
from emulator.core.limits import Limits, fixed_retention_seconds
from emulator.engine.journal import Journal, JournalUnwritable, restore
from emulator.engine.ledger.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.core.events import Event
    from emulator.core.model import State
    from emulator.engine.clock import Clock

_PATIENT = frozenset({Send, Deliver, Settle})
"""Commands after which nothing can expire or lapse at once, so that the agenda can wait until somebody asks for it."""

_SNAPSHOT_EVENTS = 20_000
"""A snapshot is kept when so many events have followed the last one, or as many as messages are held, whichever is more:
so a restart replays no more, and writing snapshots costs no more than the events did."""


class Broker:
    """Holds the state of one account and lets nobody else write to it."""

    def __init__(self, journal: Journal, clock: Clock, limits: Limits, plan: str) -> None:
        self.journal, self.clock, self.limits = journal, clock, limits
        self.state: State = restore(journal, plan)
        self.sequence = journal.length()
        self.listeners: list[Callable[[tuple[Event, ...]], None]] = []
        self._snapshot_at = self.sequence + _SNAPSHOT_EVENTS
        self._lock = RLock()
        self._ledger: Ledger | None = None

    @property
    def ledger(self) -> Ledger:
        """What the journal tells of messages, up to now. Nothing is folded before somebody asks, and nothing twice."""
        with self._lock:
            if self._ledger is None:
                self._ledger = Ledger()
            if self._ledger.sequence < self.sequence:
                self._ledger.follow(self.journal.read(self._ledger.sequence))
            return self._ledger

    def execute(self, command: Command) -> tuple[Event, ...]:
        """Do what a command asks for, now, after everything that time has brought about by itself. Raises Refused."""
        with self._lock:
            now_us = max(self.clock.now_us(), self.state.now_us)
            passive = self.state.passive
            if passive and passive[0][0] <= now_us:
                machine.run_passive(self.state, now_us, self._record)
            events = machine.decide(self.state, now_us, command, self.limits)
            if events:
                self._record(events)
                for event in events:
                    apply(self.state, event)
                if type(command) not in _PATIENT:
                    machine.refresh(self.state)  # what they write may be due at this very moment
                for listener in self.listeners:
                    listener(events)
            return events

    def run_passive(self, now_us: int) -> None:
        """Let messages expire and leases lapse, up to a moment."""
        with self._lock:
            machine.run_passive(self.state, now_us, self._record)

    def _record(self, events: tuple[Event, ...]) -> None:
        self.journal.append(self.sequence, events)
        self.sequence += len(events)

    def tidy(self) -> None:
        """Keep a snapshot if many events have come since the last one. Between two steps only.

        One that cannot be kept is let be: it spares the next start time, and what has happened is in the journal.
        """
        with self._lock:
            if self.sequence >= self._snapshot_at:
                with suppress(JournalUnwritable):
                    self.journal.keep_snapshot(self.state)
                held = sum(len(queue.messages) for queue in self.state.queues.values())
                self._snapshot_at = self.sequence + max(_SNAPSHOT_EVENTS, held)

    def recover(self) -> None:
        """After a restart: batches that were out have failed with the process that had them, and no handler is there yet.

        A plan that fixes the retention does so from now on, also for queues that were made under another plan.
        """
        fixed = fixed_retention_seconds(self.state.plan, self.limits)
        for name, queue in list(self.state.queues.items()):
            if fixed not in {None, queue.config.message_retention_period}:
                self.execute(ChangeQueue(name, message_retention_period=fixed))
            if queue.attached:
                self.execute(Attach(name, attached=False))
            for batch in list(queue.flights):
                self.execute(Settle(name, batch, outcome="daemonDown", error="the emulator stopped while the batch was out"))

    def close(self) -> None:
        """Remember the time and the state, and let go of the journal."""
        with self._lock:
            try:
                self.execute(StopClock())
                if self.sequence:
                    self.journal.keep_snapshot(self.state)
            finally:
                self.journal.close()
