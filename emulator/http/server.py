"""Runs the application under uvicorn: bounded requests, time that goes on between them, and an end that finishes what runs.

A request's head has 10 seconds to arrive and its body 60; a head may have a megabyte before it is refused unread.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from emulator.http import answers
from emulator.http.app import create_app
from emulator.http.crowd import CONNECTIONS_MAX, Crowd, room
from emulator.http.refusals import BadRequest, HeadersTooLarge, TooSlow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulator.core.refusals import Refused
    from emulator.http.service import Service

HEAD_SECONDS, BODY_SECONDS = 10.0, 60.0
HEAD_BYTES_MAX = 1_000_000
_BACKLOG_MAX = 1_024
_IDLE, _HEAD, _BODY, _BUSY = range(4)


class Protocol(H11Protocol):
    """HTTP/1.1 that refuses in the API's envelope, and does not wait for ever."""

    head_seconds, body_seconds = HEAD_SECONDS, BODY_SECONDS
    crowd = Crowd(CONNECTIONS_MAX)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A connection: its first request must come soon."""
        super().connection_made(transport)
        self._stage, self._timer = _HEAD, self.loop.call_later(self.head_seconds, self.send_away)
        self.crowd.comes(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is gone."""
        self._timer.cancel()
        self.crowd.leaves(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Something has arrived."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """An answer has left; what follows it may have arrived already."""
        super().on_response_complete()
        self._look()

    def _look(self) -> None:
        """Start a new time limit when a request enters another stage."""
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete:
            stage = _BODY if cycle.more_body else _BUSY
        else:
            stage = _HEAD if self.conn.trailing_data[0] else _IDLE
        if stage != self._stage:
            self._timer.cancel()
            self._stage = stage
            if stage in {_HEAD, _BODY} and not self.transport.is_closing():
                seconds = self.head_seconds if stage == _HEAD else self.body_seconds
                self._timer = self.loop.call_later(seconds, self.send_away)
            (self.crowd.ends if stage == _BUSY else self.crowd.begins)(self)

    def send_away(self) -> None:
        """Too much time has passed, or too many others have come."""
        if not self.transport.is_closing():
            self._refuse(TooSlow())

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP, or has too large a head."""
        del msg
        error = sys.exception()
        too_large = isinstance(error, h11.RemoteProtocolError) and error.error_status_hint == HeadersTooLarge.status
        self._refuse(HeadersTooLarge() if too_large else BadRequest())

    def _refuse(self, refused: Refused) -> None:
        cycle = self.cycle
        started = cycle is not None and not cycle.response_complete and cycle.response_started
        if cycle is not None and not cycle.response_complete:
            cycle.disconnected = True
            cycle.message_event.set()
        if not started:
            content = answers.failure(refused)
            head = (
                f"HTTP/1.1 {refused.status} {refused.name}\r\ncontent-type: application/json\r\n"
                f"content-length: {len(content)}\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + content)
        self.transport.close()


class _Server(uvicorn.Server):
    """Leaves signals to us, so that an end on request is an end without error."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Signals are handled by `serve`."""
        yield


def is_loopback(host: str) -> bool:
    """Whether only this computer reaches that host. Raises OSError for a name that nobody knows."""
    addresses = {str(info[4][0]) for info in socket.getaddrinfo(host, None)}
    return all(ipaddress.ip_address(address.partition("%")[0]).is_loopback for address in addresses)


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. Raises OSError."""
    family = socket.getaddrinfo(host, port)[0][0]
    # Said to be TCP, so that asyncio switches Nagle's algorithm off for its connections: else an answer waits 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG_MAX)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


async def serve(service: Service, listener: socket.socket, ready: Callable[[], None], *, grace_seconds: float) -> None:
    """Serve until SIGTERM or SIGINT; then let requests and batches that are out end within `grace_seconds`, and close."""
    Protocol.crowd = Crowd(room())
    options: dict[str, Any] = {"ws": "none", "lifespan": "off", "log_config": None, "access_log": False, "server_header": False}
    config = uvicorn.Config(
        create_app(service, listens=True), http=Protocol, h11_max_incomplete_event_size=HEAD_BYTES_MAX,
        limit_concurrency=2 * Protocol.crowd.most, backlog=min(_BACKLOG_MAX, Protocol.crowd.most),
        timeout_graceful_shutdown=max(1, round(grace_seconds)), **options,
    )  # fmt: skip
    server = _Server(config)

    def stop() -> None:
        server.should_exit = service.stopping = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # Windows, or not the main thread
            loop.add_signal_handler(number, stop)
    pump = loop.create_task(service.engine.pump())
    announced = loop.call_soon(ready)
    try:
        await server.serve(sockets=[listener])
    finally:
        announced.cancel()
        service.engine.stop()
        pump.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await pump
        await service.engine.finish(grace_seconds)
        for each in {id(each): each for each in service.engine.outside.values()}.values():
            await each.close()
        service.close()
