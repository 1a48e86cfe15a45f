"""Moves time: everything due happens in order, each at its own moment, and the clock is where the test wants it.

At one moment: expiries and lapsed leases; then handlers that have something to do, so that what ends has ended before anything
leaves; then batches, queue by queue in order of name. One rule only: time moves here and nowhere else.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from emulator.core import machine
from emulator.core.commands import Deliver
from emulator.core.decide.consume import waiting
from emulator.core.events import Delivered
from emulator.engine.clock import VirtualClock, moment, span_us
from emulator.engine.faults import WINDOW_BATCHES, Dice

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import timedelta

    from emulator.engine.account import Broker
    from emulator.engine.targets.python import Runner

_BATCHES_MIN, _BATCHES_PER_MESSAGE = 100_000, 200
"""So many batches, and so many for each message there is, may leave at one moment; then queues are taken to feed each other."""


class Timeline:
    """The one hand at the clock. With `strict`, a handler's error is raised here, after its batch has been settled."""

    def __init__(self, clock: VirtualClock, broker: Broker, runner: Runner, dice: Dice, *, strict: bool) -> None:
        self._clock, self._broker, self._runner, self._dice, self._strict = clock, broker, runner, dice, strict
        self._moving = False
        self._rest_us = 0.0
        self._moment_us = -1
        self._batches_left = 0

    def advance(self, span: float | timedelta) -> None:
        """Let a span pass. Raises ValueError, RuntimeError inside a handler or when batches leave without end."""
        with self._hand():
            length_us, rest_us = span_us(span, self._rest_us)
            target_us = self._clock.now_us() + length_us
            self._work_until(target_us)
            self._clock.move_to(target_us)
            self._rest_us = rest_us

    def run_until_idle(self) -> None:
        """Go from one thing to do to the next until there is none. Raises RuntimeError when that has no end."""
        with self._hand():
            budget = self._budget()
            while True:
                wake_us = self._runner.next_wake_us() if self._runner.busy else None
                moment_us = _earliest(machine.next_departure_us(self._broker.state), wake_us)
                if moment_us is None:
                    return
                budget -= self._work_until(max(moment_us, self._clock.now_us())) + 1
                if budget < 0:
                    raise RuntimeError(self._endless("run_until_idle() finds no end"))

    def wake(self) -> None:
        """Let handlers do what they have to do at this very moment, unless they are at it. Nothing leaves, and time stands."""
        if not (self._moving or self._runner.handling):
            with self._hand():
                self._runner.wake(self._clock.now_us())

    @contextmanager
    def _hand(self) -> Iterator[None]:
        if self._moving or self._runner.handling:
            raise RuntimeError("time is moved by the test: advance() and run_until_idle() may not be called inside a handler")
        self._moving = True
        try:
            yield
        finally:
            self._moving = False

    def _work_until(self, target_us: int) -> int:
        """Everything due up to a moment; how many batches left."""
        broker, runner, clock, left = self._broker, self._runner, self._clock, 0
        while True:
            moment_us = _earliest(machine.next_wake(broker.state), runner.next_wake_us())
            if moment_us is None or moment_us > target_us:
                return left
            now_us = max(moment_us, clock.now_us())
            clock.move_to(now_us)
            broker.run_passive(now_us)
            runner.wake(now_us)
            self._raise_if_strict()
            left += self._depart(now_us)
            broker.tidy()

    def _depart(self, now_us: int) -> int:
        """Let every batch leave that is due; a sync handler has ended before the next one leaves."""
        broker, runner, state, left = self._broker, self._runner, self._broker.state, 0
        if now_us != self._moment_us:
            self._moment_us, self._batches_left = now_us, self._budget()
        name = ""
        while (following := machine.next_to_depart(state, now_us, name)) is not None:
            name = following
            events = broker.execute(Deliver(name, self._reordered(name, now_us)))
            if not events:
                continue  # a handler has shortened the retention meanwhile, and what was due has expired first
            (event,) = events
            assert isinstance(event, Delivered), "only a batch leaves"
            runner.start(event)
            left += 1
            self._batches_left -= 1
            if self._batches_left < 0:
                self._batches_left = self._budget()
                raise RuntimeError(self._endless("batches leave without end at one moment"))
            self._raise_if_strict()
        return left

    def _reordered(self, name: str, now_us: int) -> tuple[str, ...]:
        """Chaos: other messages than the first."""
        if self._dice.calm or not self._dice.faults.reorder:
            return ()
        queue = self._broker.state.queues[name]
        size = queue.consumer.max_batch_size if queue.consumer is not None else 1
        return self._dice.order(waiting(queue, now_us, size * WINDOW_BATCHES), size)

    def _budget(self) -> int:
        living = sum(len(queue.messages) for queue in self._broker.state.queues.values())
        return _BATCHES_MIN + _BATCHES_PER_MESSAGE * living

    def _endless(self, what: str) -> str:
        names = [name for name, queue in sorted(self._broker.state.queues.items()) if queue.messages]
        now = moment(self._clock.now_us()).isoformat()
        return f"{what} at {now}: queues that feed each other or themselves? Not empty: {', '.join(names)}"

    def _raise_if_strict(self) -> None:
        """Raise the first error that has not been raised yet."""
        if not self._strict:
            return
        failures = [failure for failure in self._runner.failures if not failure.raised]
        for failure in failures:
            failure.raised = True
        if failures:
            raise failures[0].error


def _earliest(one_us: int | None, other_us: int | None) -> int | None:
    if one_us is None or other_us is None:
        return other_us if one_us is None else one_us
    return min(one_us, other_us)
