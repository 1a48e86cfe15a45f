"""Worker: a JavaScript or TypeScript Worker's source, run unmodified in workerd; the face for a test."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from emulator.engine.clock import moment_us
from emulator.workers.console import Line, log
from emulator.workers.host import Attachable
from emulator.workers.javascript.target import JavaScriptError, WorkerdTarget
from emulator.workers.python.javascript.http_values import Response, request_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from emulator.engine.delivery import Target
    from emulator.workers.bindings import Environment
    from emulator.workers.host import Host
    from emulator.workers.javascript.invocation import Invocation
    from emulator.workers.javascript.workerd.runtime import Workerd
    from emulator.workers.outgoing import Outgoing

_OK = 200


class Worker(Attachable):
    """A loaded Worker: `env` (its bindings, for the test), `await fetch(request)`, `await scheduled(cron)`.

    `console` holds what it wrote (level, text), with stacks on the lines of its source; `fetches` the requests that it sent.
    `responder` answers those, `fakes` stand in for bindings that are not emulated, `assets` are settings of static files.
    """

    def __init__(
        self,
        host: Host,
        main: Path,
        name: str,
        env: Environment,
        *,
        place: int,
        runtime: Workerd,
        source_map: Callable[[str], str],
        exposes_codes: bool,
        responder: Callable[[Outgoing], Any] | None,
        fakes: Mapping[str, Any],
        assets: Mapping[str, Any],
        guarded: str = "",
    ) -> None:
        self.assets, self._guarded = assets, guarded
        self.env, self.responder, self.fakes, self.exposes_codes = env, responder, dict(fakes), exposes_codes
        self.name = name
        self.console: list[Line] = []
        self.fetches: list[Outgoing] = []
        self._host, self._main, self._place, self._runtime, self._mapped = host, main, place, runtime, source_map
        self._closed = False

    def target(self) -> Target:
        """Where its batches go."""
        return WorkerdTarget(self._runtime, self._place, self._mapped, self._guarded)

    async def fetch(self, request: Any, init: Any = None, /, **options: Any) -> Response:
        """Let the Worker answer a Request, or a URL (or path) with a Request's options. Virtual time passes as it asks.

        Raises JavaScriptError for what the handler throws.
        """
        asked = request_of(request, init, options)
        headers = tuple((str(name), str(value)) for name, value in asked.headers.items())
        if any(name.lower() == "upgrade" for name, _ in headers):
            raise JavaScriptError("WebSockets to a Worker are not emulated")
        content = (str(asked.method), headers, bytes(asked.body or b""))
        ended = await self._ended(lambda on_end: self._runtime.fetch(self._place, asked.url, content, on_end))
        how = ended.ended
        assert how is not None, "it has ended"
        if how.outcome or any(name.lower() == "x-cfq-thrown" for name, _ in how.headers):
            text = "\n".join(ended.failures) or how.outcome or how.body.decode("utf-8", "replace")
            raise JavaScriptError(self._mapped(text))
        return Response(how.body, how.status, "", [(name, value) for name, value in how.headers if name.lower() not in _HOP])

    async def scheduled(self, cron: str = "", scheduled_time: datetime | str | None = None) -> None:
        """Let the Worker do what it does on a cron trigger. Raises JavaScriptError for what the handler throws."""
        at_ms = (self._host.now_us() if scheduled_time is None else moment_us(scheduled_time)) // 1_000
        given = {"cron": cron, "scheduledTime": at_ms}
        ended = await self._ended(lambda on_end: self._runtime.begin(self._place, "scheduled", given, on_end))
        how = ended.ended
        assert how is not None, "it has ended"
        if how.outcome or ended.failures or how.status != _OK:
            text = "\n".join(ended.failures) or how.outcome or how.body.decode("utf-8", "replace")
            raise JavaScriptError(self._mapped(text))

    async def _ended(self, begin: Callable[[Callable[[Invocation], None]], Invocation]) -> Invocation:
        if self._closed:
            message = f"{self!r} is closed"
            raise RuntimeError(message)

        async def promised() -> Invocation:
            loop = asyncio.get_running_loop()
            future: asyncio.Future[Invocation] = loop.create_future()

            def end(invocation: Invocation) -> None:
                if not future.done():
                    future.set_result(invocation)
                    loop.call_at(0, lambda: None)  # a timer that is due, so that whoever moves time comes back here

            begin(end)
            return await future

        found: Invocation = await self._host.run(promised())
        return found

    def hear(self, level: str, text: str) -> None:
        """A line of its console."""
        line = Line(level, self._mapped(text))
        self.console.append(line)
        log(line)

    def close(self) -> None:
        """Take no more requests. Its process goes with the emulator."""
        self._closed = True

    def __repr__(self) -> str:
        return f"<Worker {self._main.name}>"


_HOP = frozenset({"transfer-encoding", "connection", "content-length"})
