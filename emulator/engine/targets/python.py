"""Runs consumers: sync, async on virtual time, Worker classes. What a handler does is an outcome, and the emulator goes on.

An invocation begins when a batch leaves and ends when its handler has returned and (unless the compatibility flag says
otherwise) every `waitUntil` promise is settled; then the batch is settled. It has 15 minutes:
https://developers.cloudflare.com/queues/platform/limits/.
Longer than most modules: every way in which an invocation can end meets in `Runner`.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import inspect
from typing import TYPE_CHECKING, Any

from cfq_lint.facts import limits as cloudflare
from emulator.engine.clock import SECOND_US
from emulator.engine.error_text import error_text
from emulator.engine.faults import Dice, WorkerCrashed
from emulator.engine.metrics import Metrics
from emulator.engine.targets.batch import MessageBatch
from emulator.engine.targets.handlers import Call, Context
from emulator.engine.targets.invocation import Failure, Invocation, current, enrol
from emulator.engine.targets.loop import Spinning, VirtualLoop

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine

    from emulator.core.commands import Settle
    from emulator.core.events import Delivered
    from emulator.engine.account import Broker

NO_WAIT_FLAG = "queue_consumer_no_wait_for_wait_until"

_TRACEBACKS_MAX = 1_000
"""Later errors are kept without their tracebacks, because these hold on to every message of their batch."""


class HandlerNeverEnds(RuntimeError):  # noqa: N818 - what is wrong with it
    """A handler awaits something that no timer, thread or socket will ever bring."""


class Runner:
    """Gives batches to handlers and settles them when they end."""

    def __init__(self, broker: Broker, dice: Dice, env: Any, flags: frozenset[str]) -> None:
        self.broker, self.dice, self.env = broker, dice, env
        self.waits = NO_WAIT_FLAG not in flags
        self.calls: dict[str, Call] = {}
        self.failures: list[Failure] = []
        self.late_warnings: list[str] = []
        self.running: dict[tuple[str, int], Invocation] = {}
        self.promises: set[asyncio.Task[None]] = set()
        self.handling = 0
        self._loop: VirtualLoop | None = None
        self._walls: list[tuple[int, int, Invocation]] = []
        self._slow: list[tuple[int, int, Invocation]] = []
        self._interrupt: BaseException | None = None

    @property
    def loop(self) -> VirtualLoop:
        """The virtual loop, made when the first coroutine needs it."""
        if self._loop is None:
            self._loop = VirtualLoop(self.broker.clock.now_us())
            self._loop.set_task_factory(enrol)
            self._loop.set_exception_handler(lambda _loop, _context: None)  # what floats and fails is nobody's outcome
        return self._loop

    def start(self, event: Delivered) -> None:
        """Give a batch to its handler. A sync handler has ended when this returns."""
        queue = self.broker.state.queues[event.queue]
        flight = queue.flights[event.batch]
        batch = MessageBatch(event.queue, flight, Metrics(queue, remaining=True), self.broker.limits, self.late_warnings.append)
        invocation = Invocation(event, batch)
        if not self.dice.calm:
            self._prepare_crash(invocation)
        call = self.calls[event.queue]
        context = Context(lambda awaitable: self._wait_until(invocation, awaitable))
        result: Any = None
        token = current.set(invocation)
        self.handling += 1
        try:
            result = call(batch, self.env, context)
        except BaseException as error:  # noqa: BLE001 - whatever a handler raises is its outcome
            invocation.fail(error)
        finally:
            self.handling -= 1
            current.reset(token)
        if result is not None and inspect.isawaitable(result):
            self._open(invocation)
            invocation.open_awaits += 1
            self._spawn(invocation, self._await_handler(invocation, result))
            self._run_loop()
        else:
            invocation.returned = True
            self._end_if_done(invocation)
            if invocation.tasks:
                self._run_loop()
        self._reraise()

    def _open(self, invocation: Invocation) -> None:
        """Keep an invocation that does not end at once."""
        event = invocation.event
        if (event.queue, event.batch) not in self.running:
            self.running[event.queue, event.batch] = invocation
            heapq.heappush(self._walls, (invocation.wall_us, event.batch, invocation))

    def _spawn(self, invocation: Invocation, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        token = current.set(invocation)
        try:
            return self.loop.create_task(work)
        finally:
            current.reset(token)

    async def _await_handler(self, invocation: Invocation, result: Awaitable[Any]) -> None:
        try:
            await result
        except BaseException as error:
            if not self._is_running():
                raise  # the emulator was thrown away with the handler still running: nobody is left to tell
            invocation.fail(error)
        invocation.returned = True
        invocation.open_awaits -= 1
        self._end_if_done(invocation)

    def _is_running(self) -> bool:
        return self._loop is not None and self._loop.is_running()

    def _wait_until(self, invocation: Invocation, awaitable: Awaitable[Any]) -> None:
        if not inspect.isawaitable(awaitable):
            return
        self._open(invocation)
        if self.waits:
            invocation.open_awaits += 1
        task = self._spawn(invocation, self._await_promise(invocation, awaitable))
        if inspect.iscoroutine(awaitable):
            task.add_done_callback(lambda _task: awaitable.close())  # it may be cut off before it began
        if not self.waits:
            self.promises.add(task)
            task.add_done_callback(self.promises.discard)

    async def _await_promise(self, invocation: Invocation, awaitable: Awaitable[Any]) -> None:
        try:
            await awaitable
        except BaseException as error:
            if not self._is_running():
                raise
            if self.waits:
                invocation.fail(error)
        if self.waits:
            invocation.open_awaits -= 1
            self._end_if_done(invocation)

    def _end_if_done(self, invocation: Invocation) -> None:
        """A handler that raised waits for its promises like one that returned; a dead process waits for nothing."""
        if invocation.returned and not invocation.finished and (invocation.crashed or not invocation.open_awaits):
            self._end(invocation)

    def _end(self, invocation: Invocation) -> None:
        """The handler has ended by itself: settle, or hold it up if chaos makes it slow."""
        if not self.dice.calm:
            extra_seconds = self.dice.extra_seconds()
            if extra_seconds:
                self._open(invocation)
                until_us = self.broker.clock.now_us() + extra_seconds * SECOND_US
                heapq.heappush(self._slow, (min(until_us, invocation.wall_us), invocation.event.batch, invocation))
                invocation.finished = True
                return
        self._settle(invocation, "ok" if invocation.error is None else "exception")

    def _settle(self, invocation: Invocation, outcome: str) -> None:
        """Tell the broker how it ended, and cut off what still floats."""
        invocation.finished = True
        event, error = invocation.event, invocation.error
        kind = type(error)  # never `isinstance`: it asks the error's own `__class__`, which may fail
        self.running.pop((event.queue, event.batch), None)
        if invocation.crashed and issubclass(kind, WorkerCrashed):
            invocation.batch.forget()
        text = None if error is None else error_text(error)
        lost = self.dice.lost(event.ids) if self.dice.faults.duplicates else frozenset()
        command: Settle = invocation.batch.settlement(event.batch, outcome, text, lost)
        self.broker.execute(command)
        if error is not None:
            failure = Failure(self.broker.state.now_us, event.queue, event.batch, error)
            failure.raised = issubclass(kind, WorkerCrashed)  # chaos is no mistake of the handler for a strict test to raise
            self.failures.append(failure)
            if len(self.failures) > _TRACEBACKS_MAX:
                for name in ("__traceback__", "__context__"):
                    BaseException.__setattr__(error, name, None)
            if issubclass(kind, KeyboardInterrupt):
                self._interrupt = error
        if self.waits and invocation.tasks:
            own = asyncio.current_task(self._loop) if self._is_running() else None
            for task in list(invocation.tasks):
                if task is not own:
                    task.cancel()

    @property
    def busy(self) -> bool:
        """Whether a handler, or a promise that outlives its batch, has not ended. What floats beyond that does not count."""
        return bool(self.running or self.promises)

    def next_wake_us(self) -> int | None:
        """When a handler has something to do next; None when none has."""
        moments = []
        if self._loop is not None:
            timer_us = self._loop.next_timer_us()
            if timer_us is not None:
                moments.append(timer_us)
        for heap in (self._walls, self._slow):
            while heap and (heap[0][2].event.queue, heap[0][2].event.batch) not in self.running:
                heapq.heappop(heap)
            if heap:
                moments.append(heap[0][0])
        return min(moments) if moments else None

    def wake(self, now_us: int) -> None:
        """Run what handlers have to do at this moment; end those whose time is over."""
        if self._loop is not None:
            self._run_loop()
        while self._slow and self._slow[0][0] <= now_us:
            invocation = heapq.heappop(self._slow)[2]
            if (invocation.event.queue, invocation.event.batch) in self.running:
                over = now_us >= invocation.wall_us
                self._settle(invocation, "exceededWallTime" if over else "ok" if invocation.error is None else "exception")
        while self._walls and self._walls[0][0] <= now_us:
            invocation = heapq.heappop(self._walls)[2]
            if not invocation.finished:
                seconds = cloudflare.CONSUMER_WALL_SECONDS
                invocation.fail(TimeoutError(f"the handler did not end within {seconds} seconds"))
                self._settle(invocation, "exceededWallTime")
                self._run_loop()
        self._reraise()

    def _run_loop(self) -> None:
        """Let handlers go on as far as this moment reaches; fail those that nothing will ever wake."""
        loop = self.loop
        now_us = self.broker.clock.now_us()
        self.handling += 1
        try:
            loop.run_ready(now_us)
        except Spinning as error:
            for invocation in list(self.running.values()):
                if not invocation.finished:
                    invocation.fail(error)
                    self._settle(invocation, "exceededCpu")
            loop.close()  # what spins may not even let itself be cancelled
            self._loop = None
            return
        finally:
            self.handling -= 1
        stuck = [invocation for invocation in self.running.values() if not invocation.finished]
        if stuck and loop.next_timer_us() is None and not loop.has_real_work():
            for invocation in stuck:
                invocation.fail(HandlerNeverEnds("the handler awaits something that nothing will ever bring"))
                self._settle(invocation, "exception")
            self._run_loop()

    def _reraise(self) -> None:
        """Ctrl-C stops the test, after the batch has been settled."""
        if self._interrupt is not None:
            error, self._interrupt = self._interrupt, None
            raise error

    def _prepare_crash(self, invocation: Invocation) -> None:
        place = self.dice.crash_at(len(invocation.event.ids))
        if place is None:
            return
        doomed = invocation.event.ids[place]

        def crash(id: str) -> None:
            if id == doomed:
                invocation.crashed = True
                raise WorkerCrashed("chaos ended the handler's process")

        invocation.batch.crash_at(crash)

    def close(self) -> None:
        """End every task and the loop."""
        for invocation in self.running.values():
            invocation.finished = True  # what the end of the loop does to them is no outcome
        loop, self._loop = self._loop, None
        if loop is None or loop.is_closed():
            return
        for task in asyncio.all_tasks(loop):
            task.cancel()
        for _ in range(10):
            if not asyncio.all_tasks(loop):
                break
            with contextlib.suppress(Spinning):
                loop.run_ready(loop.now_us)
        loop.close()
