"""A server on loopback that answers as a test says, notes everything that it was asked, and a clock that nobody waits for."""

from __future__ import annotations

import datetime as dt
import json
import socket
import ssl
import threading
from base64 import b64encode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self
from urllib.parse import parse_qs, quote, urlsplit

from cfq_lint.account.pace import Clock

TOKEN = "Zx9-Qp_7TokenThatNobodyMaySee0123456789A"
KEY, EMAIL = "c2547eb745079dac9320b638f5e225cf483cc5cfdda41", "ops@example.com"
ACCOUNT = "0123456789abcdef0123456789abcdef"
DATE = "Thu, 01 Jan 2026 00:00:00 GMT"
"""What the server's clock says."""


class Request:
    """What was asked: method, path, query and headers."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        self.method, self.path, self.headers = handler.command, parts.path, handler.headers
        self.query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
        self.body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))

    @property
    def page(self) -> int:
        return int(self.query.get("page", 1))

    @property
    def lists_queues(self) -> bool:
        return self.path.endswith("/queues")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def handle_one_request(self) -> None:
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def __getattr__(self, name):
        if name.startswith("do_"):
            return self.act
        raise AttributeError(name)

    def act(self) -> None:
        request = Request(self)
        self.server.seen.append(request)
        self.server.script(self, request)

    def date_time_string(self, timestamp=None) -> str:  # noqa: ARG002
        return DATE

    def log_message(self, *_: object) -> None:
        pass

    # --- what scripts say

    def json(self, body, status=200, **headers) -> None:
        self.text(json.dumps(body).encode(), status, "application/json", **headers)

    def text(self, body: bytes, status=200, kind="text/html", reason=None, **headers) -> None:
        self.send_response(status, reason)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def raw(self, data: bytes) -> None:
        """Bytes as they are, and the end of the connection."""
        self.wfile.write(data)
        self.wfile.flush()
        self.connection.shutdown(socket.SHUT_RDWR)
        self.close_connection = True

    def drip(self, data: bytes) -> None:
        """A byte now and then, as long as somebody listens."""
        for at in range(len(data)):
            if self.server.stopped.wait(0.05):
                return
            self.wfile.write(data[at : at + 1])
            self.wfile.flush()

    def silence(self) -> None:
        """Nothing, until the test is over."""
        self.server.stopped.wait(30)


class Server(ThreadingHTTPServer):
    """Serves a script, `script(handler, request)`; over TLS with a certificate and its key."""

    daemon_threads = True

    def __init__(self, script, certificate=None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.seen, self.stopped = script, [], threading.Event()
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
            self.scheme = "https"

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.server_port}/client/v4"

    def handle_error(self, *_: object) -> None:
        pass

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.shutdown()
        self.server_close()


class FakeClock(Clock):
    """Sleeping is free; the time that was slept through is added up."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.seconds = 0.0

    def now(self) -> dt.datetime:
        return dt.datetime(2026, 1, 1, tzinfo=dt.UTC) + dt.timedelta(seconds=self.seconds)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.seconds += seconds


# --- answers


def envelope(result, info=None, **more):
    """A good answer."""
    body = {"success": True, "errors": [], "messages": [], "result": result, **more}
    return body if info is None else body | {"result_info": info}


def refusal(code, message):
    """A bad one."""
    return {"success": False, "errors": [{"code": code, "message": message}], "messages": [], "result": None}


def queue(name, consumers=(), **more):
    """A queue as the API lists it."""
    return {
        "queue_id": f"{name.encode().hex():0<32}"[:32], "queue_name": name,
        "created_on": "2026-01-01T00:00:00Z", "modified_on": "2026-01-01T00:00:00Z",
        "settings": {"delivery_delay": 0, "delivery_paused": False, "message_retention_period": 345_600},
        "producers": [], "producers_total_count": 0, "consumers": [*consumers], "consumers_total_count": len(consumers), **more,
    }  # fmt: skip


DATA_SETS = ("queueMessageOperationsAdaptiveGroups", "queueBacklogAdaptiveGroups", "queueConsumerMetricsAdaptiveGroups", "workersInvocationsAdaptive")


def measured(**rows):
    """An answer to a query: rows by their data set; of the others there are none."""
    return {"data": {"viewer": {"accounts": [{name: [] for name in DATA_SETS} | rows]}}, "errors": None}


def account(*queues):
    """A script: an account with these queues, and nothing in them."""

    def script(handler, request):
        if request.path.endswith("/graphql"):
            handler.json(measured())
        elif request.lists_queues:
            size = int(request.query.get("per_page", 20))
            rows = queues[(request.page - 1) * size : request.page * size]
            info = {"page": request.page, "per_page": size, "count": len(rows), "total_count": len(queues), "total_pages": -(-len(queues) // size)}
            handler.json(envelope(rows, info))
        else:
            handler.json(envelope({"backlog_count": 0, "backlog_bytes": 0, "oldest_message_timestamp_ms": 0}))

    return script


# --- the token


def spellings(token=TOKEN):
    """Ways to write the token that a search through everything that was said would find."""
    ways = {token, quote(token, safe=""), token.encode().hex()}
    for around in (b"", b"x", b"xy"):
        for text in (token, f"Bearer {token}"):
            whole = b64encode(around + text.encode()).decode()
            ways.add(whole[8:-8])
    return {way.casefold() for way in ways}


def assert_silent(*texts, token=TOKEN):
    """The token stands in none of these texts, however it is spelt."""
    for text in texts:
        said = text.decode("utf-8", "replace") if isinstance(text, bytes) else text
        for way in spellings(token):
            assert way not in said.casefold(), f"the token as {way} in: {said[:2_000]}"
