"""What a test puts into `env` in place of something outside: while faults may act, each of its calls may fail."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

from emulator.engine.targets.awaits import finished
from emulator.engine.targets.invocation import bound, connection_lost, current

_VALUES = (str, bytes, int, float, bool, dict, list, tuple, set, frozenset, type, type(None), ModuleType)
"""What a variable may be."""


def outside(name: str, value: Any) -> Any:
    """What stands in `env` under a name, for whoever asks for it now."""
    if isinstance(value, _VALUES) or getattr(type(value), "asks_for_faults", False):
        return value
    invocation = current.get()
    return value if invocation is None or not invocation.delivery.active else Outside(name, value)


class Outside:
    """A thing with calls of which each may fail: a service, a store, a function of the test's."""

    __slots__ = ("_name", "_thing")

    def __init__(self, name: str, thing: Any) -> None:
        self._name, self._thing = name, thing

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._thing, name)
        return Outside(f"{self._name}.{name}", value) if callable(value) else value

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Call it; an async one acts when it is awaited."""
        thing = self._thing
        what = (self._name, given, named)
        if inspect.iscoroutinefunction(thing) or inspect.iscoroutinefunction(getattr(thing, "__call__", None)):  # noqa: B004
            return finished(what, thing(*given, **named), connection_lost)
        return bound(what, lambda: thing(*given, **named), connection_lost)
