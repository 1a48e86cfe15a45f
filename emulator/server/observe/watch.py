"""Watches an account for the dashboard, the metrics and the log: follows its events, in order and each once.

The account tells its listeners what commands bring about; what time brings about by itself (expiries, lapsed leases) stands in
the journal between two commands and is read from there. Numbers are kept now and then, and go on after a restart; origins and
series are read again from a short journal, and begin anew behind a long one.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, Any

from emulator.core import events as happened
from emulator.core.apply import apply
from emulator.core.model import State
from emulator.engine.journal import JournalUnwritable
from emulator.engine.ledger.ledger import Ledger
from emulator.engine.metrics import oldest_us
from emulator.server.observe.series import Series

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.core.events import Event
    from emulator.engine.account import Account
    from emulator.engine.ledger.steps import Step
    from emulator.server.directory import Directory

QUEUES_PLOTTED_MAX = 1_000
"""Of so many queues at most the history is kept."""
PAST_EVENTS_MAX, PAST_MESSAGES_MAX = 20_000, 50_000
"""What happened before is read again if it is no more than this, so that a start stays fast."""

SAVED_EVENTS = 10_000
"""Numbers are kept for the next start after so many events, and at the end."""


class Watch:
    """Follows an account from now on. `ledger` has tallies and origins, `series` each queue's course; `store` keeps."""

    def __init__(self, account: Account, store: Directory | None = None) -> None:
        self._lock = Lock()
        self._tellers: list[Callable[[Event, list[Step]], None]] = []
        self._store = store
        self._attach(account, None if store is None else store.numbers)

    def _attach(self, account: Account, numbers: dict[str, Any] | None) -> None:
        self.account = account
        self.series: dict[str, Series] = {}
        past, now = Ledger(keeps=False), account.sequence
        if not self._read_past(past, now):
            self.series = {}
            past = Ledger.resumed({"sequence": now, "queues": {}})
            past.remember(account.state)
        kept = now if numbers is None else numbers["sequence"]
        if numbers is not None and 0 <= now - kept <= PAST_EVENTS_MAX:
            self.ledger = Ledger.resumed(numbers).follow(islice(account.journal.read(kept), now - kept))
            self.ledger.remember(account.state)
            self.ledger.origins = past.origins
        else:
            self.ledger = past
        self._saved, self._empty_pulls = now, dict[str, int]()
        for name in list(account.state.queues):
            self._sample(account.state, name, account.clock.now_us())
        account.listeners.append(self._hear)

    def save(self) -> None:
        """Keep the numbers, so that they go on after a restart. What cannot be kept is let be."""
        if self._store is not None:
            self._saved = self.ledger.sequence
            with suppress(JournalUnwritable):
                self._store.save_numbers(self.ledger.numbers())

    def _read_past(self, ledger: Ledger, count: int) -> bool:
        """Go through what happened before, with a state of its own. Whether it was short enough."""
        if count > PAST_EVENTS_MAX:
            return False
        state, messages = State(self.account.state.plan), 0
        for event in islice(self.account.journal.read(), count):
            messages += len(getattr(event, "ids", ()))
            if messages > PAST_MESSAGES_MAX:
                return False
            touched = _touched(event, ledger.take(event))
            apply(state, event)
            for name, at_us in touched.items():
                self._sample(state, name, at_us)
        return True

    def follow(self, account: Account) -> None:
        """Follow another account from now on, and forget the first: the emulator was reset."""
        with self._lock:
            if self._hear in self.account.listeners:
                self.account.listeners.remove(self._hear)
            self._attach(account, None)

    def go_on(self, account: Account, store: Directory) -> bool:
        """Watch the same account through another object, which knows as much or more. Whether it does."""
        with self._lock:
            if self.ledger.sequence > account.sequence:
                return False
            self.account, self._store = account, store
            self._tellers.clear()
            account.listeners.append(self._hear)
            return True

    def tell(self, teller: Callable[[Event, list[Step]], None]) -> None:
        """Call a function with every event from now on, and with the steps that it was for messages."""
        self._tellers.append(teller)

    def catch_up(self) -> None:
        """Read what has happened by itself since the last event, and note what each queue holds now."""
        with self._lock:
            self._take(())
            for queue, count in self.account.empty_pulls.items():
                self.ledger.tally(queue).operations["read"] += count - self._empty_pulls.get(queue, 0)
            self._empty_pulls = dict(self.account.empty_pulls)
            now_us = self.account.clock.now_us()
            for name in list(self.series):
                self._sample(self.account.state, name, now_us)

    def dedupe_hit(self, queue: str, count: int = 1) -> None:
        """A consumer has recognized deliveries that it had dealt with before."""
        with self._lock:
            self.ledger.tally(queue).dedupe_hits += count

    def _hear(self, events: tuple[Event, ...]) -> None:
        with self._lock:
            self._take(events)

    def _take(self, events: tuple[Event, ...]) -> None:
        """Count what is new. `events` are the journal's last; without them, or where there are more, it is read."""
        seen = self.ledger.sequence
        new = self.account.sequence - seen
        if new <= 0:
            return
        touched: dict[str, int] = {}
        for event in events[-new:] if new <= len(events) else islice(self.account.journal.read(seen), new):
            steps = self.ledger.take(event)
            for teller in self._tellers:
                teller(event, steps)
            touched |= _touched(event, steps)
        for name, at_us in touched.items():
            self._sample(self.account.state, name, at_us)
        if self.ledger.sequence - self._saved >= SAVED_EVENTS:
            self.save()

    def _sample(self, state: State, name: str, at_us: int) -> None:
        queue = state.queues.get(name)
        if queue is None:
            self.series.pop(name, None)
            return
        if name not in self.series:
            if len(self.series) >= QUEUES_PLOTTED_MAX:
                return
            self.series[name] = Series()
        self.series[name].add(at_us, queue.count, oldest_us(queue) or 0)


def _touched(event: Event, steps: list[Step]) -> dict[str, int]:
    """The queues that an event has changed, with its moment."""
    names = {step.queue for step in steps}
    if not isinstance(event, happened.ClockStopped):
        names.add(event.queue)
    return dict.fromkeys(names, event.at_us)
