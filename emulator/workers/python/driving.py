"""Runs a Worker's coroutine on the emulator's virtual loop, whatever loop awaits it: time passes as the coroutine asks."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from emulator.engine.clock import moment
from emulator.engine.targets.loop import VirtualLoop
from emulator.engine.targets.python import HandlerNeverEnds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine

    from emulator.testing.emulator import Emulator


_LOOKS_MAX, _LOOK_SECONDS = 20, 0.005
"""How often, and how far apart in real seconds, to look whether a thread brings what no timer does."""


def _running() -> asyncio.AbstractEventLoop | None:
    return asyncio._get_running_loop()  # noqa: SLF001 - documented for those who make event loops


async def drive(emulator: Emulator, work: Coroutine[Any, Any, Any]) -> Any:
    """Await work. Outside the virtual loop, virtual time passes up to its end, and what is due on the way happens.

    Raises what the work raises, and HandlerNeverEnds when it waits for something that nothing will bring.
    """
    if isinstance(_running(), VirtualLoop):
        return await work
    runtime, deliveries = emulator.runtime, emulator.timeline.deliveries
    task = runtime.loop.create_task(work)
    looks = 0
    try:
        while not task.done():
            emulator.timeline.wake()
            if task.done():
                break
            wake_us = deliveries.next_wake_us()
            if wake_us is not None:
                emulator.advance_to(moment(wake_us))
                looks = 0
            elif looks < _LOOKS_MAX:
                looks += 1
                time.sleep(_LOOK_SECONDS)  # noqa: ASYNC251 - the virtual loop stands still meanwhile, and nobody else runs here
            else:
                raise HandlerNeverEnds("the Worker awaits something that nothing will ever bring")
    finally:
        if not task.done():
            task.cancel()
            runtime.loop.run_ready(emulator.account.now_us)
    return task.result()


class Context:
    """The `ctx` of a request: `waitUntil(awaitable)` lets it go on after the answer."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self.props: dict[str, Any] = {}

    def waitUntil(self, awaitable: Awaitable[Any]) -> None:  # noqa: N802 - JavaScript's name
        """Run it to its end; `run_until_idle()` waits for it."""
        runtime = self._emulator.runtime
        task = runtime.loop.create_task(_awaited(awaitable))
        runtime.promises.add(task)
        task.add_done_callback(runtime.promises.discard)
        if not isinstance(_running(), VirtualLoop):
            self._emulator.timeline.wake()

    wait_until = waitUntil

    def passThroughOnException(self) -> None:  # noqa: N802 - JavaScript's name
        """Nothing: there is no origin behind the emulator."""


async def _awaited(awaitable: Awaitable[Any]) -> None:
    await awaitable
