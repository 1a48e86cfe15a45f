"""Timers, `Promise`, `AbortController`, `performance`: what happens later, on the emulator's clock.

A Worker's code runs in an asyncio loop of virtual time, so that a timer is a callback of that loop.
"""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from typing import TYPE_CHECKING, Any

from emulator.workers.python.errors import JsException
from emulator.workers.python.javascript.js_values import JsArray, JsObject, JsProxy
from emulator.workers.python.runtime_names import Partial

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable


class Timers:
    """`setTimeout`, `setInterval`, their `clear…`, and `queueMicrotask`."""

    def __init__(self) -> None:
        self._handles: dict[int, asyncio.Handle] = {}
        self._count = 0

    def set_timeout(self, function: Callable[..., Any], milliseconds: float = 0, *given: Any) -> int:
        """Call a function once, so many milliseconds from now; its number."""
        self._count += 1
        self._arm(self._count, milliseconds, lambda: _called(function, given))
        return self._count

    def set_interval(self, function: Callable[..., Any], milliseconds: float = 0, *given: Any) -> int:
        """Call a function again and again, until it is cleared; its number."""
        self._count += 1
        number = self._count

        def turn() -> None:
            self._arm(number, max(1, milliseconds), turn)
            _called(function, given)

        self._arm(number, max(1, milliseconds), turn)
        return number

    def clear(self, number: Any = None) -> None:
        """Forget a timer, if it is still there."""
        handle = self._handles.pop(number, None)
        if handle is not None:
            handle.cancel()

    def _arm(self, number: int, milliseconds: float, act: Callable[[], None]) -> None:
        def due() -> None:
            self._handles.pop(number, None)
            act()

        self._handles[number] = asyncio.get_running_loop().call_later(max(0, milliseconds) / 1_000, due)


def _called(function: Callable[..., Any], given: tuple[Any, ...]) -> None:
    result = function(*given)
    if inspect.isawaitable(result):
        asyncio.ensure_future(result)  # noqa: RUF006 - as JavaScript lets a promise go


def queue_microtask(function: Callable[[], Any]) -> None:
    """Call a function when the running code has come to a wait."""
    asyncio.get_running_loop().call_soon(lambda: _called(function, ()))


class Promise(Partial, JsProxy):
    """A promise: await it, or chain with `then`, `catch`, `finally_`."""

    def __init__(self, future: asyncio.Future[Any]) -> None:
        self._future = future

    @staticmethod
    def new(executor: Callable[[Callable[..., None], Callable[..., None]], Any]) -> Promise:
        """`new Promise((resolve, reject) => …)`."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def resolve(value: Any = None) -> None:
            if not future.done():
                future.set_result(value)

        def reject(reason: Any = None) -> None:
            if not future.done():
                future.set_exception(reason if isinstance(reason, Exception) else JsException(str(reason)))

        executor(resolve, reject)
        return Promise(future)

    @staticmethod
    def resolve(value: Any = None) -> Promise:
        """One that is fulfilled; of an awaitable, one that follows it."""
        return Promise(asyncio.ensure_future(_settled(value)))

    @staticmethod
    def reject(reason: Any = None) -> Promise:
        """One that is rejected."""
        return Promise.new(lambda _resolve, reject: reject(reason))

    @staticmethod
    def all(entries: Iterable[Any]) -> Promise:
        """All results in order, or the first error."""
        return Promise(asyncio.ensure_future(_all(entries)))

    @staticmethod
    def allSettled(entries: Iterable[Any]) -> Promise:  # noqa: N802 - JavaScript's name
        """Of each, `status` and `value` or `reason`."""
        return Promise(asyncio.ensure_future(_all_settled(entries)))

    @staticmethod
    def race(entries: Iterable[Any]) -> Promise:
        """What the first of them comes to."""
        return Promise(asyncio.ensure_future(_race(entries)))

    def then(self, fulfilled: Callable[[Any], Any] | None = None, rejected: Callable[[Any], Any] | None = None) -> Promise:
        """What a function makes of the result, or of the error."""
        return Promise(asyncio.ensure_future(_then(self, fulfilled, rejected)))

    def catch(self, rejected: Callable[[Any], Any]) -> Promise:
        """What a function makes of the error."""
        return self.then(None, rejected)

    def finally_(self, function: Callable[[], Any]) -> Promise:
        """The same, after a function has been called."""

        async def last() -> Any:
            try:
                return await self
            finally:
                await _settled(function())

        return Promise(asyncio.ensure_future(last()))

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._future.__await__()


async def _settled(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


async def _all(entries: Iterable[Any]) -> JsArray:
    return JsArray(await asyncio.gather(*[_settled(each) for each in entries]))


async def _all_settled(entries: Iterable[Any]) -> JsArray:
    found = await asyncio.gather(*[_settled(each) for each in entries], return_exceptions=True)
    return JsArray(
        JsObject(status="rejected", reason=each)
        if isinstance(each, BaseException)
        else JsObject(status="fulfilled", value=each)
        for each in found
    )


async def _race(entries: Iterable[Any]) -> Any:
    tasks = [asyncio.ensure_future(_settled(each)) for each in entries]
    done, others = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for each in others:
        each.cancel()
    return await next(each for each in tasks if each in done)


async def _then(promise: Promise, fulfilled: Callable[[Any], Any] | None, rejected: Callable[[Any], Any] | None) -> Any:
    try:
        value = await promise
    except Exception as error:
        if rejected is None:
            raise
        return await _settled(rejected(error))
    return value if fulfilled is None else await _settled(fulfilled(value))


class AbortSignal(Partial):
    """`aborted`, `reason`, `throwIfAborted()`, `addEventListener("abort", …)`."""

    def __init__(self) -> None:
        self.aborted = False
        self.reason: Any = None
        self.onabort: Callable[[Any], Any] | None = None
        self._listeners: list[Callable[[Any], Any]] = []

    @staticmethod
    def timeout(milliseconds: float) -> AbortSignal:
        """One that is aborted so many milliseconds from now."""
        signal = AbortSignal()
        error = JsException("The operation was aborted due to timeout", "TimeoutError")
        asyncio.get_running_loop().call_later(milliseconds / 1_000, signal.end, error)
        return signal

    @staticmethod
    def abort(reason: Any = None) -> AbortSignal:
        """One that is aborted."""
        signal = AbortSignal()
        signal.end(reason)
        return signal

    @staticmethod
    def any(signals: Iterable[AbortSignal]) -> AbortSignal:
        """One that is aborted with the first of others."""
        made = AbortSignal()
        for each in signals:
            if each.aborted:
                made.end(each.reason)
            else:
                each.addEventListener("abort", partial(_follow, made, each))
        return made

    def end(self, reason: Any = None) -> None:
        """Abort, once, and tell who listens."""
        if self.aborted:
            return
        self.aborted, self.reason = True, reason or JsException("The operation was aborted", "AbortError")
        for each in [*self._listeners, *([self.onabort] if self.onabort is not None else [])]:
            each(JsObject(type="abort"))

    def throwIfAborted(self) -> None:  # noqa: N802 - JavaScript's name
        """Raise the reason."""
        if self.aborted:
            raise self.reason if isinstance(self.reason, Exception) else JsException(str(self.reason), "AbortError")

    def addEventListener(self, _kind: str, function: Callable[[Any], Any], _options: Any = None) -> None:  # noqa: N802
        """Call a function when it is aborted."""
        self._listeners.append(function)

    def removeEventListener(self, _kind: str, function: Callable[[Any], Any]) -> None:  # noqa: N802 - JavaScript's name
        """Call it no longer."""
        self._listeners = [each for each in self._listeners if each != function]


def _follow(signal: AbortSignal, first: AbortSignal, _event: Any) -> None:
    signal.end(first.reason)


async def unless_aborted(awaitable: Any, signal: AbortSignal) -> Any:
    """What an awaitable gives. Raises the signal's reason where it is aborted first."""
    task = asyncio.ensure_future(awaitable)
    signal.addEventListener("abort", lambda _event: task.cancel())
    try:
        return await task
    except asyncio.CancelledError:
        signal.throwIfAborted()
        raise


class AbortController(Partial):
    """`AbortController.new()`: `signal`, `abort(reason)`."""

    def __init__(self) -> None:
        self.signal = AbortSignal()

    @staticmethod
    def new() -> AbortController:
        """A controller."""
        return AbortController()

    def abort(self, reason: Any = None) -> None:
        """Abort its signal."""
        self.signal.end(reason)


class Performance(Partial):
    """`performance.now()`, which stands while code runs. `timeOrigin` is 0, as there."""

    timeOrigin = 0  # noqa: N815 - JavaScript's name

    def __init__(self, now_us: Callable[[], int]) -> None:
        self._now_us = now_us

    def now(self) -> float:
        """Milliseconds since 1970: Workers' timeOrigin is 0."""
        return self._now_us() / 1_000


def events(now_us: Callable[[], int]) -> dict[str, Any]:
    """The globals by name, for one Worker."""
    timers = Timers()
    return {
        "AbortController": AbortController, "AbortSignal": AbortSignal, "Promise": Promise,
        "performance": Performance(now_us), "queueMicrotask": queue_microtask,
        "setTimeout": timers.set_timeout, "setInterval": timers.set_interval,
        "clearTimeout": timers.clear, "clearInterval": timers.clear,
    }  # fmt: skip
