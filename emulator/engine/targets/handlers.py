"""What may be a consumer, and how it is called: a function, a Worker class, an object with `queue()`; one to three arguments.

https://developers.cloudflare.com/queues/configuration/javascript-apis/#consumer and .../workers/languages/python/.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from emulator.engine.targets.batch import MessageBatch

if TYPE_CHECKING:
    from collections.abc import Awaitable


NO_HANDLER_TEXT = "Handler does not export a queue() function."


class Context:
    """The third argument of a handler: `waitUntil(awaitable)` keeps the invocation open until the awaitable is done."""

    __slots__ = ("_wait",)

    def __init__(self, wait: Callable[[Awaitable[Any]], None]) -> None:
        self._wait = wait

    def wait_until(self, awaitable: Awaitable[Any]) -> None:
        """Let the batch end only when the awaitable has; if it fails, the batch has failed."""
        self._wait(awaitable)

    waitUntil = wait_until  # noqa: N815 - JavaScript's name

    def pass_through_on_exception(self) -> None:
        """Nothing, for a queue."""

    passThroughOnException = pass_through_on_exception  # noqa: N815 - JavaScript's name


Call = Callable[[MessageBatch, Any, Context], Any]


def handler_call(handler: Any) -> Call:
    """How to call a handler: a function, a Worker class, or an object with `queue()`, with as many arguments as it takes.

    Raises TypeError for what can be neither called nor made.
    """
    if inspect.isclass(handler):
        return _class_call(handler)
    if inspect.getattr_static(handler, "queue", None) is not None:  # static: a mock has every attribute that is asked for
        return _taking(handler.queue)
    if callable(handler):
        return _taking(handler)
    message = f"a consumer is a function, a class with queue(), or an object with queue(), not {type(handler).__name__}"
    raise TypeError(message)


def _taking(function: Callable[..., Any]) -> Call:
    count = _argument_count(function)
    if count == 1:
        return lambda batch, _env, _ctx: function(batch)
    if count == 2:  # noqa: PLR2004 - batch and env
        return lambda batch, env, _ctx: function(batch, env)
    return function


def _argument_count(function: Callable[..., Any]) -> int:
    """How many of (batch, env, ctx) a function takes."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return 3
    places = [p for p in parameters if p.kind in {p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD}]
    if not places:
        message = f"a handler takes (batch), (batch, env) or (batch, env, ctx), and {function!r} takes nothing"
        raise TypeError(message)
    return min(len(places), 3)


def _class_call(kind: type) -> Call:
    """A Worker class: a new instance for every batch, made with (ctx, env) if it takes them, else given `env` and `ctx`."""
    queue = getattr(kind, "queue", None)
    if queue is None:

        def missing(_batch: MessageBatch, _env: Any, _ctx: Context) -> Any:
            raise RuntimeError(NO_HANDLER_TEXT)

        return missing
    makes = _makes_with_context(kind)

    def call(batch: MessageBatch, env: Any, ctx: Context) -> Any:
        worker = kind(ctx, env) if makes else kind()
        if not makes:
            worker.env, worker.ctx = env, ctx
        return _taking(worker.queue)(batch, env, ctx)

    return call


def _makes_with_context(kind: type) -> bool:
    if kind.__init__ is object.__init__:  # type: ignore[misc]
        return False
    try:
        inspect.signature(kind).bind(None, None)
    except TypeError:
        return False
    return True
