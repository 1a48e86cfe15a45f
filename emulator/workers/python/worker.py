"""Worker: a Python Worker's source, loaded unmodified, with its bindings; its queue handler consumes the emulator's batches."""

from __future__ import annotations

import contextvars
import inspect
import types
from contextlib import contextmanager
from http.client import responses
from random import Random
from typing import TYPE_CHECKING, Any

from emulator.engine.allowance import Calls, of_request
from emulator.engine.clock import moment, moment_us
from emulator.engine.targets.awaits import asks, late_call
from emulator.engine.targets.invocation import LOST
from emulator.workers.outgoing import Outgoing, answer_of
from emulator.workers.python.batch import WorkerBatch
from emulator.workers.python.console import Console
from emulator.workers.python.entry import ARGUMENTS, HANDLERS, Entry, call_with, places
from emulator.workers.python.errors import FetchRefused, JsException, hearing, tell
from emulator.workers.python.http_clients import adapters
from emulator.workers.python.importing import Importer
from emulator.workers.python.javascript.convert import options_of
from emulator.workers.python.javascript.http_values import Request, Response, request_of
from emulator.workers.python.javascript.js_events import unless_aborted
from emulator.workers.python.runtime_names import missing
from emulator.workers.python.stand_ins import stand_ins
from emulator.workers.python.surroundings import Surroundings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Iterator
    from contextlib import AbstractContextManager
    from datetime import datetime
    from pathlib import Path
    from types import ModuleType

    from emulator.workers.console import Line
    from emulator.workers.host import Host
    from emulator.workers.python.environment import WorkerEnvironment

_context: contextvars.ContextVar[Any] = contextvars.ContextVar("worker_context", default=None)


class Worker:
    """A loaded Worker: `module`, `env`, `await fetch(request)`, `call(name, …)`.

    `console` holds what it wrote with `console` (level, text), `fetches` the requests that it sent. `responder` answers those:
    a function of an Outgoing that gives what `answer_of` knows, or an awaitable of it; None refuses them.
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
        self.fetches: list[Outgoing] = []
        self._host, self._main, self._waits = host, main, waits
        self._console = Console(self.console)
        self._around, self._said = Surroundings(), set[str]()
        self._draw = Random(main.name)  # noqa: S311 - what a Worker draws is the same in every run
        modules = stand_ins(
            env=env,
            console=self._console,
            fetch=self._fetch_out,
            wait_until=self._wait_until,
            now_us=host.now_us,
            environ=self._around.environ,
            draw=self._draw,
        )
        self._closed = False
        self._importer = Importer(_roots(main.parent, project), modules, adapters(self._fetch_out))
        with self._inside(None):
            self.module: ModuleType = self._importer.load_main(main)
        self._entry = Entry(self.module, modules["workers"].WorkerEntrypoint, classes=classes)

    def queue(self, batch: Any, _env: Any = None, ctx: Any = None) -> Any:
        """Handle a batch of the emulator: `emu.attach(worker)` and `emu.consume(queue, worker)` call it."""
        with self._inside(context := self._context_of(ctx)):
            found = self._entry.find("queue", self.env, context)
            if found is None:
                raise RuntimeError(self._entry.missing("queue"))
            self._warn_of_narrow(found)
            result = call_with(found, (WorkerBatch(batch, raw=not inspect.ismethod(found)),), (self.env, context))
        return self._within(context, result) if inspect.isawaitable(result) else result

    async def fetch(self, request: Any, init: Any = None, /, **options: Any) -> Response:
        """Let the Worker answer a Request, or a URL (or path) with a Request's options. Virtual time passes as it asks.

        Raises what the handler raises, RuntimeError where there is none, TypeError for an answer that is no Response.
        """
        answer = await self._run("fetch", (request_of(request, init, options),))
        if not isinstance(answer, Response):
            message = f"a fetch handler gives a Response, not {type(answer).__name__}"
            raise TypeError(message)
        return answer

    async def scheduled(self, cron: str = "", scheduled_time: datetime | None = None) -> None:
        """Let the Worker do what it does on a cron trigger. Raises what the handler raises, RuntimeError without one."""
        at_us = self._host.now_us() if scheduled_time is None else moment_us(scheduled_time)
        await self._run("scheduled", (ScheduledController(cron, at_us // 1_000),))

    def call(self, name: str, *given: Any, **named: Any) -> Any:
        """Call a handler (`env` and `ctx` are added), a function of the module, or a method of the Worker's class.

        The result is what it returns; of an `async` one, an awaitable that runs on virtual time. Raises AttributeError.
        """
        with self._inside(context := RequestContext(self._host.keep)):
            if name in HANDLERS and (found := self._entry.find(name, self.env, context)) is not None:
                result = call_with(found, given, (self.env, context))
            else:
                result = self._named(name, context)(*given, **named)
        return self._host.run(self._within(context, result)) if inspect.isawaitable(result) else result

    async def _run(self, name: str, given: tuple[Any, ...]) -> Any:
        if not self._entry.has(name):
            raise RuntimeError(self._entry.missing(name))
        context = RequestContext(self._host.keep)

        async def handle() -> Any:
            of_request.set(Calls(self._host.account.calls_max))
            found = self._entry.find(name, self.env, context)
            result = call_with(found, given, (self.env, context)) if found is not None else None
            return await result if inspect.isawaitable(result) else result

        return await self._host.run(self._within(context, handle()))

    def _context_of(self, ctx: Any) -> RequestContext:
        """What a queue handler gets: with the flag, what it leaves to `waitUntil` outlives its batch."""
        return RequestContext(ctx.waitUntil if self._waits and ctx is not None else self._host.keep)

    @contextmanager
    def _inside(self, context: Any) -> Iterator[None]:
        """The Worker's code runs: what it changes stays its own, and what is said of it is heard."""
        if self._closed:
            message = f"{self!r} is closed"
            raise RuntimeError(message)
        tokens = _context.set(context), hearing.set(self._hear)
        try:
            with self._around.entered():
                yield
        finally:
            _context.reset(tokens[0])
            hearing.reset(tokens[1])

    async def _within(self, context: Any, result: Any) -> Any:
        """Await a handler, step by step inside."""
        return await _stepped(result, lambda: self._inside(context))

    def _hear(self, text: str, lacking: bool) -> None:
        """Each text once: to the console, and to the report what the emulator lacks."""
        if text not in self._said:
            self._said.add(text)
            self._console.warn(text)
            if lacking:
                self._host.warn(f"{self!r}: {text}")

    @staticmethod
    def _warn_of_narrow(found: Any) -> None:
        """Say that a method of fewer than three arguments may fail in the runtime, which passes three."""
        if inspect.ismethod(found) and places(found) < ARGUMENTS:
            tell(
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

    @asks
    async def _fetch_out(self, resource: Any, init: Any = None, /, **options: Any) -> Response:
        """The Worker's own `fetch`. Raises FetchRefused without a responder, and what a `signal` was aborted with."""
        options.pop("fetcher", None)
        signal = options_of(init, options).get("signal")
        if signal is not None:
            signal.throwIfAborted()
        request = Request(resource, init, **options)
        at = moment(self._host.now_us())
        sent = Outgoing(str(request.method), request.url, request.headers, request.body or b"", at)
        if self.responder is None:
            self.fetches.append(sent)
            raise FetchRefused(sent.method, sent.url)
        call = late_call((sent.method, sent.url, sent.body), lambda: self._answer(sent), lambda: JsException(LOST))
        answer = await call if signal is None else await unless_aborted(call, signal)
        status, headers, body = answer_of(answer)
        response = Response(body, status, responses.get(status, ""), headers)
        response.url = request.url
        return response

    def _answer(self, sent: Outgoing) -> Any:
        """What the test answers a request with that goes out."""
        self.fetches.append(sent)
        return self.responder(sent)

    def _wait_until(self, awaitable: Any) -> None:
        context = _context.get()
        if context is None:
            if inspect.iscoroutine(awaitable):
                awaitable.close()
            raise RuntimeError("wait_until() is for handlers: nothing is being handled")
        context.waitUntil(awaitable)

    def held(self) -> list[Any]:
        """All that it holds, for whoever wants to know whether two are alike."""
        sent = [(each.method, each.url, sorted(each.headers.items()), each.body, each.at) for each in self.fetches]
        lines, env = [tuple(line) for line in self.console], {name: self.env[name] for name in self.env}
        return [self.module, self.responder, env, lines, sent, sorted(self._said), self._around.own, self._draw]

    def close(self) -> None:
        """Let go of the modules. What is called afterwards raises RuntimeError, and a delivery fails with it."""
        self._closed = True
        self._importer.close()

    def __repr__(self) -> str:
        return f"<Worker {self._main.name}>"


class ScheduledController:
    """What a `scheduled` handler gets: `cron`, `scheduledTime` in milliseconds since 1970, `noRetry()`."""

    type = "scheduled"

    def __init__(self, cron: str, scheduled_ms: int) -> None:
        self.cron, self.scheduledTime = cron, scheduled_ms

    def noRetry(self) -> None:  # noqa: N802 - JavaScript's name
        """Nothing: a cron trigger that fails is not run again."""

    def __getattr__(self, name: str) -> Any:
        raise missing(self, "controller", name)


class RequestContext:
    """`ctx`: `waitUntil(awaitable)` lets it go on after the answer, or keeps the batch open."""

    def __init__(self, keep: Callable[[Awaitable[Any]], None]) -> None:
        self.props: dict[str, Any] = {}
        self.waitUntil = keep

    def passThroughOnException(self) -> None:  # noqa: N802 - JavaScript's name
        """Nothing: there is no origin behind the emulator."""

    def __getattr__(self, name: str) -> Any:
        raise missing(self, "ctx", name)


@types.coroutine
def _stepped(awaitable: Any, around: Callable[[], AbstractContextManager[None]]) -> Generator[Any, Any, Any]:
    """Await something, every step of it in a context."""
    steps, error = awaitable.__await__(), None
    while True:
        with around():
            try:
                waits_for = next(steps) if error is None else steps.throw(error)
            except StopIteration as end:
                return end.value
        try:
            yield waits_for
            error = None
        except BaseException as thrown:  # noqa: BLE001 - whatever it is, the work hears of it
            error = thrown


def _roots(folder: Path, project: Path) -> list[Path]:
    """Where a Worker's own modules are: beside `main`, in `python_modules`, and in the project's folder."""
    return list(dict.fromkeys([folder, folder / "python_modules", project / "python_modules", project]))
