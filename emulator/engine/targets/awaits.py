"""Where a handler awaits something, chance may have a word: its process dies, a limit ends it, it goes on later."""

from __future__ import annotations

import asyncio
import inspect
import types
import warnings
from collections.abc import Coroutine, Generator
from typing import TYPE_CHECKING, Any, TypeVar

from emulator.engine.faults import DIED, LIMIT, WorkerCrashed
from emulator.engine.targets.invocation import current, may_die_before, may_die_behind

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from emulator.engine.delivery import Delivery

F = TypeVar("F", bound=Any)


ASKING: set[types.CodeType] = set()
"""Coroutines of the emulator's own that ask for their faults themselves."""


def asks(function: F) -> F:
    """Such a coroutine."""
    ASKING.add(function.__code__)
    return function


class Settled:
    """A call that has acted before anybody awaits it: what may go wrong was asked there, and here only how late it comes."""

    __slots__ = ()
    asks_for_faults = True


class Dying(Coroutine[Any, Any, Any]):
    """A handler's coroutine whose process may die wherever it awaits something that is not there yet.

    `bury` is called when that happens in a task beside the handler's own. Nothing is late where nobody `waits` in virtual time.
    """

    __slots__ = ("_bury", "_delivery", "_held", "_waits", "_work")

    def __init__(
        self, work: Awaitable[Any], delivery: Delivery, bury: Callable[[], object] | None = None, *, waits: bool = True
    ) -> None:
        self._work: Any = work if isinstance(work, Coroutine) else work.__await__()
        self._delivery, self._bury, self._waits = delivery, bury, waits
        self._held: Any = None

    def __await__(self) -> Generator[Any, Any, Any]:
        return self  # it has what an iterator of awaits needs

    def __iter__(self) -> Dying:
        return self

    def __next__(self) -> Any:
        return self.send(None)

    def send(self, value: Any) -> Any:
        """Go on; where it awaits something, it may die."""
        if self._held is not None:
            held, self._held = self._held, None
            return held
        waited_for = self._work.send(value)
        delivery = self._delivery
        if delivery.dead:
            self._die()
        if delivery.pointed:  # its code asks at every `await` by itself
            return waited_for
        if delivery.choose(2, "crashes_at_await"):
            delivery.crashed = True
            self._die()
        try:
            delivery.may_be_cut()
        except WorkerCrashed:
            self._die()
        seconds = delivery.seconds("late_answers") if self._waits else 0
        if seconds:
            self._held = waited_for
            return next(_pause(seconds))
        return waited_for

    def _die(self) -> None:
        error = WorkerCrashed(LIMIT if self._delivery.cut_off else DIED)
        if self._bury is not None:
            self._bury()
        self._work.throw(error)
        self._work.close()
        raise error

    def throw(self, *error: Any) -> Any:
        """Raise an error where it waits."""
        return self._work.throw(*error)

    def close(self) -> None:
        """End it."""
        self._work.close()


def _pause(seconds: float) -> Generator[Any, Any, Any]:
    """Wait on the loop that runs."""
    loop = asyncio.get_running_loop()
    future = loop.create_future()
    loop.call_later(seconds, _wake, future)
    return future.__await__()


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


def late_answer(what: Any = None) -> Generator[Any, Any, None]:
    """How much later the answer of a call is there that was asked for by a handler on virtual time."""
    invocation = current.get()
    if invocation is not None and invocation.mortal is not None:
        seconds = invocation.delivery.seconds("late_answers", what)
        if seconds:
            yield from _pause(seconds)


@types.coroutine
def await_point(awaitable: Any) -> Generator[Any, Any, Any]:
    """Await something for a handler that a search has rewritten: its process may die before it and behind it."""
    invocation = current.get()
    if invocation is None or isinstance(awaitable, Settled) or getattr(awaitable, "cr_code", None) in ASKING:
        return (yield from awaitable.__await__())
    delivery = invocation.delivery
    if delivery.dead:
        _give_up(awaitable)
        raise WorkerCrashed(DIED)
    if not delivery.active:
        return (yield from awaitable.__await__())
    delivery.pointed = True
    chance = delivery.deliveries.account.chance
    where = chance.described(awaitable)
    point = delivery.choose(3, "crashes_at_await", where)
    if point == 1:
        _give_up(awaitable)
        delivery.crash()
    value = yield from awaitable.__await__()
    if delivery.dead:
        raise WorkerCrashed(DIED)
    if where is not None:
        chance.heard(delivery, where)
    if point:
        delivery.crash()
    delivery.may_be_cut(where)
    yield from late_answer(where)
    return value


@asks
async def late_call(what: Any, work: Callable[[], Any], lost: Callable[[], Exception]) -> Any:
    """A call of something outside, as `bound` makes it, whose work may have to be awaited."""

    async def done() -> Any:
        value = work()
        return await value if inspect.isawaitable(value) else value

    return await finished(what, done(), lost)


@asks
async def finished(what: Any, work: Awaitable[Any], lost: Callable[[], Exception]) -> Any:
    """Await the work of a call outside: it acts only then."""
    invocation = current.get()
    if invocation is None or invocation.calling or not invocation.delivery.active:
        return await work
    delivery = invocation.delivery
    if delivery.dead:
        _give_up(work)
        raise WorkerCrashed(DIED)
    try:
        point = may_die_before(delivery, what, lost)
    except BaseException:
        _give_up(work)
        raise
    value = await work
    if delivery.dead:
        raise WorkerCrashed(DIED)
    may_die_behind(delivery, what, lost, point)
    await _Late(what)
    return value


class _Late:
    """Awaited, it lets as much time pass as an answer is late."""

    __slots__ = ("_what",)

    def __init__(self, what: Any) -> None:
        self._what = what

    def __await__(self) -> Generator[Any, Any, None]:
        yield from late_answer(self._what)


def _give_up(awaitable: Any) -> None:
    """Close what a dead process was about to await, and what that was given: that nobody awaits it is no mistake."""
    frame = getattr(awaitable, "cr_frame", None)
    for given in list(frame.f_locals.values()) if frame is not None else ():
        if inspect.iscoroutine(given) and inspect.getcoroutinestate(given) == inspect.CORO_CREATED:
            _give_up(given)
    close = getattr(awaitable, "close", None)
    if close is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            close()
