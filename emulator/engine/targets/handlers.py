"""What may be a consumer, and how it is called: a function, a Worker class, an object with `queue()`; one to three arguments.

https://developers.cloudflare.com/queues/configuration/javascript-apis/#consumer and .../workers/languages/python/.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import AsyncGeneratorType, FunctionType, GeneratorType
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

_TAKES = "a handler takes (batch), (batch, env) or (batch, env, ctx)"
_ARGUMENTS_MAX = 3


class NeverRan(TypeError):  # noqa: N818 - what is wrong with it
    """A handler is a generator: calling it made one, and ran nothing of what stands in it."""

    def __init__(self) -> None:
        super().__init__(
            "the handler has a `yield`, so it is a generator, and calling it has run none of it: take the yield out"
        )


def handler_call(handler: Any) -> Call:
    """How to call a handler: a function, a Worker class, or an object with `queue()`, with as many arguments as it takes.

    The call raises NeverRan for a handler that is a generator. Raises TypeError for what can be neither called nor made, and
    for what needs other arguments than a handler gets.
    """
    call: Callable[..., Any]
    if type(handler) is FunctionType and "queue" not in handler.__dict__:
        call, count = handler, _argument_count(handler)
    elif inspect.isclass(handler):
        call, count = _class_call(handler), _ARGUMENTS_MAX
    elif inspect.getattr_static(handler, "queue", None) is not None:  # static: a mock has every attribute that is asked for
        call, count = handler.queue, _argument_count(handler.queue)
    elif callable(handler):
        call, count = handler, _argument_count(handler)
    else:
        kind = type(handler).__name__
        message = f"a consumer is a function, a class or an object with queue(), or the URL of an endpoint, not {kind}"
        raise TypeError(message)

    def checked(batch: MessageBatch, env: Any, ctx: Context) -> Any:
        result = call(batch) if count == 1 else call(*(batch, env, ctx)[:count])
        if result is not None and isinstance(result, GeneratorType | AsyncGeneratorType) and not inspect.isawaitable(result):
            raise NeverRan
        return result

    return checked


def _argument_count(function: Callable[..., Any], *, bound: int = 0) -> int:
    """How many of (batch, env, ctx) a function takes after the `bound` ones. Raises TypeError for what cannot be called so."""
    if not bound and (plain := _plain_count(function)) is not None:
        return plain
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return 1
    kinds = inspect.Parameter
    given = list(signature.parameters.values())
    places = [p for p in given if p.kind in {kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD}][bound:]
    needed = sum(p.default is kinds.empty for p in places)
    named = [p.name for p in given if p.kind is kinds.KEYWORD_ONLY and p.default is kinds.empty]
    takes_all = any(p.kind is kinds.VAR_POSITIONAL for p in given)
    if needed > _ARGUMENTS_MAX or named or not (places or takes_all):
        message = f"{_TAKES}, not {signature}"
        raise TypeError(message)
    return _ARGUMENTS_MAX if takes_all else min(len(places), _ARGUMENTS_MAX)


def _plain_count(function: Any) -> int | None:
    """As `_argument_count`, of a function of one to three arguments and nothing else: most are, and to inspect is slow."""
    if type(function) is not FunctionType or function.__dict__ or function.__defaults__:
        return None
    code = function.__code__
    is_plain = not code.co_kwonlyargcount and not code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    return code.co_argcount if is_plain and 1 <= code.co_argcount <= _ARGUMENTS_MAX else None


def _class_call(kind: type) -> Callable[..., Any]:
    """A Worker class: a new instance for every batch, made with (ctx, env) if it takes them, else given `env` and `ctx`."""
    queue = inspect.getattr_static(kind, "queue", None)
    if queue is None:

        def missing(_batch: MessageBatch, _env: Any, _ctx: Context) -> Any:
            raise RuntimeError(NO_HANDLER_TEXT)

        return missing
    makes = _makes_with_context(kind)
    count = _argument_count(queue, bound=1) if inspect.isfunction(queue) else _argument_count(kind.queue)  # type: ignore[attr-defined]

    def call(batch: MessageBatch, env: Any, ctx: Context) -> Any:
        worker = kind(ctx, env) if makes else kind()
        if not makes:
            worker.env, worker.ctx = env, ctx
        return worker.queue(*(batch, env, ctx)[:count])

    return call


def _makes_with_context(kind: type) -> bool:
    if kind.__init__ is object.__init__:  # type: ignore[misc]
        return False
    try:
        inspect.signature(kind).bind(None, None)
    except TypeError:
        return False
    return True
