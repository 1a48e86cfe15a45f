"""`asgi.fetch(app, request, env)`: an ASGI application (FastAPI, Starlette) answers a request, with its lifespan around it.

https://asgi.readthedocs.io/en/latest/specs/www.html. Answers are gathered whole; WebSockets are not emulated.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from emulator.workers.python.javascript.http_values import Request, Response

if TYPE_CHECKING:
    from collections.abc import Callable, MutableMapping

_ASGI = {"version": "3.0", "spec_version": "2.0"}


async def fetch(app: Callable[..., Any], request: Request, env: Any = None, _ctx: Any = None) -> Response:
    """Let an application answer. Raises what it raises, and RuntimeError when it does not answer or fails to start."""
    lifespan = _Lifespan(app)
    state = await lifespan.start()
    try:
        return await _answer(app, request, env, state)
    finally:
        await lifespan.stop()


async def _answer(app: Callable[..., Any], request: Request, env: Any, state: dict[str, Any]) -> Response:
    content = await request.bytes()
    received = [{"type": "http.request", "body": content, "more_body": False}]
    sent: dict[str, Any] = {"status": None, "headers": [], "body": b"", "done": asyncio.Event()}

    async def receive() -> dict[str, Any]:
        if received:
            return received.pop()
        await sent["done"].wait()
        return {"type": "http.disconnect"}

    async def send(event: MutableMapping[str, Any]) -> None:
        if event["type"] == "http.response.start":
            sent["status"] = event["status"]
            sent["headers"] = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.get("headers", ())]
        elif event["type"] == "http.response.body":
            sent["body"] += event.get("body", b"")
            if not event.get("more_body", False):
                sent["done"].set()

    await app(_scope(request, env, state), receive, send)
    if sent["status"] is None:
        raise RuntimeError("The application did not generate a response")
    return Response(sent["body"] or None, sent["status"], "", sent["headers"])


def _scope(request: Request, env: Any, state: dict[str, Any]) -> dict[str, Any]:
    parts = urlsplit(request.url)
    path = parts.path or "/"
    return {
        "type": "http",
        "asgi": _ASGI,
        "http_version": "1.1",
        "method": str(request.method),
        "scheme": parts.scheme,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in _headers(request, parts.netloc)],
        "server": (parts.hostname, parts.port or (443 if parts.scheme == "https" else 80)),
        "client": None,
        "env": env,
        "state": dict(state),
    }


def _headers(request: Request, host: str) -> list[tuple[str, str]]:
    rows = request.headers.items()
    return rows if request.headers.has("host") else [("host", host), *rows]


class _Lifespan:
    """Start-up and shutdown of an application. One that knows no lifespan is served without it."""

    def __init__(self, app: Callable[..., Any]) -> None:
        self._app = app
        self._said: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._asked: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._state: dict[str, Any] = {}
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> dict[str, Any]:
        """Ask the application to start; gives the state that it keeps."""
        self._task = asyncio.create_task(self._run())
        self._asked.put_nowait({"type": "lifespan.startup"})
        answer = await self._said.get()
        if answer["type"] == "lifespan.startup.failed":
            raise RuntimeError(answer.get("message") or "ASGI lifespan startup failed")
        return self._state

    async def stop(self) -> None:
        """Ask it to stop, if it still runs."""
        if self._task is not None and not self._task.done():
            self._asked.put_nowait({"type": "lifespan.shutdown"})
            await self._task

    async def _run(self) -> None:
        try:
            scope = {"type": "lifespan", "asgi": _ASGI, "state": self._state}
            await self._app(scope, self._asked.get, self._said.put)
        except Exception:  # noqa: BLE001 - by the standard: it does not support lifespan
            self._said.put_nowait({"type": "unsupported"})
        else:
            self._said.put_nowait({"type": "over"})
