"""Which handler of a Worker's module answers: a method of its class, or a function `on_…`, and with how many arguments.

Since compatibility date 2025-08-14 (`python_no_global_handlers`) handlers are methods of the class `Default`; before that, and
with `disable_python_no_global_handlers`, module-level functions: https://developers.cloudflare.com/workers/configuration/
compatibility-flags/ (Disable global handlers for Python Workers). The documented `queue(self, batch)` works here, as do two
and three arguments of any name.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from emulator.engine.targets.handlers import NO_HANDLER_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

HANDLERS = frozenset({"fetch", "queue", "scheduled", "tail", "email", "trace", "alarm"})
"""What the runtime calls, and what therefore gets `env` and `ctx` besides."""


ARGUMENTS = 3
"""batch (or request, or controller), env and ctx."""


class Entry:
    """The handlers of a module. `classes` is True where only classes count, False where functions come first, None for both.

    `base` is the WorkerEntrypoint that the module imported.
    """

    def __init__(self, module: ModuleType, base: type, *, classes: bool | None) -> None:
        self._module, self._base, self._classes = module, base, classes

    def find(self, name: str, env: Any, ctx: Any) -> Callable[..., Any] | None:
        """The handler of that name, bound to an instance of its class where it has one; None where there is none.

        Raises TypeError for a module of several classes none of which is `Default`.
        """
        function: Callable[..., Any] | None = getattr(self._module, f"on_{name}", None)
        if self._classes is False and callable(function):
            return function
        method = self.method(name, env, ctx)
        if method is not None:
            return method
        return function if self._classes is not True and callable(function) else None

    def has(self, name: str) -> bool:
        """Whether there is a handler of that name."""
        kind = self.entrypoint(name)
        function = callable(getattr(self._module, f"on_{name}", None))
        return (function and self._classes is not True) or callable(getattr(kind, name, None))

    def method(self, name: str, env: Any, ctx: Any) -> Callable[..., Any] | None:
        """Any method of the Worker's class, bound to a new instance; None where there is none."""
        kind = self.entrypoint(name)
        if kind is None or not callable(getattr(kind, name, None)):
            return None
        method: Callable[..., Any] = getattr(self._instance(kind, env, ctx), name)
        return method

    def missing(self, name: str) -> str:
        """Why there is no such handler."""
        text = NO_HANDLER_TEXT.replace("queue()", f"{name}()")
        if self._classes and hasattr(self._module, f"on_{name}"):
            return (
                f"{text} The module has on_{name}(), which counts only before compatibility date 2025-08-14 or with the flag "
                f"disable_python_no_global_handlers: make it {name}(self, …) of a class Default(WorkerEntrypoint)."
            )
        return text

    def entrypoint(self, name: str = "") -> type | None:
        """The class `Default`; else the module's only class of the base, or the only one of them with that method."""
        default = getattr(self._module, "Default", None)
        if isinstance(default, type):
            return default
        own = [
            each for each in vars(self._module).values()
            if isinstance(each, type) and issubclass(each, self._base) and each is not self._base
        ]  # fmt: skip
        bases = {above for each in own for above in each.__mro__[1:]}
        leaves = [each for each in dict.fromkeys(own) if each not in bases]
        having = [each for each in leaves if hasattr(each, name)]
        if len(leaves) > 1 and len(having) != 1:
            names = ", ".join(each.__name__ for each in leaves)
            message = f"which class of the module is the Worker? None of {names} is named Default"
            raise TypeError(message)
        return (having if len(leaves) > 1 else leaves or [None])[0]  # type: ignore[list-item]

    def _instance(self, kind: type, env: Any, ctx: Any) -> Any:
        """A new instance: made with (ctx, env), as the base does it; a class without the base is given both."""
        if issubclass(kind, self._base) or takes(kind, 2):
            return kind(ctx, env)
        instance: Any = kind()
        instance.env, instance.ctx = env, ctx
        return instance


def takes(kind: type, count: int) -> bool:
    """Whether a class can be made with so many arguments."""
    if kind.__init__ is object.__init__:  # type: ignore[misc]
        return False
    try:
        inspect.signature(kind).bind(*[None] * count)
    except (TypeError, ValueError):
        return False
    return True


def places(function: Callable[..., Any]) -> int:
    """How many arguments a function takes by position; as many as a handler may get where that is open or unknown."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ARGUMENTS
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return ARGUMENTS
    return sum(parameter.kind in {parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD} for parameter in parameters)


def call_with(function: Callable[..., Any], given: tuple[Any, ...], more: tuple[Any, ...] = ()) -> Any:
    """Call a handler with what is given, and with as much of `more` as it takes."""
    return function(*given, *more[: max(0, places(function) - len(given))])
