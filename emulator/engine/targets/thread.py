"""Python handlers in real time: each batch on a thread of its own, coroutines on an event loop of their own."""

from __future__ import annotations

import asyncio
import inspect
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from cfq_lint.facts import limits
from emulator.engine.error_text import error_text
from emulator.engine.faults import THREAD
from emulator.engine.targets.awaits import Dying
from emulator.engine.targets.handlers import Call, Context, handler_call
from emulator.engine.targets.invocation import Invocation, current, may_die_reading

if TYPE_CHECKING:
    from emulator.core.commands import Settle
    from emulator.engine.delivery import Delivery
    from emulator.engine.targets.real_time import RealTime

_THREADS = 32


class ThreadTarget:
    """Gives batches to a Python handler, which has `timeout_seconds` of real time."""

    name = THREAD

    def __init__(
        self, runtime: RealTime, handler: Any, env: Any = None, *, timeout_seconds: float = limits.CONSUMER_WALL_SECONDS
    ) -> None:
        self.runtime, self.env, self.timeout_seconds = runtime, env, timeout_seconds
        self._call: Call = handler_call(handler)
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="consumer")
        runtime.at_close(lambda: self._threads.shutdown(wait=False, cancel_futures=True))

    def deliver(self, delivery: Delivery) -> Settle | None:
        """Give a batch to a thread."""
        if delivery.deliveries.account.chance.active:
            may_die_reading(delivery)
            delivery.batch.after_ack(delivery.may_be_cut)
        delivery.batch.messages  # noqa: B018 - made now, while nothing else writes to the state
        self.runtime.spawn(delivery, self._settled(delivery, self._threads.submit(self._work, delivery)))
        return None

    def cut(self, delivery: Delivery, error: BaseException) -> Settle:
        """Wait no longer for the thread; it ends some day, and nobody asks any more."""
        self.runtime.forget(delivery)
        return delivery.settlement("exceededWallTime", error_text(error))

    async def _settled(self, delivery: Delivery, work: Future[None]) -> Settle:
        waiting = asyncio.wrap_future(work)
        done, _ = await asyncio.wait([waiting], timeout=self.timeout_seconds)
        if not done:
            waiting.add_done_callback(lambda late: late.cancelled() or late.exception())
            error: BaseException | None = TimeoutError(f"the handler did not end within {self.timeout_seconds:g} seconds")
            outcome = "exceededWallTime"
        else:
            error = waiting.exception()
            outcome = "ok" if error is None else "exception"
        if error is not None:
            delivery.fail(error)
        return delivery.settlement(outcome, None if error is None else error_text(error))

    def _work(self, delivery: Delivery) -> None:
        promised: list[Any] = []
        token = current.set(Invocation(delivery))
        try:
            result = self._call(delivery.batch, self.env, Context(promised.append))
            if inspect.isawaitable(result) or promised:
                if inspect.isawaitable(result) and delivery.deliveries.account.chance.active:
                    result = Dying(result, delivery, waits=False)
                asyncio.run(_all(result, promised))
        finally:
            current.reset(token)


async def _all(result: Any, promised: list[Any]) -> None:
    if inspect.isawaitable(result):
        await result
    for each in promised:
        if inspect.isawaitable(each):
            await each
