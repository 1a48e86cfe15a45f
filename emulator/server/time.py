"""Runs an account's time: the computer's, a multiple of it, or by order. The loop over time is the engine's timeline.

The account's clock stands still by itself. Before every request, and whenever something is due, it is brought to the present;
everything due until then happens at its own moment. In virtual time the clock waits for the batches that are out.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

from emulator.engine.clock import SECOND_US, Clock, ScaledClock, WallClock
from emulator.engine.journal import JournalUnwritable

if TYPE_CHECKING:
    from collections.abc import Generator

    from emulator.engine.timeline import Timeline

logger = logging.getLogger("emulator.server")

_PATIENCE_SECONDS = 1.0
"""The pump looks at least so often, in real seconds."""
_SPEED_MAX = 1_000_000


class RunningTime:
    """How time runs on a timeline. `speed` is how many emulated seconds a real one has; None: by order only.

    `order` is held by whoever moves the clock over several steps.
    """

    def __init__(self, timeline: Timeline, time: str) -> None:
        self.timeline, self.account = timeline, timeline.account
        self.speed = speed_of(time)
        self._ahead_us = 0
        self._source = self._new_source()
        self.order = asyncio.Lock()
        self._ended: asyncio.Event | None = None
        self._kick: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._planned_us: int | None = None

    def _new_source(self) -> Clock:
        """Real time, unless the journal is ahead of it; scaled time goes on from the journal's last moment."""
        here_us, wall_us = self.account.now_us, WallClock().now_us()
        if self.speed is None:
            return self.account.clock
        if self.speed == 1 and here_us <= wall_us:
            return WallClock()
        return ScaledClock(max(here_us, wall_us), self.speed)

    @property
    def mode(self) -> str:
        """How time runs: virtual, real or, say, 60x."""
        return "virtual" if self.speed is None else "real" if self.speed == 1 else f"{self.speed:g}x"

    @property
    def batches_out(self) -> int:
        """How many batches are with consumers that run in real time."""
        return self.timeline.deliveries.outside

    def catch_up(self) -> None:
        """Bring the clock to the present, unless it moves by order only. Everything due on the way happens."""
        if self.speed is not None:
            self.timeline.catch_up(self._source.now_us() + self._ahead_us)

    async def advance_to(self, target_us: int) -> None:
        """Move the clock by order; at each moment wait for the batches that are out. Raises ValueError for the past."""
        if target_us < self.account.now_us:
            raise ValueError("time cannot go back")
        if self.speed is None:
            await self._through(self.timeline.until(target_us))
            return
        self._ahead_us += target_us - self.account.now_us
        self.catch_up()
        while self.timeline.deliveries.working:
            await self._something_ends()
        self.catch_up()

    async def run_until_idle(self) -> None:
        """Let time pass until no batch is due and none is out. Leases and retention alone do not move the clock."""
        before_us = self.account.now_us
        await self._through(self.timeline.until_idle())
        if self.speed is not None:
            self._ahead_us += self.account.now_us - before_us

    async def _through(self, steps: Generator[None, None, None]) -> None:
        async with self.order:
            with contextlib.closing(steps):  # an order that is given up leaves the clock to others
                for _ in steps:
                    await self._something_ends()

    async def _something_ends(self) -> None:
        """Wait for a consumer outside; each has a time limit of its own."""
        self._listen()
        assert self._ended is not None, "made by listening"
        if self.timeline.deliveries.working:
            await self._ended.wait()
        self._ended.clear()

    def _listen(self) -> None:
        """Hear of what ends on other threads, on the event loop that runs."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._ended = loop, asyncio.Event()
            self.timeline.deliveries.on_end = self._something_has_ended

    def _something_has_ended(self) -> None:
        """Called on any thread."""
        loop = self._loop
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._wake_up)

    def _wake_up(self) -> None:
        for event in (self._ended, self._kick):
            if event is not None:
                event.set()

    # --- the pump

    def kick(self) -> None:
        """A request is done: keep a snapshot if one is due, and look again if a batch leaves earlier than planned."""
        self.account.tidy()
        if self._kick is None:
            return
        due_us = self.timeline.next_moment_us()
        if due_us is not None and (self._planned_us is None or due_us < self._planned_us):
            self._kick.set()

    async def pump(self) -> None:
        """Keep time running until cancelled. Needed where nobody asks: for deliveries between requests."""
        self._listen()
        if self.speed is None:
            return
        self._kick = asyncio.Event()
        while True:
            self._kick.clear()
            try:
                self.catch_up()
                if self.timeline.unsettled is not None:
                    logger.error("batches that have ended are not settled yet: %s", self.timeline.unsettled)
            except JournalUnwritable as error:
                logger.error("time cannot go on: %s", error)  # noqa: TRY400 - no fault of this program
                await asyncio.sleep(_PATIENCE_SECONDS)
            except RuntimeError:  # queues feed each other without end; those that do not go on
                logger.exception("time cannot go on")
                await asyncio.sleep(_PATIENCE_SECONDS)
            self._planned_us = self.timeline.next_moment_us()
            pause = _PATIENCE_SECONDS
            if self._planned_us is not None:
                ahead_us = self._planned_us - self._source.now_us() - self._ahead_us
                pause = min(pause, max(0.0005, ahead_us / SECOND_US / self.speed))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._kick.wait(), pause)

    async def finish(self, grace_seconds: float) -> None:
        """Let no batch leave any more, and what runs end, for so many real seconds; the rest has failed at the next start."""
        self.timeline.stop()
        with contextlib.suppress(TimeoutError, JournalUnwritable):
            async with asyncio.timeout(grace_seconds):
                while self.timeline.deliveries.working:
                    await self._something_ends()
        with contextlib.suppress(JournalUnwritable):
            self.timeline.catch_up(self.account.now_us if self.speed is None else self._source.now_us() + self._ahead_us)


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
    if not time.endswith("x") or not 0 < speed <= _SPEED_MAX:
        message = f"time must be real, virtual or a speed such as 60x, not {time!r}"
        raise ValueError(message)
    return speed
