"""Timeline: the only loop over time. Everything due happens in order, each thing at its own moment.

At one moment: expiries and lapsed leases; then alarms; then handlers that have something to do, so that what ends has ended
before anything leaves; then batches, queue by queue in order of name. The loop is a generator that yields where it has to wait
in real time for a consumer outside: a test waits there, a server lets others work meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.core import machine
from emulator.core.events import Delivered
from emulator.engine.alarms import Alarms
from emulator.engine.clock import moment, span_us
from emulator.engine.delivery import Deliveries
from emulator.engine.journal import JournalUnwritable
from emulator.engine.targets.invocation import current

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from datetime import timedelta

    from emulator.engine.account import Account

_BATCHES_MIN, _BATCHES_PER_MESSAGE = 100_000, 200
"""So many batches, and so many for each message there is, may leave at one moment; then queues are taken to feed each other."""
_WAIT_SECONDS = 1.0
"""How long a test waits at a time for a consumer outside; each has a limit of its own."""


class Timeline:
    """The one hand at an account's clock. With `strict`, a handler's error is raised here, after its batch has been settled."""

    def __init__(self, account: Account, *, strict: bool = False) -> None:
        self.account, self.strict = account, strict
        self.deliveries = Deliveries(account)
        self.alarms = Alarms()
        self.unsettled: JournalUnwritable | None = None
        self._hand = _Hand(self)
        self.moved_at = -1
        """The number of the last event when time was moved last; -1 before that."""
        self._stopped = False
        self._rest_us = 0.0
        self._moment_us = -1
        self._batches_left = 0
        self._counted = False
        self.batches_min = _BATCHES_MIN
        account.chance.drive(self)

    # --- for tests

    def advance(self, span: float | timedelta) -> None:
        """Let a span pass. Raises ValueError, RuntimeError inside a handler or when batches leave without end."""
        length_us, rest_us = span_us(span, self._rest_us)
        self._wait_through(self.until(self.account.clock.now_us() + length_us))
        self._rest_us = rest_us

    def run_until_idle(self) -> None:
        """Go from one thing to do to the next until there is none. Raises RuntimeError when that has no end."""
        self._wait_through(self.until_idle())

    def wake(self) -> None:
        """Let handlers do what they have to do at this very moment, unless they are at it. Nothing leaves, and time stands."""
        if not (self._hand.moves or self.inside_handler):
            with self._hand, self.account.lock:
                self.deliveries.wake(self.account.now_us)

    def _wait_through(self, steps: Generator[None, None, None]) -> None:
        try:
            for _ in steps:
                self.deliveries.wait(_WAIT_SECONDS)
        finally:
            steps.close()  # who is interrupted while he waits leaves the clock to others

    # --- the loop

    def until(self, target_us: int) -> Generator[None, None, None]:
        """Everything due up to and including a moment, and the clock is there. Yields where it waits for consumers outside."""
        with self._hand:
            yield from self._until(target_us)
            self._move_to(target_us)

    def until_idle(self) -> Generator[None, None, None]:
        """From one thing to do to the next, until no batch is due and none is out. Yields as `until` does."""
        with self._hand:
            budget, counted = self.batches_min, False
            moment_us = -1
            while True:
                if self.deliveries.outside:
                    yield from self._end_outside()
                left = self._step(None)
                if left is None:
                    if moment_us >= 0:
                        yield from self._until(moment_us)  # what is no work of its own, but due at this moment as well
                    return
                budget -= left + (moment_us != self.account.now_us)
                moment_us = self.account.now_us
                if budget < 0:
                    if counted:
                        raise RuntimeError(self._endless("run_until_idle() finds no end"))
                    budget, counted = self._budget(), True

    def catch_up(self, target_us: int) -> None:
        """Everything due up to a moment, and the clock is there; what is out in real time does not hold it up.

        What has ended and cannot be kept, as on a full disk, stays out: `unsettled` tells why.
        """
        with self._hand:
            try:
                self._take()
                self.unsettled = None
            except JournalUnwritable as error:
                self.unsettled = error
            while self._step(target_us) is not None:
                pass
            self._move_to(target_us)

    def _until(self, target_us: int) -> Generator[None, None, int]:
        """Everything due up to a moment; how many batches left."""
        left = 0
        while True:
            if self.deliveries.outside:
                yield from self._end_outside()
            moved = self._step(target_us)
            if moved is None:
                return left
            left += moved

    def _end_outside(self) -> Iterator[None]:
        """Wait until all that is out in real time has ended, so that it is settled in one order, whoever was quicker."""
        while self.deliveries.outside:
            if self.deliveries.working:
                yield
            else:
                self._take()

    def _take(self) -> None:
        """Settle what has ended in real time."""
        with self.account.lock:
            self.deliveries.take()
            self._raise_pending()

    def _step(self, target_us: int | None) -> int | None:
        """Everything due at the next moment, up to a target or while there is work: how many batches left; None for nothing."""
        account, deliveries = self.account, self.deliveries
        with account.lock:
            state = account.state
            passive, departure_us = machine.next_passive(state), machine.next_departure_us(state)
            wake_us = deliveries.next_wake_us()
            if target_us is None and departure_us is None and (wake_us is None or not deliveries.busy):
                return None
            moment_us = departure_us
            for other_us in (passive[0] if passive is not None else None, wake_us, self.alarms.next_us()):
                if other_us is not None and (moment_us is None or other_us < moment_us):
                    moment_us = other_us
            if moment_us is None or (target_us is not None and moment_us > target_us) or self._stopped:
                return None
            now_us = account.clock.now_us()
            if moment_us > now_us:
                if account.chance.searches and self._leave_early():
                    return 1
                now_us = moment_us
                account.clock.move_to(now_us)
            if state.passive and state.passive[0][0] <= now_us:
                account.run_passive(now_us)
            self.alarms.ring(now_us)
            deliveries.wake(now_us)
            self._raise_pending()
            left = self._depart(now_us)
            account.tidy()
            if account.chance.searches:
                account.chance.moved(self)
            return left

    def _depart(self, now_us: int) -> int:
        """Let every batch leave that is due; a handler that ends at once has ended before the next one leaves."""
        account, left, name = self.account, 0, ""
        if now_us != self._moment_us:
            self._moment_us, self._batches_left, self._counted = now_us, self.batches_min, False
        if account.chance.searches:
            name = self._first_queue(now_us)
        while not self._stopped and (following := machine.next_to_depart(account.state, now_us, name)) is not None:
            name = following
            events = account.deliver(name)
            if not events:
                continue  # a handler has shortened the retention meanwhile, and what was due has expired first
            (event,) = events
            assert isinstance(event, Delivered), "only a batch leaves"
            self.deliveries.start(event)
            left += 1
            self._batches_left -= 1
            if self._batches_left < 0:
                self._batches_left = self._budget()
                if self._counted:
                    raise RuntimeError(self._endless("batches leave without end at one moment"))
                self._counted = True  # many messages may need many batches: only then are they counted
            self._raise_pending()
        return left

    def _leave_early(self) -> bool:
        """Whether a search lets a batch leave that might still wait."""
        account = self.account
        for name, queue in sorted(account.state.queues.items()):
            due_us = queue.wake_departure_us
            if due_us is None or due_us <= account.now_us or not account.peek(name, 1):
                continue
            if account.chance.choose(2, "early_batches", name):
                for event in account.deliver(name):
                    assert isinstance(event, Delivered), "only a batch leaves"
                    self.deliveries.start(event)
                return True
        return False

    def _first_queue(self, now_us: int) -> str:
        """The queue whose batch a search lets leave first at this moment."""
        state, due = self.account.state, list[str]()
        if state.dirty:
            machine.refresh(state)
        for name, queue in state.queues.items():
            if queue.wake_departure_us is not None and queue.wake_departure_us <= now_us:
                due.append(name)
        due.sort()
        return due[self.account.chance.choose(len(due), "queues", due)] if len(due) > 1 else ""

    def _move_to(self, target_us: int) -> None:
        clock = self.account.clock
        if target_us > clock.now_us():
            clock.move_to(target_us)

    def next_due_us(self) -> int | None:
        """When a batch leaves or a handler goes on next; None when nothing is due. Alarms have no end, and do not count."""
        with self.account.lock:
            return _earliest(machine.next_departure_us(self.account.state), self.deliveries.next_wake_us())

    def next_moment_us(self) -> int | None:
        """When anything happens next, alarms included: for who lets real time pass."""
        return _earliest(self.next_due_us(), self.alarms.next_us())

    def stop(self) -> None:
        """Let no batch leave any more."""
        self._stopped = True

    @property
    def moving(self) -> bool:
        """Whether time is being moved."""
        return self._hand.moves

    @property
    def inside_handler(self) -> bool:
        """Whether the code that asks is a handler's."""
        invocation = current.get()
        return invocation is not None and invocation.delivery.deliveries is self.deliveries

    def _budget(self) -> int:
        living = sum(queue.count for queue in self.account.state.queues.values())
        return self.batches_min + _BATCHES_PER_MESSAGE * living

    def _endless(self, what: str) -> str:
        names = [name for name, queue in sorted(self.account.state.queues.items()) if queue.count]
        now = moment(self.account.now_us).isoformat()
        return f"{what} at {now}: queues that feed each other or themselves? Not empty: {', '.join(names)}"

    def _raise_pending(self) -> None:
        """Raise what stops a test: Ctrl-C, and where it is strict the first error that has not been raised yet."""
        deliveries = self.deliveries
        if deliveries.interrupt is not None:
            error, deliveries.interrupt = deliveries.interrupt, None
            raise error
        if not self.strict:
            return
        failures = [failure for failure in deliveries.failures if not failure.raised]
        for failure in failures:
            failure.raised = True
        if failures:
            raise failures[0].error


class _Hand:
    """Held by who moves the time. Raises RuntimeError for a second one, and inside a handler."""

    __slots__ = ("_timeline", "moves")

    def __init__(self, timeline: Timeline) -> None:
        self._timeline, self.moves = timeline, False

    def __enter__(self) -> None:
        if self.moves or (current.get() is not None and self._timeline.inside_handler):
            raise RuntimeError("time is moved by the test: advance() and run_until_idle() may not be called inside a handler")
        self.moves = True

    def __exit__(self, *_: object) -> None:
        self.moves = False
        self._timeline.moved_at = self._timeline.account.sequence


def _earliest(one_us: int | None, other_us: int | None) -> int | None:
    if one_us is None or other_us is None:
        return other_us if one_us is None else one_us
    return min(one_us, other_us)
