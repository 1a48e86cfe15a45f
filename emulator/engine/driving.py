"""Coroutines that a test awaits, on the virtual loop: whatever loop awaits them, virtual time passes as they ask."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from emulator.engine.clock import wait_really
from emulator.engine.targets.invocation import current
from emulator.engine.targets.loop import VirtualLoop
from emulator.engine.targets.python import HandlerNeverEnds

if TYPE_CHECKING:
    from collections.abc import Awaitable, Coroutine

    from emulator.engine.targets.python import PythonRuntime
    from emulator.engine.timeline import Timeline

_TURNS = 20
"""So often those who await beside us may take a turn in their own loop before time is moved: what they begin, overlaps."""
_LOOKS_MAX, _LOOK_SECONDS = 20, 0.005
"""How often, and how far apart in real seconds, to look whether a thread brings what no timer does."""


class Driving:
    """Runs coroutines beside the handlers of an account."""

    def __init__(self, timeline: Timeline, runtime: PythonRuntime) -> None:
        self._timeline, self._runtime = timeline, runtime
        self._begun = 0

    async def run(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Await work. Outside the virtual loop, virtual time passes up to its end, and what is due on the way happens.

        Those that are awaited together run together. Raises what the work raises, and HandlerNeverEnds when it waits for
        something that nothing will bring.
        """
        if _in_virtual_time():
            return await work
        task = self._begin(work)
        looks = 0
        try:
            while not task.done():
                await self._let_others_begin(task)
                wake_us = self._timeline.deliveries.next_wake_us()
                if task.done():
                    break
                if wake_us is not None:
                    self._timeline.advance(timedelta(microseconds=wake_us - self._timeline.account.now_us))
                    looks = 0
                elif looks < _LOOKS_MAX:
                    looks += 1
                    wait_really(_LOOK_SECONDS)  # nobody else runs here: a thread of the work's may be at it
                    self._timeline.wake()
                else:
                    raise HandlerNeverEnds("the Worker awaits something that nothing will ever bring")
        finally:
            if not task.done():
                task.cancel()
                self._timeline.wake()
        return task.result()

    def keep(self, awaitable: Awaitable[Any]) -> None:
        """Run something to its end beside everything else; `run_until_idle()` waits for it."""
        self._runtime.loop.call_at(0, lambda: None)  # a timer that is due, so that the loop is run even from a sync handler
        task = self._begin(_awaited(awaitable), float_on=True)
        self._runtime.promises.add(task)
        task.add_done_callback(self._runtime.promises.discard)

    def _begin(self, work: Coroutine[Any, Any, Any], *, float_on: bool = False) -> asyncio.Task[Any]:
        """A task on the virtual loop, as far as this moment reaches. One that floats on belongs to no invocation."""
        self._begun += 1
        token = current.set(None) if float_on else None
        try:
            task = self._runtime.loop.create_task(work)
        finally:
            if token is not None:
                current.reset(token)
        if not _in_virtual_time():
            self._timeline.wake()
        return task

    async def _let_others_begin(self, task: asyncio.Task[Any]) -> None:
        """Until a few turns have gone by in which nobody began anything."""
        begun, turns = self._begun, 0
        while turns < _TURNS and not task.done():
            await asyncio.sleep(0)
            begun, turns = self._begun, turns + 1 if begun == self._begun else 0


def _in_virtual_time() -> bool:
    return isinstance(asyncio._get_running_loop(), VirtualLoop)  # noqa: SLF001 - documented for those who make event loops


async def _awaited(awaitable: Awaitable[Any]) -> None:
    await awaitable
