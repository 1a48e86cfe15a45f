"""Worker: a Python Worker's source, loaded unmodified, with its bindings; its queue handler consumes the emulator's batches."""

from __future__ import annotations

import contextvars
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emulator.engine.targets.invocation import binding_call
from emulator.workers.python.batch import WorkerBatch
from emulator.workers.python.console import Console, Line
from emulator.workers.python.entry import ARGUMENTS, HANDLERS, Entry, call_with, places
from emulator.workers.python.errors import FetchRefused
from emulator.workers.python.importing import Importer
from emulator.workers.python.javascript.http_values import Request, Response, request_of
from emulator.workers.python.stand_ins import stand_ins

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from types import ModuleType

    from emulator.workers.host import Host
    from emulator.workers.python.environment import WorkerEnvironment

_context: contextvars.ContextVar[Any] = contextvars.ContextVar("worker_context", default=None)


class Worker:
    """A loaded Worker: `module`, `env`, `await fetch(request)`, `call(name, …)`.

    `console` holds what it wrote with `console` (level, text), `fetches` the requests that it sent. `responder` answers those:
    a function of a Request that gives a Response, text, bytes, or what becomes JSON, or an awaitable of it; None refuses them.
    """

    def __init__(
        self,
        host: Host,
        main: Path,
        env: WorkerEnvironment,
        *,
        project: Path,
        classes: bool | None,
        waits: bool,
        responder: Any,
    ) -> None:
        self.env, self.responder = env, responder
        self.console: list[Line] = []
        self.fetches: list[Request] = []
        self._host, self._waits, self._warned = host, waits, False
        self._console = Console(self.console)
        modules = stand_ins(
            env=env,
            console=self._console,
            fetch=self._fetch_out,
            wait_until=self._wait_until,
            now_us=host.now_us,
        )
        importer = Importer(_roots(main.parent, project), modules)
        self.module: ModuleType = importer.load_main(main)
        self._entry = Entry(self.module, modules["workers"].WorkerEntrypoint, classes=classes)

    def queue(self, batch: Any, _env: Any = None, ctx: Any = None) -> Any:
        """Handle a batch of the emulator: `emu.attach(worker)` and `emu.consume(queue, worker)` call it."""
        seen = WorkerBatch(batch, self._console.warn)
        ctx = ctx if self._waits else RequestContext(self._host.keep)
        token = _context.set(ctx)
        try:
            found = self._entry.find("queue", self.env, ctx)
            if found is None:
                raise RuntimeError(self._entry.missing("queue"))
            self._warn_of_narrow(found)
            result = call_with(found, (seen,), (self.env, ctx))
        finally:
            _context.reset(token)
        return _within(ctx, result) if inspect.isawaitable(result) else None

    async def fetch(self, request: Any, init: Any = None, /, **options: Any) -> Response:
        """Let the Worker answer a Request, or a URL (or path) with a Request's options. Virtual time passes as it asks.

        Raises what the handler raises, RuntimeError where there is none, TypeError for an answer that is no Response.
        """
        answer = await self._run("fetch", (request_of(request, init, options),))
        if not isinstance(answer, Response):
            message = f"a fetch handler gives a Response, not {type(answer).__name__}"
            raise TypeError(message)
        return answer

    def call(self, name: str, *given: Any, **named: Any) -> Any:
        """Call a handler (`env` and `ctx` are added), a function of the module, or a method of the Worker's class.

        The result is what it returns; of an `async` one, an awaitable that runs on virtual time. Raises AttributeError.
        """
        context = RequestContext(self._host.keep)
        token = _context.set(context)
        try:
            if name in HANDLERS and (found := self._entry.find(name, self.env, context)) is not None:
                result = call_with(found, given, (self.env, context))
            else:
                result = self._named(name, context)(*given, **named)
        finally:
            _context.reset(token)
        return self._host.run(_within(context, result)) if inspect.isawaitable(result) else result

    async def _run(self, name: str, given: tuple[Any, ...]) -> Any:
        if not self._entry.has(name):
            raise RuntimeError(self._entry.missing(name))
        context = RequestContext(self._host.keep)

        async def handle() -> Any:
            _context.set(context)
            found = self._entry.find(name, self.env, context)
            result = call_with(found, given, (self.env, context)) if found is not None else None
            return await result if inspect.isawaitable(result) else result

        return await self._host.run(handle())

    def _warn_of_narrow(self, found: Any) -> None:
        """Say once that a method of fewer than three arguments may fail in the runtime, which passes three."""
        if not self._warned and inspect.ismethod(found) and places(found) < ARGUMENTS:
            self._warned = True
            self._console.warn(
                "the runtime calls queue(batch, env, ctx): "
                "write queue(self, batch, env=None, ctx=None), or every delivery may fail"
            )

    def _named(self, name: str, context: Any) -> Callable[..., Any]:
        found = getattr(self.module, name, None)
        if not callable(found):
            found = self._entry.method(name, self.env, context)
        if found is None:
            message = f"the Worker has no {name!r}: no handler, no function of its module, no method of its class"
            raise AttributeError(message)
        return found

    async def _fetch_out(self, resource: Any, init: Any = None, /, **options: Any) -> Response:
        """The Worker's own `fetch`. Raises FetchRefused without a responder."""
        options.pop("fetcher", None)
        request = Request(resource, init, **options)
        self.fetches.append(request)
        if self.responder is None:
            raise FetchRefused(str(request.method), request.url)
        with binding_call():
            answer = self.responder(request)
        if inspect.isawaitable(answer):
            answer = await answer
        if isinstance(answer, Response):
            answer = answer.clone()
        elif answer is None or isinstance(answer, str | bytes):
            answer = Response(answer)
        else:
            answer = Response.from_json(answer)
        answer.url = request.url
        return answer

    def _wait_until(self, awaitable: Any) -> None:
        context = _context.get()
        if context is None:
            if inspect.iscoroutine(awaitable):
                awaitable.close()
            raise RuntimeError("wait_until() is for handlers: nothing is being handled")
        context.waitUntil(awaitable)

    def __repr__(self) -> str:
        return f"<Worker {Path(self.module.__file__ or '').name}>"


class RequestContext:
    """The `ctx` of a request: `waitUntil(awaitable)` lets it go on after the answer."""

    def __init__(self, keep: Callable[[Awaitable[Any]], None]) -> None:
        self.props: dict[str, Any] = {}
        self.waitUntil = self.wait_until = keep

    def passThroughOnException(self) -> None:  # noqa: N802 - JavaScript's name
        """Nothing: there is no origin behind the emulator."""


async def _within(context: Any, result: Any) -> Any:
    """Await a handler, with its context for `wait_until`."""
    _context.set(context)
    return await result


def _roots(folder: Path, project: Path) -> list[Path]:
    """Where a Worker's own modules are: beside `main`, in `python_modules`, and in the project's folder."""
    return list(dict.fromkeys([folder, folder / "python_modules", project / "python_modules", project]))
