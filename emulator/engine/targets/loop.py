"""An event loop on virtual time. It never sleeps: it runs what is ready now, and says when its next timer is due.

Timers that are due at one moment run in the order in which they were set. Threads (`asyncio.to_thread`) and sockets are real:
the clock stands still while one is at work, up to `REAL_WAIT_SECONDS`, after which virtual time goes on without it.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import selectors
import sys
import threading
from typing import TYPE_CHECKING, Any

from emulator.engine.clock import SECOND_US, real_seconds
from emulator.engine.targets.invocation import current

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REAL_WAIT_SECONDS = 30.0
"""How long, in real time, a thread or a socket may keep the virtual clock from moving."""
_SOCKET_GRACE_SECONDS = 1.0
"""How long, in real time, an open socket is given to bring something."""
TURNS_MAX = 200_000
"""How often handlers may take turns at one moment before they are taken for an endless loop."""


HAS_SOCKETS = sys.platform not in {"emscripten", "wasi"}
"""In a browser there is neither a socket nor a thread that could wake the loop up."""


class Spinning(RuntimeError):  # noqa: N818 - what the handlers are doing
    """Handlers take turns at one moment without end, and time cannot go on."""


class _Timer(asyncio.TimerHandle):
    """A timer that keeps its place among those due at the same moment."""

    __slots__ = ("_place",)

    def __init__(self, when: float, place: int, *handle: Any) -> None:
        super().__init__(when, *handle)
        self._place = place

    def __lt__(self, other: Any) -> bool:
        return bool((self._when, self._place) < (other._when, other._place))  # type: ignore[attr-defined]


class _Selector:
    """Stands between the loop and its selector: where the loop would sleep, it stops instead."""

    def __init__(self, inner: selectors.BaseSelector, loop: VirtualLoop) -> None:
        self._inner, self._loop = inner, loop

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def select(self, timeout: float | None = None) -> list[Any]:
        """Never sleep for a timer; wait for real work, if there is any."""
        loop = self._loop
        if loop.turns is not None:
            loop.choose_turn(loop.turns)
        if timeout is not None and timeout < loop.resolution_seconds:
            loop.count_turn()
            return self._inner.select(0) if loop.has_real_work() else []
        happened = self._inner.select(0)
        if not happened and loop.has_real_work():
            happened = self._inner.select(loop.real_patience_seconds())
        if not happened and not loop.has_wakeups():
            loop.stop()
        return happened


class VirtualLoop(asyncio.SelectorEventLoop):
    """`run_ready` runs what can run at `now_us`; `next_timer_us` tells when there is more to do."""

    resolution_seconds = 0.5e-6
    """Timers are due at whole microseconds; what is nearer than half of one is due now, whatever floats make of it."""

    def __init__(self, now_us: int) -> None:
        self.now_us = self._origin_us = now_us
        self._places = 0
        self._jobs = 0
        self._turns = 0
        self._waiting_since: float | None = None
        self._own_sockets = 0
        self.turns: Callable[[int], int] | None = None
        """Which of several handlers goes on first at a moment, for who wants to choose."""
        super().__init__(_Selector(selectors.DefaultSelector(), self))  # type: ignore[arg-type]
        self._own_sockets = len(self._selector.get_map())  # type: ignore[attr-defined]
        self._clock_resolution = self.resolution_seconds

    def _make_self_pipe(self) -> None:
        if HAS_SOCKETS:
            super()._make_self_pipe()  # type: ignore[misc]

    def _close_self_pipe(self) -> None:
        if HAS_SOCKETS:
            super()._close_self_pipe()  # type: ignore[misc]

    def _write_to_self(self) -> None:
        if HAS_SOCKETS:
            super()._write_to_self()  # type: ignore[misc]

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return (self.now_us - self._origin_us) / SECOND_US

    def call_at(self, when: float, callback: Callable[..., Any], *args: Any, context: Any = None) -> asyncio.TimerHandle:  # type: ignore[override]
        """Set a timer, for the nearest microsecond."""
        self._check_closed()  # type: ignore[attr-defined]
        self._places += 1
        timer = _Timer(round(when * SECOND_US) / SECOND_US, self._places, callback, args, self, context)
        heapq.heappush(self._scheduled, timer)  # type: ignore[attr-defined]
        timer._scheduled = True  # type: ignore[attr-defined] # noqa: SLF001 - as BaseEventLoop.call_at does
        return timer

    def run_ready(self, now_us: int) -> None:
        """Run everything that can run at this moment. Raises Spinning when that has no end."""
        self.now_us = now_us
        self._turns = 0
        self._waiting_since = None
        with _no_loop_running():
            self.run_forever()

    def next_timer_us(self) -> int | None:
        """When the next timer is due; None when there is none."""
        timers = self._scheduled  # type: ignore[attr-defined]
        while timers and timers[0].cancelled():
            self._timer_cancelled_count -= 1  # type: ignore[attr-defined]
            heapq.heappop(timers)._scheduled = False  # noqa: SLF001 - as BaseEventLoop does
        if not timers:
            return None
        when: float = timers[0].when()
        return max(self.now_us, self._origin_us + round(when * SECOND_US))

    def choose_turn(self, choose: Callable[[int], int]) -> None:
        """Let another handler go first, of those that can go on now; what belongs to one handler keeps its order."""
        ready, timers = self._ready, self._scheduled  # type: ignore[attr-defined]
        while timers and timers[0].when() <= self.time() + self.resolution_seconds:
            timer = heapq.heappop(timers)
            timer._scheduled = False  # noqa: SLF001 - as BaseEventLoop does
            if timer.cancelled():
                self._timer_cancelled_count -= 1  # type: ignore[attr-defined]
            else:
                ready.append(timer)
        if len(ready) < 2:  # noqa: PLR2004 - who is alone is first
            return
        owners = [handle._context.get(current) for handle in ready]  # noqa: SLF001 - whose it is stands nowhere else
        several = list(dict.fromkeys(map(id, owners)))
        if len(several) > 1 and (first := choose(len(several))):
            chosen = [id(owner) == several[first] for owner in owners]
            handles = list(ready)
            ready.clear()
            ready.extend([each for each, is_first in zip(handles, chosen, strict=True) if is_first])
            ready.extend([each for each, is_first in zip(handles, chosen, strict=True) if not is_first])

    def count_turn(self) -> None:
        """Count a turn of the loop that did not end the moment."""
        self._turns += 1
        if self._turns > TURNS_MAX:
            self.stop()
            message = f"handlers took {TURNS_MAX:,} turns at one moment: a loop around `await asyncio.sleep(0)`?"
            raise Spinning(message)

    def has_real_work(self) -> bool:
        """Whether a thread runs for the loop, or a socket is open."""
        return self._jobs > 0 or len(self._selector.get_map()) > self._own_sockets  # type: ignore[attr-defined]

    def has_wakeups(self) -> bool:
        """Whether the moment goes on, because real work may still bring something."""
        return self._jobs > 0 and self.real_patience_seconds() > 0

    def real_patience_seconds(self) -> float:
        """How much longer to wait for real work, in real seconds."""
        now = real_seconds()
        if self._waiting_since is None:
            self._waiting_since = now
        limit = REAL_WAIT_SECONDS if self._jobs else _SOCKET_GRACE_SECONDS
        return max(0.0, self._waiting_since + limit - now)

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:  # type: ignore[override]
        """Run a function in a thread; virtual time waits for it."""
        future: asyncio.Future[Any] = super().run_in_executor(executor, func, *args)
        self._jobs += 1
        future.add_done_callback(self._job_done)
        return future

    def _job_done(self, _future: object) -> None:
        self._jobs -= 1
        self._waiting_since = None

    def __del__(self, *_: Any) -> None:
        if not self.is_closed() and threading.current_thread() is threading.main_thread():
            self.close()


@contextlib.contextmanager
def _no_loop_running() -> Iterator[None]:
    """Let this loop run inside another one's callback: a test may be a coroutine itself."""
    outer = asyncio._get_running_loop()  # noqa: SLF001 - documented for those who make event loops
    if outer is None:
        yield
        return
    swap = getattr(asyncio.tasks, "_swap_current_task", None)
    task = swap(outer, None) if swap is not None else None
    asyncio._set_running_loop(None)  # noqa: SLF001 - as above
    try:
        yield
    finally:
        asyncio._set_running_loop(outer)  # noqa: SLF001 - as above
        if swap is not None:
            swap(outer, task)
