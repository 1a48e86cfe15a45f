"""An httpx transport over the application: tests use the REST API without a socket, and move the emulator's time themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import httpx

from emulator.server.app import create_app
from emulator.server.service import Service

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from emulator.testing.emulator import Emulator


class Transport(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Serves `httpx.Client` and `httpx.AsyncClient` from an emulator; options are those of Service.

    >>> from emulator import Emulator
    >>> client = httpx.Client(transport=Transport(Emulator()), base_url="http://emulator/client/v4/accounts/a")
    >>> client.post("/queues", json={"queue_name": "jobs"}).json()["result"]["queue_name"]
    'jobs'
    """

    def __init__(self, emulator: Emulator, **options: Any) -> None:
        self.service = Service(emulator, **options)
        self._app = create_app(self.service)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request."""
        exchange = _Exchange(request, request.read())
        _run(self._app(exchange.scope, exchange.receive, exchange.send))
        return exchange.response()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Answer a request."""
        exchange = _Exchange(request, await request.aread())
        await self._app(exchange.scope, exchange.receive, exchange.send)
        return exchange.response()


def _run(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine that waits for nothing. It works inside a running event loop, too."""
    try:
        work.send(None)
    except StopIteration:
        return
    work.close()
    raise RuntimeError("this answer takes time (a stream, or a consumer outside): use httpx.AsyncClient")


class _Exchange:
    """A request as ASGI wants it, and what was answered."""

    def __init__(self, request: httpx.Request, body: bytes) -> None:
        url = request.url
        raw_path, _, query = url.raw_path.partition(b"?")
        self._request, self._body = request, body
        self._status, self._headers, self._content = 500, list[tuple[bytes, bytes]](), bytearray()
        self.scope: dict[str, Any] = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": request.method, "scheme": url.scheme,
            "path": unquote(raw_path.decode("ascii")), "raw_path": raw_path, "query_string": query, "root_path": "",
            "headers": [(name.lower(), value) for name, value in request.headers.raw], "server": (url.host, url.port),
            "client": ("127.0.0.1", 0),
        }  # fmt: skip

    async def receive(self) -> dict[str, Any]:
        return {"type": "http.request", "body": self._body, "more_body": False}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self._status, self._headers = message["status"], list(message["headers"])
        else:
            self._content += message.get("body", b"")

    def response(self) -> httpx.Response:
        return httpx.Response(self._status, headers=self._headers, content=bytes(self._content), request=self._request)
