"""Deliveries that end in real time: on threads, behind URLs. The account's clock waits for them, or goes on, as it is told."""

from __future__ import annotations

import asyncio
import queue
import threading
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from concurrent.futures import Future

    from emulator.core.commands import Settle
    from emulator.engine.delivery import Delivery


_PATIENCE_SECONDS = 5.0
"""So long connections and threads may take to end."""


class RealTime:
    """What is out in real time, and what has ended of it."""

    busy = at_rest = False

    def __init__(self) -> None:
        self._on_end: Callable[[], None] = lambda: None
        self._out: dict[int, Future[Any]] = {}
        self._ended: queue.SimpleQueue[tuple[Delivery, Settle]] = queue.SimpleQueue()
        self._event = threading.Event()
        self._closers: list[Callable[[], Any]] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._end: Callable[[], Any] = lambda: None

    # --- for targets

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """An event loop on a thread of its own, made when it is first asked for."""
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            thread = threading.Thread(target=self._loop.run_forever, name="deliveries", daemon=True)
            thread.start()
            self._end = weakref.finalize(self, _end, self._loop, thread)
        return self._loop

    def spawn(self, delivery: Delivery, work: Coroutine[Any, Any, Settle]) -> None:
        """Run a coroutine that ends with the settlement of a delivery, and never raises."""
        self.begin(delivery, asyncio.run_coroutine_threadsafe(work, self.loop))

    def begin(self, delivery: Delivery, work: Future[Settle]) -> None:
        """A delivery is out; `work` ends with its settlement."""
        self._out[delivery.event.batch] = work

        def done(work: Future[Settle]) -> None:
            if not work.cancelled():
                self._ended.put((delivery, work.result()))
                self._event.set()
                self._on_end()

        work.add_done_callback(done)

    def forget(self, delivery: Delivery) -> None:
        """A delivery was cut: nobody asks for its end any more."""
        work = self._out.pop(delivery.event.batch, None)
        if work is not None:
            work.cancel()

    def at_close(self, closer: Callable[[], Any]) -> None:
        """Call something, or await what it gives, when everything ends."""
        self._closers.append(closer)

    # --- for the timeline

    @property
    def outside(self) -> int:
        """How many deliveries are out, or have ended and were not taken."""
        return len(self._out)

    @property
    def working(self) -> int:
        """How many of those have not ended."""
        return max(0, len(self._out) - self._ended.qsize())

    def listen(self, on_end: Callable[[], None]) -> None:
        """Call something, on any thread, when a delivery has ended."""
        self._on_end = on_end

    def next_wake_us(self) -> int | None:
        """Nothing here is due at a moment of the account's clock."""
        return None

    def wake(self, now_us: int) -> None:
        """Nothing to do."""

    def take(self) -> list[tuple[Delivery, Settle]]:
        """What has ended since the last look, in order of batches, so that what ends together ends in one order."""
        found: list[tuple[Delivery, Settle]] = []
        while not self._ended.empty():
            delivery, settle = self._ended.get()
            if self._out.pop(delivery.event.batch, None) is not None:
                found.append((delivery, settle))
        return sorted(found, key=lambda each: each[0].event.batch)

    def wait(self, seconds: float) -> None:
        """Wait until something has ended, but no longer."""
        self._event.wait(seconds)
        self._event.clear()

    def close(self) -> None:
        """Cut off what is out, and let go of connections and threads."""
        for work in list(self._out.values()):
            work.cancel()
        self._out.clear()
        for closer in self._closers:
            ends = closer()
            if asyncio.iscoroutine(ends):
                asyncio.run_coroutine_threadsafe(ends, self.loop).result(_PATIENCE_SECONDS)
        if self._loop is not None:
            self._end()
            self._loop = None


def _end(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """End a loop and its thread, also where nobody has closed what they were made for."""
    if thread.is_alive():
        asyncio.run_coroutine_threadsafe(_let_go(loop), loop)
    thread.join(_PATIENCE_SECONDS)
    if not loop.is_running():
        loop.close()


async def _let_go(loop: asyncio.AbstractEventLoop) -> None:
    """End what is still read from and what still runs, such as the answer of an endpoint that was cut off; then the loop."""
    await loop.shutdown_asyncgens()
    rest = asyncio.all_tasks(loop) - {asyncio.current_task(loop)}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    loop.stop()
