"""Runs the application under uvicorn: bounded requests, time that goes on between them, and an end that finishes what runs."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import signal
import socket
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn

from emulator.server.wire.connections import Connections, connection_limit
from emulator.server.wire.protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulator.server.nodes import Node
    from emulator.server.single import Single

_BACKLOG_MAX = 1_024


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


def run(node: Single | Node, listener: socket.socket, ready: Callable[[], None], *, grace_seconds: float) -> None:
    """Serve in a loop of its own."""
    with asyncio.Runner(loop_factory=_new_loop) as runner:
        runner.run(serve(node, listener, ready, grace_seconds=grace_seconds))


def _new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's, which needs half the time for each turn; asyncio's where there is none, such as on Windows."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


async def serve(node: Single | Node, listener: socket.socket, ready: Callable[[], None], *, grace_seconds: float) -> None:
    """Serve until SIGTERM or SIGINT; then let requests and batches that are out end within `grace_seconds`, and close."""
    options: dict[str, Any] = {
        "ws": "none", "lifespan": "off", "log_config": None, "access_log": False, "server_header": False,
        "proxy_headers": False, "date_header": node.real_time,
    }  # fmt: skip
    connections = Connections(connection_limit())
    config = uvicorn.Config(
        node.app, http=partial(Protocol, prompt=node.prompt, connections=connections),  # type: ignore[arg-type] # makes one
        limit_concurrency=2 * connections.limit, backlog=min(_BACKLOG_MAX, connections.limit),
        timeout_graceful_shutdown=max(1, round(grace_seconds)), **options,
    )  # fmt: skip
    server = _Server(config)

    def stop() -> None:
        server.should_exit = True
        node.stop()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):  # Windows, or not the main thread
            loop.add_signal_handler(number, stop)
    running = loop.create_task(node.run())
    running.add_done_callback(lambda task: None if task.cancelled() or task.exception() is None else stop())
    announced = loop.call_soon(ready)
    try:
        await server.serve(sockets=[listener])
    finally:
        announced.cancel()
        running.cancel()
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await running
        finally:
            await node.finish(grace_seconds)
