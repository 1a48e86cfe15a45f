"""What belongs to one run of a handler's code: its delivery, its tasks, and what a fault may do to its calls."""

from __future__ import annotations

import asyncio
import contextvars
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from emulator.engine.allowance import TooManySubrequests, of_request
from emulator.engine.faults import DIED, WorkerCrashed

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.engine.delivery import Delivery

T = TypeVar("T")

_BEFORE = 1
"""The first of the two places at a call; the other one is behind it."""

LOST = "Network connection lost."
"""What workerd says of a call whose answer never came: https://developers.cloudflare.com/d1/observability/debug-d1/."""

current: contextvars.ContextVar[Invocation | None] = contextvars.ContextVar("invocation", default=None)
"""The invocation whose code runs, so that its tasks and its calls can be told from others."""


class Invocation(msgspec.Struct, eq=False):
    """One batch in the hands of its handler. `open_awaits` counts the handler and what it asked to wait for, `calls` its calls.

    With `waits`, the batch ends when its `waitUntil` promises have ended.
    """

    delivery: Any  # Delivery
    waits: bool = True
    returned: bool = False
    calling: bool = False
    open_awaits: int = 0
    calls: int = 0
    mortal: Any = None
    """What makes a coroutine one whose process may die: for the tasks that a handler begins."""
    tasks: dict[asyncio.Task[Any], None] = {}  # in order, so that every run cuts them off in the same order

    def forget(self, task: asyncio.Task[Any]) -> None:
        """A task of this invocation is done."""
        self.tasks.pop(task, None)


def enrol(loop: Any, work: Any, **options: Any) -> asyncio.Task[Any]:
    """Make a task, and remember to which invocation it belongs."""
    invocation = current.get()
    if invocation is None:
        return asyncio.Task(work, loop=loop, **options)
    if invocation.delivery.active and invocation.mortal is not None:
        work = invocation.mortal(work)
    return own_task(loop, invocation, work, **options)


def own_task(loop: Any, invocation: Invocation, work: Any, **options: Any) -> asyncio.Task[Any]:
    """A task of an invocation, just as it is."""
    task: asyncio.Task[Any] = asyncio.Task(work, loop=loop, **options)
    invocation.tasks[task] = None
    task.add_done_callback(invocation.forget)
    return task


def may_die_reading(delivery: Delivery) -> None:
    """Choose the message at whose body the process dies, if it does."""
    place = delivery.choose(len(delivery.event.ids) + 1, "crashes", delivery.event.ids)
    if not place:
        return
    doomed = delivery.event.ids[place - 1]

    def read(id: str) -> None:
        if id == doomed or delivery.crashed:
            delivery.crash()

    delivery.batch.crash_at(read)


def bound(what: Any, work: Callable[[], T], lost: Callable[[], Exception] | None = None) -> T:
    """A call of a handler to something outside: a binding, a fetch. A dead process calls nothing.

    By a fault its process dies before the call or behind it, and where `lost` makes the error that the caller sees, the call
    fails or its answer gets lost. `what` is said to people.
    """
    invocation = current.get()
    if invocation is None:
        if (calls := of_request.get()) is not None:
            calls.spend()
        return work()
    if invocation.calling:  # a binding may be made of another
        return work()
    delivery = invocation.delivery
    if delivery.dead:
        raise WorkerCrashed(DIED)
    invocation.calls += 1
    most = delivery.deliveries.account.calls_max
    if most is not None and invocation.calls > most:
        raise TooManySubrequests
    if not delivery.active:
        return work()
    point = may_die_before(delivery, what, lost)
    invocation.calling = True
    try:
        value = work()
    finally:
        invocation.calling = False
    may_die_behind(delivery, what, lost, point)
    return value


def may_die_before(delivery: Delivery, what: Any, lost: Callable[[], Exception] | None) -> int:
    """The chances of a call before it is made; what `may_die_behind` has to know of them."""
    point = delivery.choose(3, "crashes_at_call", what)
    if point == _BEFORE:
        delivery.crash()
    if lost is not None and delivery.choose(2, "failed_calls", what):
        raise lost()
    return point


def may_die_behind(delivery: Delivery, what: Any, lost: Callable[[], Exception] | None, point: int) -> None:
    """The chances of a call that has acted."""
    delivery.deliveries.account.chance.heard(delivery, what)
    if point:
        delivery.crash()
    delivery.may_be_cut(what)
    if lost is not None and delivery.choose(2, "lost_answers", what):
        raise lost()


def connection_lost() -> Exception:
    """The error of a call to something that is no binding of Cloudflare's."""
    return ConnectionError(LOST)
