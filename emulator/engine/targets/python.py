"""Python handlers on virtual time: functions, coroutines, Worker classes. What a handler does is an outcome, and time goes on.

A handler has ended when it has returned and, unless a compatibility flag says otherwise, its `waitUntil` promises are settled.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from typing import TYPE_CHECKING, Any

from emulator.engine.error_text import error_text
from emulator.engine.faults import DIED, LIMIT, PYTHON, WorkerCrashed
from emulator.engine.targets.awaits import Dying
from emulator.engine.targets.handlers import Call, Context, handler_call
from emulator.engine.targets.invocation import Invocation, current, enrol, may_die_reading, own_task
from emulator.engine.targets.loop import Spinning, VirtualLoop

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from emulator.core.commands import Settle
    from emulator.engine.delivery import Delivery

NO_WAIT_FLAG = "queue_consumer_no_wait_for_wait_until"


class HandlerNeverEnds(RuntimeError):  # noqa: N818 - what is wrong with it
    """A handler awaits something that no timer, thread or socket will ever bring."""


class PythonTarget:
    """A Python handler. It is called with `env`; with `waits`, its batch ends when its `waitUntil` promises have."""

    name = PYTHON

    def __init__(self, runtime: PythonRuntime, handler: Any, env: Any, *, waits: bool = True) -> None:
        self.runtime: PythonRuntime = runtime
        self.env, self.waits, self.handler = env, waits, handler
        self.call: Call = handler_call(handler)

    def deliver(self, delivery: Delivery) -> Settle | None:
        """Call the handler. A sync one has ended when this returns."""
        return self.runtime.start(self, delivery)

    def cut(self, delivery: Delivery, error: BaseException) -> Settle:
        """Cut off what the handler still does."""
        return self.runtime.cut(delivery, error)


class PythonRuntime:
    """The virtual loop on which coroutines of handlers run, made when the first needs it."""

    outside = working = 0

    def __init__(self, now_us: Callable[[], int]) -> None:
        self._now_us = now_us
        self._loop: VirtualLoop | None = None
        self._turns: Callable[[int], int] | None = None
        self._running: dict[int, Invocation] = {}
        self.promises: set[asyncio.Task[None]] = set()

    @property
    def loop(self) -> VirtualLoop:
        """The virtual loop."""
        if self._loop is None:
            self._loop = VirtualLoop(self._now_us())
            self._loop.set_task_factory(enrol)
            self._loop.set_exception_handler(lambda _loop, _context: None)  # what floats and fails is nobody's outcome
            self._loop.turns = self._turns
        return self._loop

    def start(self, target: PythonTarget, delivery: Delivery) -> Settle | None:
        """Give a batch to a handler; its settlement, or None when it goes on."""
        invocation = Invocation(delivery, waits=target.waits)
        faulty = delivery.deliveries.account.chance.active
        if faulty:
            may_die_reading(delivery)
            self._make_mortal(invocation)
        context = Context(lambda awaitable: self._wait_until(invocation, awaitable))
        result: Any = None
        token = current.set(invocation)
        try:
            result = target.call(delivery.batch, target.env, context)
        except BaseException as error:  # noqa: BLE001 - whatever a handler raises is its outcome
            invocation.delivery.fail(error)
        finally:
            current.reset(token)
        if result is not None and inspect.isawaitable(result):
            invocation.open_awaits += 1
            self._running[delivery.event.batch] = invocation
            work = Dying(result, delivery) if faulty else result
            self._spawn(invocation, self._await_handler(invocation, work))
            self._run_loop()
            return None
        invocation.returned = True
        if not invocation.open_awaits or delivery.dead:
            if invocation.tasks:
                settle = self._settlement(invocation)
                delivery.end(settle)
                self._run_loop()
                return None
            return self._settlement(invocation)
        self._running[delivery.event.batch] = invocation
        self._run_loop()
        return None

    def _spawn(self, invocation: Invocation, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        token = current.set(invocation)
        try:
            return own_task(self.loop, invocation, work)
        finally:
            current.reset(token)

    def _make_mortal(self, invocation: Invocation) -> None:
        """Let faults act on what the handler awaits, and on the tasks that it begins."""
        delivery = invocation.delivery
        delivery.batch.after_ack(delivery.may_be_cut)
        invocation.mortal = lambda work: Dying(work, delivery, lambda: self.loop.call_soon(self._bury, invocation))
        if delivery.deliveries.account.chance.searches:
            self._turns = lambda n: delivery.choose(n, "turns")
            if self._loop is not None:
                self._loop.turns = self._turns

    def _bury(self, invocation: Invocation) -> None:
        """A task has died, and with it the whole process."""
        delivery = invocation.delivery
        if not delivery.ended:
            delivery.fail(WorkerCrashed(LIMIT if delivery.cut_off else DIED))
            delivery.end(self._settlement(invocation))

    async def _await_handler(self, invocation: Invocation, result: Awaitable[Any]) -> None:
        try:
            await result
        except BaseException as error:
            if not self._is_running():
                raise  # the emulator was thrown away with the handler still running: nobody is left to tell
            invocation.delivery.fail(error)
        invocation.returned = True
        invocation.open_awaits -= 1
        self._end_if_done(invocation)

    def _is_running(self) -> bool:
        return self._loop is not None and self._loop.is_running()

    def _wait_until(self, invocation: Invocation, awaitable: Awaitable[Any]) -> None:
        if not inspect.isawaitable(awaitable):
            return
        if invocation.waits:
            invocation.open_awaits += 1
        task = self._spawn(invocation, self._await_promise(invocation, awaitable))
        if inspect.iscoroutine(awaitable):
            task.add_done_callback(lambda _task: awaitable.close())  # it may be cut off before it began
        if not invocation.waits:
            self.promises.add(task)
            task.add_done_callback(self.promises.discard)

    async def _await_promise(self, invocation: Invocation, awaitable: Awaitable[Any]) -> None:
        try:
            await (awaitable if invocation.mortal is None else invocation.mortal(awaitable))
        except BaseException as error:
            if not self._is_running():
                raise
            if invocation.waits:
                invocation.delivery.fail(error)
        if invocation.waits:
            invocation.open_awaits -= 1
            self._end_if_done(invocation)

    def _end_if_done(self, invocation: Invocation) -> None:
        """A handler that raised waits for its promises like one that returned; a dead process waits for nothing."""
        delivery = invocation.delivery
        if invocation.returned and not delivery.ended and (delivery.dead or not invocation.open_awaits):
            delivery.end(self._settlement(invocation))

    def _settlement(self, invocation: Invocation, outcome: str | None = None) -> Settle:
        """How it ended; what still floats is cut off, unless it is a promise that outlives its batch."""
        delivery = invocation.delivery
        self._running.pop(delivery.event.batch, None)
        error = delivery.error
        text = None if error is None else error_text(error)
        settle: Settle = delivery.settlement(outcome or ("ok" if error is None else "exception"), text)
        if invocation.waits and invocation.tasks:
            own = asyncio.current_task(self._loop) if self._is_running() else None
            for task in list(invocation.tasks):
                if task is not own:
                    task.cancel()
        return settle

    def cut(self, delivery: Delivery, error: BaseException) -> Settle:
        """Cut off what a handler still does, because its time is over."""
        invocation = self._running.get(delivery.event.batch) or Invocation(delivery)
        invocation.delivery.fail(error)
        settle = self._settlement(invocation, "exceededWallTime")
        self._run_loop()
        return settle

    @property
    def busy(self) -> bool:
        """Whether a promise that outlives its batch has not ended."""
        return bool(self.promises)

    @property
    def at_rest(self) -> bool:
        """Whether no handler runs, and no task of one floats."""
        loop = self._loop
        return not self._running and (loop is None or (loop.next_timer_us() is None and not asyncio.all_tasks(loop)))

    def next_wake_us(self) -> int | None:
        """When a timer of a handler is due."""
        return None if self._loop is None else self._loop.next_timer_us()

    def wake(self, now_us: int) -> None:  # noqa: ARG002 - the loop asks the clock itself
        """Let handlers go on as far as this moment reaches."""
        if self._loop is not None:
            self._run_loop()

    def _run_loop(self) -> None:
        """Let handlers go on as far as this moment reaches; fail those that nothing will ever wake."""
        loop = self.loop
        try:
            loop.run_ready(self._now_us())
        except Spinning as error:
            self._end_all(error, "exceededCpu")
            loop.close()  # what spins may not even let itself be cancelled
            self._loop = None
            return
        if self._running and loop.next_timer_us() is None and not loop.has_real_work():
            self._end_all(HandlerNeverEnds("the handler awaits something that nothing will ever bring"), "exception")
            self._run_loop()

    def _end_all(self, error: BaseException, outcome: str) -> None:
        for invocation in list(self._running.values()):
            invocation.delivery.fail(error)
            invocation.delivery.end(self._settlement(invocation, outcome))

    def listen(self, on_end: Callable[[], None]) -> None:
        """Nothing ends in real time."""

    def take(self) -> list[Any]:
        """Nothing ends in real time."""
        return []

    def wait(self, seconds: float) -> None:
        """There is nothing to wait for."""

    def close(self) -> None:
        """End every task and the loop."""
        loop, self._loop = self._loop, None
        self._running.clear()
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
