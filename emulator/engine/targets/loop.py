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
_CANCELLED_MAX = 50
"""More timers that were cancelled are cleared, where they are half of all."""

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
    """The loop's selector, made when a socket needs it: most handlers have none."""

    def __init__(self) -> None:
        self.opened = False

    def __getattr__(self, name: str) -> Any:
        if not self.opened:
            self.opened, self._inner = True, selectors.DefaultSelector()
        return getattr(self._inner, name)

    def close(self) -> None:
        """Close it, if there is one."""
        if self.opened:
            self._inner.close()


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
        self._timer_cancelled_count = 0
        self._own_sockets = 0  # that of the pipe
        self.turns: Callable[[int], int] | None = None
        """Which of several handlers goes on first at a moment, for who wants to choose."""
        super().__init__(_Selector())  # type: ignore[arg-type]
        self._clock_resolution = self.resolution_seconds

    def _make_self_pipe(self) -> None:
        """Not before the loop really waits: only then has a thread to wake it up."""
        self._ssock = self._csock = None

    def _open_self_pipe(self) -> None:
        if HAS_SOCKETS and self._csock is None:
            super()._make_self_pipe()  # type: ignore[misc]
            self._own_sockets = 1

    def _close_self_pipe(self) -> None:
        if self._csock is not None:
            super()._close_self_pipe()

    def time(self) -> float:
        """Virtual seconds since the loop was made."""
        return (self.now_us - self._origin_us) / SECOND_US

    def call_at(self, when: float, callback: Callable[..., Any], *args: Any, context: Any = None) -> asyncio.TimerHandle:  # type: ignore[override]
        """Set a timer, for the nearest microsecond."""
        self._check_closed()  # type: ignore[attr-defined]
        self._places += 1
        if self._timer_cancelled_count > max(_CANCELLED_MAX, len(self._scheduled) // 2):  # type: ignore[attr-defined]
            self._scheduled[:] = [timer for timer in self._scheduled if not timer.cancelled()]  # type: ignore[attr-defined]
            heapq.heapify(self._scheduled)  # type: ignore[attr-defined]
            self._timer_cancelled_count = 0
        timer = _Timer(round(when * SECOND_US) / SECOND_US, self._places, callback, args, self, context)
        heapq.heappush(self._scheduled, timer)  # type: ignore[attr-defined]
        timer._scheduled = True  # type: ignore[attr-defined] # noqa: SLF001 - as BaseEventLoop.call_at does
        return timer

    def run_ready(self, now_us: int) -> None:
        """Run everything that can run at this moment. Raises Spinning when that has no end."""
        self.now_us = now_us
        self._turns = 0
        self._waiting_since = None
        if not self._has_more():
            return
        if asyncio._get_running_loop() is None:  # noqa: SLF001 - documented for those who make event loops
            self.run_forever()
        else:
            with _another_loop_waits():
                self.run_forever()

    def next_timer_us(self) -> int | None:
        """When the next timer is due; None when there is none."""
        timers = self._scheduled  # type: ignore[attr-defined]
        while timers and timers[0].cancelled():
            self._timer_cancelled_count -= 1
            heapq.heappop(timers)._scheduled = False  # noqa: SLF001 - as BaseEventLoop does
        if not timers:
            return None
        when: float = timers[0].when()
        return max(self.now_us, self._origin_us + round(when * SECOND_US))

    def _run_once(self) -> None:
        """A turn, as BaseEventLoop takes it, but never asleep for a timer: where nothing is left to do now, it stops."""
        ready, timers = self._ready, self._scheduled  # type: ignore[attr-defined]
        until = self.time() + self.resolution_seconds
        if ready or (timers and timers[0]._when < until):  # noqa: SLF001 - as BaseEventLoop does
            self._count_turn()
            happened = self._selector.select(0) if self.has_real_work() else ()  # type: ignore[attr-defined]
        else:
            happened = self._wait() if self.has_real_work() else ()
            if not (happened or ready or self.has_wakeups()):
                self.stop()
        if happened:
            self._process_events(happened)  # type: ignore[attr-defined]
        while timers and timers[0]._when < until:  # noqa: SLF001 - as above
            timer = heapq.heappop(timers)
            timer._scheduled = False  # noqa: SLF001 - as above
            if timer.cancelled():
                self._timer_cancelled_count -= 1
            else:
                ready.append(timer)
        if self.turns is not None and len(ready) > 1:
            self._choose_turn(self.turns)
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle.cancelled():
                handle._run()  # noqa: SLF001 - as above
        if not self._has_more():
            self.stop()

    def _has_more(self) -> bool:
        """Whether the moment may not be over."""
        timers: list[Any] = self._scheduled  # type: ignore[attr-defined]
        due = bool(timers) and timers[0]._when < self.time() + self.resolution_seconds  # noqa: SLF001 - as above
        return bool(self._ready) or due or self.has_real_work()  # type: ignore[attr-defined]

    def _wait(self) -> Any:
        """What sockets and threads bring, as soon as there is something."""
        self._open_self_pipe()
        ready = self._ready  # type: ignore[attr-defined]
        return self._selector.select(0) or ([] if ready else self._selector.select(self.real_patience_seconds()))  # type: ignore[attr-defined]

    def _choose_turn(self, choose: Callable[[int], int]) -> None:
        """Let another handler go first, of those that can go on now; what belongs to one handler keeps its order."""
        ready = self._ready  # type: ignore[attr-defined]
        owners = [handle._context.get(current) for handle in ready]  # noqa: SLF001 - whose it is stands nowhere else
        several = list(dict.fromkeys(map(id, owners)))
        if len(several) > 1 and (first := choose(len(several))):
            chosen = [id(owner) == several[first] for owner in owners]
            handles = list(ready)
            ready.clear()
            ready.extend([each for each, is_first in zip(handles, chosen, strict=True) if is_first])
            ready.extend([each for each, is_first in zip(handles, chosen, strict=True) if not is_first])

    def _count_turn(self) -> None:
        """Count a turn of the loop that did not end the moment."""
        self._turns += 1
        if self._turns > TURNS_MAX:
            self.stop()
            message = f"handlers took {TURNS_MAX:,} turns at one moment: a loop around `await asyncio.sleep(0)`?"
            raise Spinning(message)

    def has_real_work(self) -> bool:
        """Whether a thread runs for the loop, or a socket is open."""
        return self._jobs > 0 or (self._selector.opened and len(self._selector.get_map()) > self._own_sockets)  # type: ignore[attr-defined]

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
def _another_loop_waits() -> Iterator[None]:
    """Let this loop run inside another one's callback: a test may be a coroutine itself."""
    outer = asyncio._get_running_loop()  # noqa: SLF001 - as above
    swap = getattr(asyncio.tasks, "_swap_current_task", None)
    task = swap(outer, None) if swap is not None else None
    asyncio._set_running_loop(None)  # noqa: SLF001 - as above
    try:
        yield
    finally:
        asyncio._set_running_loop(outer)  # noqa: SLF001 - as above
        if swap is not None:
            swap(outer, task)
