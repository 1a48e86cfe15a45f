"""HTTP/1.1 as uvicorn speaks it, with refusals in the envelope, time limits, and a short way for what is answered at once.

A request's head has 10 seconds to arrive and its body 60; a head may have a megabyte before it is refused unread. A small
request whose answer waits for nothing is served where its last byte is read, and answered in one piece: no task, no second
turn of the loop, no second segment. Without this it would cost between a tenth and a quarter more.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from emulator.core.refusals import UnknownInternalError
from emulator.server.wire import answers
from emulator.server.wire.refusals import BadRequest, HeadersTooLarge, TooSlow

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Message
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

    from emulator.core.refusals import Refused
    from emulator.server.wire.connections import Connections

logger = logging.getLogger("emulator.http")

HEAD_SECONDS, BODY_SECONDS = 10.0, 60.0
HEAD_BYTES_MAX = 1_000_000
_PROMPT_BYTES_MAX = 64_000
"""A larger body arrives in pieces, and is read only as far as its sender may send it."""
_VERSIONS = frozenset({"1.0", "1.1"})
_HOP = frozenset({b"connection", b"upgrade", b"http2-settings"})
_IDLE, _HEAD, _BODY = range(3)


class Protocol(HttpToolsProtocol):
    """One of the `connections`. `prompt` tells by method and path whether a request is answered at once."""

    head_seconds, body_seconds = HEAD_SECONDS, BODY_SECONDS

    def __init__(self, *args: Any, prompt: Callable[[str, str], bool], connections: Connections, **options: Any) -> None:
        super().__init__(*args, **options)
        self._prompt, self._connections = prompt, connections
        self._whole: list[bytes] | None = None
        self._running: RequestResponseCycle | None = None
        self._start, self._ends = b"", False
        self._stage, self._since, self._head_bytes = _HEAD, 0.0, 0
        self._over, self._last_word = False, b""
        self._untaken_bytes, self._untaken_since = 0, 0.0

    # --- the connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection: its first request must come soon."""
        super().connection_made(transport)
        self._enter(_HEAD)
        self._timer = self.loop.call_later(self.head_seconds, self._look)
        self._connections.opened(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._timer.cancel()
        self._connections.closed(self)
        if self._running is not None:  # not always the last of those that have come, and only that one is told otherwise
            self._running.disconnected = True
            self._running.message_event.set()
        super().connection_lost(exc)

    def give_way(self) -> None:
        """Too much time has passed, or too many others have come."""
        self._refuse(TooSlow())

    def data_received(self, data: bytes) -> None:
        """Something has arrived. What comes behind the last request is nobody's."""
        if self._over:
            return
        self._unset_keepalive_if_required()
        while data:
            try:
                self.parser.feed_data(data)
                break
            except httptools.HttpParserUpgrade as asked:
                data = self._without_upgrade() + data[asked.args[0] :]
                self.parser = httptools.HttpRequestParser(self)
            except httptools.HttpParserError:
                self._refuse(BadRequest())
                return
        if self._stage != _IDLE:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self._refuse(HeadersTooLarge())

    def shutdown(self) -> None:
        """The server ends: a request that is on its way is still answered."""
        if self._whole is None:
            super().shutdown()
        else:
            self._ends = True

    def _without_upgrade(self) -> bytes:
        """The head again, for a parser that would take what follows for another protocol. A server may stay with this one."""
        kept = [(name, value) for name, value in self.headers if name not in _HOP]
        if any(name == b"connection" and b"close" in value.lower() for name, value in self.headers):
            kept.append((b"connection", b"close"))
        lines = [b"%b: %b\r\n" % pair for pair in kept]
        version = self.parser.get_http_version().encode()
        return b"".join([self.parser.get_method(), b" ", self.url, b" HTTP/", version, b"\r\n", *lines, b"\r\n"])

    # --- the time limits

    def _enter(self, stage: int) -> None:
        self._stage, self._since = stage, self.loop.time()

    def _look(self) -> None:
        """End what has taken too long. One look every few seconds costs less than a timer for each stage of each request."""
        busy = self._unanswered() and bool(self.pipeline or not self.cycle.more_body)
        limit = (self.timeout_keep_alive, self.head_seconds, self.body_seconds)[self._stage]
        rest = self._since + limit - self.loop.time()
        pause = self.head_seconds
        if self._is_stuck():
            self.transport.abort()
            return
        if busy or self.transport.is_closing():
            pass
        elif rest > 0:
            pause = min(rest, pause)
        elif self._stage == _IDLE:
            self.transport.close()
        else:
            self.give_way()
        self._timer = self.loop.call_later(pause, self._look)

    def _is_stuck(self) -> bool:
        """Whether the client has not taken a byte of what waits for it, for as long as a body may take."""
        untaken_bytes, now = self.transport.get_write_buffer_size(), self.loop.time()
        if untaken_bytes != self._untaken_bytes:
            self._untaken_bytes, self._untaken_since = untaken_bytes, now
        return untaken_bytes > 0 and now - self._untaken_since >= self.body_seconds

    def _unanswered(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    # --- what the parser finds

    def on_message_begin(self) -> None:
        """The first byte of a request. Behind the last one of a connection none is taken."""
        if self._over or self.transport.is_closing():
            self._over = True
            raise ConnectionAbortedError
        super().on_message_begin()
        self._enter(_HEAD)
        self._head_bytes = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header. What follows a body in pieces is none."""
        if self._stage == _HEAD:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """A head is complete: whether its request takes the short way is decided here."""
        if self.parser.get_http_version() not in _VERSIONS or self.parser.get_method() == b"CONNECT":
            raise ValueError("nothing that is spoken here")
        if self.parser.should_upgrade():
            return
        self._enter(_BODY)
        if self._is_prompt():
            self._whole = []
        else:
            super().on_headers_complete()

    def _is_prompt(self) -> bool:
        """Whether the request may be served when its last byte is here; then its scope is complete."""
        parser, scope = self.parser, self.scope
        if self._unanswered() or self.flow.write_paused or self.expect_100_continue:
            return False
        if parser.get_http_version() != "1.1" or not parser.should_keep_alive():
            return False
        if self.limit_concurrency is not None and len(self.connections) >= self.limit_concurrency:
            return False
        size = b"0"
        for name, value in self.headers:
            if name == b"content-length":
                size = value
            elif name == b"transfer-encoding":
                return False
        if not size.isdigit() or int(size) > _PROMPT_BYTES_MAX:
            return False
        url = httptools.parse_url(self.url)
        path, method = url.path.decode("ascii"), parser.get_method().decode("ascii")
        path = unquote(path) if "%" in path else path
        if method == "HEAD" or not self._prompt(method, path):
            return False
        scope["method"], scope["path"], scope["raw_path"], scope["query_string"] = method, path, url.path, url.query or b""
        return True

    def on_body(self, body: bytes) -> None:
        """A piece of a body."""
        self._head_bytes = 0
        if self._whole is None:
            super().on_body(body)
        else:
            self._whole.append(body)

    def on_message_complete(self) -> None:
        """The last byte of a request."""
        if self.parser.should_upgrade():
            return
        self._enter(_IDLE)
        self._connections.is_served(self)
        self._over = self.parser.get_http_version() == "1.0" or not self.parser.should_keep_alive()
        if self._whole is None:
            self._over = self.parser.get_http_version() == "1.0" or not self.parser.should_keep_alive()
            super().on_message_complete()
            if not self._unanswered():  # it was answered before its body was here
                self._connections.waits(self)
        else:
            self._answer()
            self._whole = None  # also where the answer did not need the body
            self._connections.waits(self)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._running = cycle
        super()._start_asgi_task(cycle, partial(self._to_the_end, cycle, app))

    async def _to_the_end(self, cycle: RequestResponseCycle, app: Any, *request: Any) -> None:
        try:
            await app(*request)
        except asyncio.CancelledError:  # the server ends, and has waited for as long as it was told
            refused = TooSlow() if cycle.more_body else UnknownInternalError("The server has ended before the request did")
            cycle.disconnected = self._over = True
            self._close_with(b"" if cycle.response_started else _word(refused))

    def on_response_complete(self) -> None:
        """An answer has left; whatever comes next has its time from now on."""
        self._since = self.loop.time()
        if not self.pipeline:
            self._connections.waits(self)
            if self._last_word and not self.transport.is_closing():
                self._close_with(self._last_word)
        super().on_response_complete()

    # --- the short way

    def _answer(self) -> None:
        work = self.app(self.scope, self._receive, self._send)
        try:
            work.send(None)
        except StopIteration:
            return
        except Exception:
            logger.exception("a request failed")
        else:
            logger.error("a request was to be answered at once, and waits")
            work.close()
        self._refuse(UnknownInternalError())

    async def _receive(self) -> Message:
        return {"type": "http.request", "body": b"".join(self._whole or ()), "more_body": False}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = [*self.server_state.default_headers, *message["headers"]]
            lines = [b"%b: %b\r\n" % pair for pair in headers]
            self._start = b"".join([STATUS_LINE[message["status"]], *lines, b"\r\n"])
        else:
            self.transport.write(self._start + message["body"])
            if self._ends:
                self.transport.close()

    # --- refusals

    def _refuse(self, refused: Refused) -> None:
        """Answer what no application gets to see, in its turn, and close."""
        if self._over or self.transport.is_closing():
            return
        self._over = True
        word = _word(refused)
        if self._stage == _BODY and self._whole is None:
            if not self._unanswered():  # nobody waits for the rest of its body
                word = b""
            elif self.pipeline:
                self.pipeline.popleft()
                self._last_word = word
                return
            else:
                word = b"" if self.cycle.response_started else word
                self.cycle.disconnected = True
                self.cycle.message_event.set()
        elif self._unanswered():
            self._last_word = word
            return
        self._close_with(word)

    def _close_with(self, word: bytes) -> None:
        if word:
            self.transport.write(word)
        self.transport.close()


def _word(refused: Refused) -> bytes:
    content = answers.failure(refused)
    head = (
        f"HTTP/1.1 {refused.status} {refused.name}\r\ncontent-type: application/json\r\n"
        f"content-length: {len(content)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + content
