"""A proxy between a consumer behind a URL and what it acts on: each request is recorded, and may fail or lose its answer.

The consumer is told to call `proxy.url`; the setup of the world says `proxy.begin(emu)`.
"""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

from emulator.workers.outgoing import Outgoing, answer_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.engine.delivery import Delivery
    from emulator.testing.emulator import Emulator

_UNAVAILABLE = 503


class RecordingProxy:
    """Listens on `url`, on this machine alone. `answer(outgoing)` gives what `fetch=` of a Worker gives.

    `requests` are those that acted since `begin`.
    """

    def __init__(self, answer: Callable[[Outgoing], Any]) -> None:
        self._answer = answer
        self.requests: list[Outgoing] = []
        self._emulator: Emulator | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self._handled))
        self._thread = threading.Thread(target=self._server.serve_forever, name="recording-proxy", daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def begin(self, emulator: Emulator) -> None:
        """What comes from now on comes from the consumers of this emulator. Nothing has been recorded."""
        self._emulator = emulator
        self.requests = []

    def _handled(self, method: str, path: str, headers: Any, body: bytes) -> tuple[int, list[tuple[str, str]], bytes] | None:
        """The answer; None where it gets lost."""
        emulator, delivery = self._emulator, self._delivery()
        if emulator is None:
            return _UNAVAILABLE, [], b"no emulator has begun"
        what = (method, f"{self.url}{path}", body)
        if delivery is not None and delivery.choose(2, "failed_calls", what):
            return _UNAVAILABLE, [], b"a fault"
        sent = Outgoing(method, f"{self.url}{path}", headers, body, emulator.now)
        self.requests.append(sent)
        told = answer_of(self._answer(sent))
        if delivery is not None and delivery.active:
            emulator.account.chance.heard(delivery, what)
            if delivery.choose(2, "lost_answers", what):
                return None
        content = told.body if isinstance(told.body, bytes) else (told.body or "").encode()
        return told.status, told.headers, content

    def _delivery(self) -> Delivery | None:
        """The batch that is out: the latest, where there are several."""
        out = [] if self._emulator is None else list(self._emulator.timeline.deliveries.out.values())
        return out[-1] if out else None


def _handler(handled: Callable[[str, str, Any, bytes], tuple[int, list[tuple[str, str]], bytes] | None]) -> type[Any]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            found = handled(self.command, self.path, self.headers, body)
            if found is None:
                self.close_connection = True
                return
            status, headers, content = found
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = answer  # noqa: N815 - as the base class calls them

        def log_message(self, *_: object) -> None:
            """Nothing is said of it."""

    return Handler
