"""Moves an emulator's time along: the computer's, a multiple of it, or by order. Consumers outside run beside it.

The emulator's clock stands still by itself. Before every request, and whenever something is due, it is brought to the present;
everything due until then happens at its own moment. In virtual time the clock waits for the batches that are out.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

from emulator.core import machine
from emulator.core.commands import Deliver
from emulator.core.events import Delivered
from emulator.engine.clock import SECOND_US, Clock, ScaledClock, WallClock
from emulator.engine.journal import JournalUnwritable

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from emulator import Emulator
    from emulator.core.commands import Settle
    from emulator.engine.targets.outside import Outside

logger = logging.getLogger("emulator.http")

_PATIENCE_SECONDS = 1.0
"""The pump looks at least so often, in real seconds."""
_BATCHES_MAX = 1_000_000
"""So many batches may leave while one order moves the clock; then queues are taken to feed each other."""


class Engine:
    """Time and deliveries of one emulator. `speed` is how many emulated seconds a real one has; None: by order only."""

    def __init__(self, emulator: Emulator, time: str, outside: dict[str, Outside]) -> None:
        self._emulator = emulator
        self._broker, self._clock = emulator._broker, emulator._clock  # noqa: SLF001 - the emulator's other face
        self._runner, self.lock = emulator._runner, emulator._broker._lock  # noqa: SLF001 - as above
        self.outside = outside
        self.speed = speed_of(time)
        self._ahead_us = 0
        self._source = self._new_source()
        self._tasks: dict[tuple[str, int], asyncio.Task[None]] = {}
        self._kick: asyncio.Event | None = None
        self._planned_us: int | None = None
        self._stopped = False

    def _new_source(self) -> Clock:
        """Real time, unless the journal is ahead of it; scaled time goes on from the journal's last moment."""
        here_us, wall_us = self._clock.now_us(), WallClock().now_us()
        if self.speed is None:
            return self._clock
        if self.speed == 1 and here_us <= wall_us:
            return WallClock()
        return ScaledClock(max(here_us, wall_us), self.speed)

    @property
    def mode(self) -> str:
        """How time runs: virtual, real or, say, 60x."""
        return "virtual" if self.speed is None else "real" if self.speed == 1 else f"{self.speed:g}x"

    # --- consumers outside

    def handles(self, core: str) -> bool:
        """Whether a push consumer of that queue has somebody who runs it."""
        return core in self.outside or core in self._runner.calls

    # --- time

    def catch_up(self) -> None:
        """Bring the clock to the present, unless it moves by order only. Everything due on the way happens."""
        if self.speed is None:
            return
        target_us = max(self._source.now_us() + self._ahead_us, self._clock.now_us())
        with self.lock:
            self._work(target_us)
            if target_us > self._clock.now_us():
                self._clock.move_to(target_us)

    def _work(self, target_us: int) -> int:
        """Everything due up to a moment. How many batches left."""
        broker, runner, left = self._broker, self._runner, 0
        while not self._stopped:
            moment_us = _earliest(machine.next_wake(broker.state), runner.next_wake_us())
            if moment_us is None or moment_us > target_us:
                return left
            left += self._at(max(moment_us, self._clock.now_us()))
            if left > _BATCHES_MAX:
                raise RuntimeError("batches leave without end: do queues feed each other?")
        broker.run_passive(target_us)
        return left

    def _at(self, now_us: int) -> int:
        """Everything due at one moment. How many batches left."""
        broker, left, name = self._broker, 0, ""
        self._clock.move_to(now_us)
        broker.run_passive(now_us)
        self._runner.wake(now_us)
        while not self._stopped and (following := machine.next_to_depart(broker.state, now_us, name)) is not None:
            name = following
            for event in broker.execute(Deliver(name)):
                if isinstance(event, Delivered):
                    left += 1
                    self._dispatch(event)
        broker.tidy()
        return left

    def _dispatch(self, event: Delivered) -> None:
        outside = self.outside.get(event.queue)
        if outside is None:
            self._runner.start(event)
            return
        call = outside.prepare(self._broker, event)
        task = asyncio.get_running_loop().create_task(self._run(event, call))
        self._tasks[event.queue, event.batch] = task

    async def _run(self, event: Delivered, call: Awaitable[Settle]) -> None:
        """Wait for a consumer outside, and settle its batch at the moment at which it ends."""
        try:
            settle = await call
            while not self._keeps(settle):  # noqa: ASYNC110 - nothing tells when a disk has room again
                await asyncio.sleep(_PATIENCE_SECONDS)
        finally:
            self._tasks.pop((event.queue, event.batch), None)
            self.kick()

    def _keeps(self, settle: Settle) -> bool:
        """Settle a batch now. False where nothing can be kept: until it can, the batch is out."""
        try:
            self.catch_up()
            with self.lock:
                self._broker.execute(settle)
        except JournalUnwritable as error:
            logger.error("a batch of queue %s is not settled yet: %s", settle.queue, error)  # noqa: TRY400 - nobody's fault
            return False
        return True

    async def advance_to(self, target_us: int) -> None:
        """Move the clock by order; at each moment wait for the batches that are out. Raises ValueError for the past."""
        if target_us < self._clock.now_us():
            raise ValueError("time cannot go back")
        if self.speed is not None:
            self._ahead_us += target_us - self._clock.now_us()
            self.catch_up()
            await self._settled()
            return
        await self._advance(target_us)
        self._clock.move_to(target_us)

    async def run_until_idle(self) -> None:
        """Let time pass until no batch is due and none is out. Leases and retention alone do not move the clock."""
        for _ in range(_BATCHES_MAX):
            await self._settled()
            with self.lock:
                wake_us = self._runner.next_wake_us() if self._runner.busy else None
                moment_us = _earliest(machine.next_departure_us(self._broker.state), wake_us)
            if moment_us is None:
                if self._tasks:
                    continue
                return
            await self.advance_to(max(moment_us, self._clock.now_us()))
        raise RuntimeError("run-until-idle finds no end: do queues feed each other?")

    async def _advance(self, target_us: int) -> None:
        for _ in range(_BATCHES_MAX):
            await self._settled()
            with self.lock:
                moment_us = _earliest(machine.next_wake(self._broker.state), self._runner.next_wake_us())
                if moment_us is None or moment_us > target_us:
                    return
                self._at(max(moment_us, self._clock.now_us()))
        raise RuntimeError("batches leave without end: do queues feed each other?")

    async def _settled(self) -> None:
        """Wait for the batches that are out; each wait ends, because every consumer outside has a time limit."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    # --- the pump

    def kick(self) -> None:
        """A request is done: keep a snapshot if one is due, and look again if a batch leaves earlier than planned."""
        self._broker.tidy()
        if self._kick is None:
            return
        due_us = machine.next_departure_us(self._broker.state)
        if due_us is not None and (self._planned_us is None or due_us < self._planned_us):
            self._kick.set()

    async def pump(self) -> None:
        """Keep time running until cancelled. Needed where nobody asks: for deliveries between requests."""
        if self.speed is None:
            return
        self._kick = asyncio.Event()
        while True:
            self._kick.clear()
            try:
                self.catch_up()
            except JournalUnwritable as error:
                logger.error("time cannot go on: %s", error)  # noqa: TRY400 - no fault of this program
                await asyncio.sleep(_PATIENCE_SECONDS)
            except RuntimeError:  # queues feed each other without end; those that do not go on
                logger.exception("time cannot go on")
                await asyncio.sleep(_PATIENCE_SECONDS)
            self._planned_us = _earliest(machine.next_departure_us(self._broker.state), self._runner.next_wake_us())
            pause = _PATIENCE_SECONDS
            if self._planned_us is not None:
                ahead_us = self._planned_us - self._source.now_us() - self._ahead_us
                pause = min(pause, max(0.0005, ahead_us / SECOND_US / self.speed))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._kick.wait(), pause)

    @property
    def busy(self) -> int:
        """How many batches are out with consumers outside."""
        return len(self._tasks)

    def stop(self) -> None:
        """Let no batch leave any more."""
        self._stopped = True

    async def finish(self, grace_seconds: float) -> None:
        """Let what runs end, for so many real seconds; the rest is cut off and has failed at the next start."""
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()), timeout=grace_seconds)
        for task in list(self._tasks.values()):
            task.cancel()


def speed_of(time: str) -> float | None:
    """The speed that `real`, `virtual` or `60x` stands for. Raises ValueError for another text."""
    if time == "virtual":
        return None
    if time == "real":
        return 1.0
    try:
        speed = float(time.removesuffix("x"))
    except ValueError:
        speed = 0.0
    if not time.endswith("x") or not 0 < speed <= _BATCHES_MAX:
        message = f"time must be real, virtual or a speed such as 60x, not {time!r}"
        raise ValueError(message)
    return speed


def _earliest(one_us: int | None, other_us: int | None) -> int | None:
    if one_us is None or other_us is None:
        return other_us if one_us is None else one_us
    return min(one_us, other_us)
