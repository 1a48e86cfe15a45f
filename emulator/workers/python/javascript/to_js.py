"""`to_js`, `create_proxy` and `create_once_callable` of `pyodide.ffi`.

https://pyodide.org/en/stable/usage/api/python-api/ffi.html.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any

from emulator.engine.bodies.undefined import UNDEFINED, Undefined
from emulator.workers.python.errors import JsException
from emulator.workers.python.javascript.js_binary import JsBuffer
from emulator.workers.python.javascript.js_time import JsTime
from emulator.workers.python.javascript.js_values import JsArray, JsLiteralMap, JsNull, JsProxy
from emulator.workers.python.runtime_names import Partial

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


class PyProxy(JsProxy):
    """What `create_proxy` gives: call it, await it, read its attributes; `destroy()` when done."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __call__(self, *args: Any, **options: Any) -> Any:  # noqa: D102 - what it stands for
        return self._inner(*args, **options)

    def __await__(self) -> Generator[Any, Any, Any]:
        awaited: Generator[Any, Any, Any] = self._awaited().__await__()
        return awaited

    async def _awaited(self) -> Any:
        return await self._inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def to_py(self, **_options: Any) -> Any:
        """What it stands for."""
        return self._inner

    unwrap = to_py


class OnceCallable(PyProxy):
    """What `create_once_callable` gives: Pyodide lets go of it with the first call."""

    _spent = False

    def __call__(self, *args: Any, **options: Any) -> Any:
        """The only call. Raises JsException after it, or after `destroy()`."""
        if self._spent:
            raise JsException("OnceProxy can only be called once")
        self._spent = True
        return self._inner(*args, **options)

    def destroy(self) -> None:
        """Let go of it uncalled. Raises JsException where that is done already."""
        if self._spent:
            raise JsException("OnceProxy has already been destroyed")
        self._spent = True


def create_proxy(value: Any, /, **_options: Any) -> PyProxy:
    """A Python value that JavaScript may keep."""
    return PyProxy(value)


def create_once_callable(function: Callable[..., Any], /, **_options: Any) -> OnceCallable:
    """A function that JavaScript may call once."""
    return OnceCallable(function)


def to_js(
    value: Any,
    /,
    *,
    depth: int = -1,
    pyproxies: Any = None,  # noqa: ARG001 - Pyodide's parameter
    create_pyproxies: bool = True,
    dict_converter: Callable[[Any], Any] | None = None,
    default_converter: Callable[..., Any] | None = None,
    **_options: Any,
) -> Any:
    """`pyodide.ffi.to_js`: a dict becomes a literal Map, unless `dict_converter=Object.fromEntries` makes an object of it.

    Raises TypeError for what cannot be converted when `create_pyproxies` is False.
    """

    def convert(entry: Any, level: int) -> Any:
        if level == 0 or isinstance(entry, JsProxy | JsTime):
            return entry
        if isinstance(entry, dict):
            pairs = [JsArray((key, convert(each, level - 1))) for key, each in entry.items()]
            return dict_converter(JsArray(pairs)) if dict_converter is not None else JsLiteralMap(pairs)
        if isinstance(entry, list | tuple):
            return JsArray(convert(each, level - 1) for each in entry)
        if entry is None:  # nothing is undefined; the SDK itself says null where it means it
            return UNDEFINED
        if isinstance(entry, bytes | memoryview | array):
            return JsBuffer(entry)
        if isinstance(entry, str | int | float | bytearray | Undefined | JsNull) or type(entry) is set:
            return entry
        if default_converter is not None:
            return default_converter(entry, lambda each: convert(each, level - 1), lambda *_: None)
        if not create_pyproxies:
            message = f"no conversion known for {entry!r}"
            raise TypeError(message)
        is_javascript = isinstance(entry, Partial) or hasattr(entry, "js_object")
        return entry if is_javascript else create_proxy(entry)

    return None if value is None else convert(value, depth)
