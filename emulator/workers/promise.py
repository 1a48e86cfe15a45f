"""What a binding's call gives: a coroutine that has done its work already. Awaiting it gives the result or raises the error."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, NoReturn

from emulator.engine.targets.awaits import Settled, late_answer
from emulator.engine.targets.invocation import LOST, bound, current

if TYPE_CHECKING:
    from collections.abc import Callable, Generator


class _Settled(Settled, Coroutine[Any, Any, Any]):
    """Await it, gather it, or make a task of it, as often as wanted. The call has acted, also when nobody awaits it."""

    __slots__ = ()

    @abstractmethod
    def result(self) -> Any:
        """What awaiting gives. Raises the call's error."""

    def __await__(self) -> Generator[None, None, Any]:
        invocation = current.get()
        if invocation is not None and invocation.mortal is not None:
            yield from late_answer()
        return self.result()

    def send(self, _value: object) -> NoReturn:
        """Run to the end, which is here: how an event loop runs a task."""
        raise StopIteration(self.result())

    def throw(self, *error: Any) -> NoReturn:
        """Raise what an event loop throws in."""
        raise error[0] if isinstance(error[0], BaseException) else error[0]()

    def close(self) -> None:
        """Nothing is open."""


class Promise(_Settled):
    """A call as a Python Worker makes it: what went wrong is raised where it is awaited."""

    __slots__ = ("_error", "_value")

    def __init__(self, work: Callable[[], Any], what: Any, *, may_fail: bool = True) -> None:
        self._value: Any = None
        self._error: Exception | None = None
        try:
            self._value = bound(what, work, _lost if may_fail else None)
        except Exception as error:  # noqa: BLE001 - whatever it is, whoever awaits gets it
            self._error = error

    def result(self) -> Any:
        """What awaiting gives. Raises the call's error."""
        if self._error is not None:
            raise self._error
        return self._value


class Resolved(_Settled):
    """A call as a native handler makes it: its value's attributes can be read without awaiting, for sync handlers."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def result(self) -> Any:
        """The value."""
        return self.value

    def __getattr__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "value"), name)  # __getattribute__: also where there is no value yet


def _lost() -> Exception:
    from emulator.workers.python.errors import JsException  # an emulator without Workers loads nothing of them

    return JsException(LOST)
