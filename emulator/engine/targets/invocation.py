"""What belongs to one run of a handler's code: its delivery, its tasks, and where a fault may end its process."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from emulator.engine.faults import DIED, WorkerCrashed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

    from emulator.engine.delivery import Delivery

_BEFORE = 1
"""The first of the two places at a call; the other one is behind it."""

current: contextvars.ContextVar[Invocation | None] = contextvars.ContextVar("invocation", default=None)
"""The invocation whose code runs, so that its tasks and its calls can be told from others."""


class Invocation:
    """One batch in the hands of its handler. `open_awaits` counts the handler and what it asked to wait for.

    With `waits`, the batch ends when its `waitUntil` promises have ended.
    """

    __slots__ = ("calling", "delivery", "open_awaits", "returned", "tasks", "waits")

    def __init__(self, delivery: Delivery, *, waits: bool = True) -> None:
        self.delivery, self.waits = delivery, waits
        self.returned = self.calling = False
        self.open_awaits = 0
        self.tasks: dict[asyncio.Task[Any], None] = {}  # in order, so that every run cuts them off in the same order

    def forget(self, task: asyncio.Task[Any]) -> None:
        """A task of this invocation is done."""
        self.tasks.pop(task, None)


def enrol(loop: Any, work: Any, **options: Any) -> asyncio.Task[Any]:
    """Make a task, and remember to which invocation it belongs."""
    task: asyncio.Task[Any] = asyncio.Task(work, loop=loop, **options)
    invocation = current.get()
    if invocation is not None:
        invocation.tasks[task] = None
        task.add_done_callback(invocation.forget)
    return task


def may_die_reading(delivery: Delivery) -> None:
    """Choose the message at whose body the process dies, if it does."""
    place = delivery.choose(len(delivery.event.ids) + 1, "crashes")
    if not place:
        return
    doomed = delivery.event.ids[place - 1]

    def read(id: str) -> None:
        if id == doomed or delivery.crashed:
            delivery.crash()

    delivery.batch.crash_at(read)


@contextmanager
def binding_call() -> Iterator[None]:
    """Around a call of a binding by a handler: its process may die before it or behind it; a dead one calls nothing."""
    invocation = current.get()
    if invocation is None or invocation.calling:
        yield
        return
    delivery = invocation.delivery
    if delivery.crashed:
        raise WorkerCrashed(DIED)
    point = delivery.choose(3, "crashes_at_call")
    if point == _BEFORE:
        delivery.crash()
    invocation.calling = True  # a binding may be made of another
    try:
        yield
    finally:
        invocation.calling = False
    if point:
        delivery.crash()


class Dying(Coroutine[Any, Any, Any]):
    """A handler's coroutine whose process may die wherever it awaits something."""

    __slots__ = ("_delivery", "_work")

    def __init__(self, work: Awaitable[Any], delivery: Delivery) -> None:
        self._work: Generator[Any, Any, Any] | Coroutine[Any, Any, Any] = (
            work if isinstance(work, Coroutine) else work.__await__()
        )
        self._delivery = delivery

    def __await__(self) -> Generator[Any, Any, Any]:
        return self  # it has what an iterator of awaits needs

    def __iter__(self) -> Dying:
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: Any) -> Any:
        """Go on; where it awaits something, it may die."""
        waited_for = self._work.send(value)
        if self._delivery.choose(2, "crashes_at_await"):
            self._delivery.crashed = True
            self._work.throw(WorkerCrashed(DIED))
            self._work.close()
            raise WorkerCrashed(DIED)
        return waited_for

    def throw(self, *error: Any) -> Any:
        """Raise an error where it waits."""
        return self._work.throw(*error)

    def close(self) -> None:
        """End it."""
        self._work.close()
