"""HTTP/1.1 on the wire: whichever way a request takes through the server, it is answered alike, once, and in its turn."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import time

import pytest

from emulator.server.wire.routes import Routes
from tests.emulator.server.servers import Server, pull_queue


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server("--control", folder=tmp_path_factory.mktemp("server")) as running:
        yield running
        assert "Traceback" not in running.log.read_text()


@pytest.fixture
def path(server):
    with server.client() as client:
        client.post(f"{server.url}/emulator/reset")
        return f"/client/v4/accounts/a/queues/{pull_queue(client, 'jobs')}"


class Wire:
    """One connection: what is said as it is, and answers one by one."""

    def __init__(self, server):
        self.socket = socket.create_connection(("127.0.0.1", server.port), 20)
        self.got = b""

    def say(self, data):
        self.socket.sendall(data)

    def line(self):
        while b"\r\n" not in self.got:
            assert self._more(), "the connection has ended"
        line, _, self.got = self.got.partition(b"\r\n")
        return line.decode()

    def answer(self):
        """The status, the headers and the JSON of the next answer."""
        status, headers = int(self.line().split()[1]), {}
        while line := self.line():
            name, _, value = line.partition(": ")
            headers[name.lower()] = value
        size = int(headers.get("content-length", 0))
        while len(self.got) < size:
            assert self._more(), "the connection has ended"
        body, self.got = self.got[:size], self.got[size:]
        return status, headers, json.loads(body) if body else None

    def ended(self):
        return not self.got and not self._more()

    def _more(self):
        chunk = self.socket.recv(65_536)
        self.got += chunk
        return chunk


@pytest.fixture
def wire(server):
    found = Wire(server)
    yield found
    found.socket.close()


def request(path, body=None, *, method="POST", version="1.1", **headers):
    """A request as bytes."""
    fields = {"host": "a", **({} if body is None else {"content-length": len(body)}), **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in fields.items())
    return f"{method} {path} HTTP/{version}\r\n{lines}\r\n".encode() + (body or b"")


def count(server, path):
    with server.client() as client:
        return client.get(f"{server.url}{path}/metrics").json()["result"]["backlog_count"]


PUSH = b'{"body": {"id": 1}}'


def test_requests_sent_at_once_are_answered_in_turn(server, path, wire):
    pushes = request(f"{path}/messages", PUSH) * 3
    health, pull = request("/health", method="GET"), request(f"{path}/messages/pull", b"{}")
    wire.say(pushes + health + pull + health + request(f"{path}/nothing", b"{}") + pushes)
    answers = [wire.answer() for _ in range(10)]
    assert [status for status, _, _ in answers] == [200] * 6 + [404] + [200] * 3
    assert [body["result"]["metadata"]["metrics"]["backlog_count"] for _, _, body in answers[:3]] == [1, 2, 3]
    assert answers[3][2]["status"] == answers[5][2]["status"] == "ok"
    assert len(answers[4][2]["result"]["messages"]) == 3
    assert count(server, path) == 6


def test_a_request_that_comes_byte_by_byte_is_one(server, path, wire):
    for byte in request(f"{path}/messages", PUSH) * 2:
        wire.say(bytes([byte]))
    assert [wire.answer()[0], wire.answer()[0]] == [200, 200]
    assert count(server, path) == 2


def test_bodies_in_chunks_large_ones_and_expected_ones_are_taken(server, path, wire):
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(PUSH[at : at + 5]), PUSH[at : at + 5]) for at in range(0, len(PUSH), 5))
    wire.say(request(f"{path}/messages", transfer_encoding="chunked") + chunks + b"0\r\nx-trailer: 1\r\n\r\n")
    assert wire.answer()[0] == 200
    rows = json.dumps({"messages": [{"body": "x" * 2_000}] * 100}).encode()
    wire.say(request(f"{path}/messages/batch", rows))
    assert wire.answer()[0] == 200
    wire.say(request(f"{path}/messages", expect="100-continue", content_length=len(PUSH)))
    assert wire.line() == "HTTP/1.1 100 Continue"
    assert not wire.line()
    wire.say(PUSH)
    assert wire.answer()[0] == 200
    assert count(server, path) == 102


@pytest.mark.parametrize("version, headers, ends", [("1.1", {"connection": "close"}, True), ("1.0", {}, True), ("1.1", {}, False)])
def test_a_connection_ends_as_its_client_says(path, wire, version, headers, ends):
    wire.say(request(f"{path}/messages", PUSH, version=version, **headers))
    status, _, body = wire.answer()
    assert (status, body["success"]) == (200, True)
    if ends:
        assert wire.ended()
    else:
        wire.say(request("/health", method="GET"))
        assert wire.answer()[0] == 200


def test_any_two_requests_on_one_connection_are_answered_once_each(server, path):
    """Also where an answer does not wait for the body, and the body comes behind it."""
    body = b'{"batch_size": 1}'
    kinds = {
        "taken": ("POST", "/messages/pull", "", 200),
        "refused unread": ("POST", "/messages/pull", "Origin: http://elsewhere.example\r\n", 403),
        "wrong method": ("DELETE", "/messages/pull", "", 405),
        "nothing there": ("POST", "/nothing", "", 404),
        "with a body nobody needs": ("GET", "/metrics", "", 200),
    }
    for first, one in kinds.items():
        for second, other in kinds.items():
            wire = Wire(server)
            for method, below, header, status in (one, other):
                head = f"{method} {path}{below} HTTP/1.1\r\nHost: localhost\r\n{header}Content-Length: {len(body)}\r\n\r\n"
                wire.say(head.encode())
                if status in {404, 405}:
                    assert wire.answer()[0] == status, (first, second)
                    wire.say(body)
                else:
                    wire.say(body)
                    assert wire.answer()[0] == status, (first, second)
            wire.say(b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            assert (wire.answer()[0], wire.ended()) == (200, True), (first, second)
            wire.socket.close()


def test_an_answer_to_head_has_no_body(server, path):
    paths = ("/health", "/metrics", "/openapi.json", path, f"{path}/metrics", "/emulator/time", "/client/v4/accounts/a/queues")
    with server.client() as client:
        for each in paths:
            wire = Wire(server)
            wire.say(request(each, method="HEAD") + request("/health", method="GET"))
            lines = [wire.line()]
            while lines[-1]:
                lines.append(wire.line())
            assert lines[0] == "HTTP/1.1 200 OK", each
            assert wire.answer()[2]["status"] == "ok", each
            wire.socket.close()
            assert client.head(f"{server.url}{each}").content == b""


def test_who_asks_for_another_protocol_is_served_in_this_one(server, path, wire):
    upgrade = {"connection": "upgrade, http2-settings", "upgrade": "h2c", "http2_settings": "AAMAAABkAARAAAAAAAIAAAAA"}
    for _ in range(3):
        wire.say(request(f"{path}/messages", PUSH, **upgrade) + request("/health", method="GET", **upgrade))
        assert [wire.answer()[0], wire.answer()[0]] == [200, 200]
    assert count(server, path) == 3


def test_what_is_no_request_is_refused_behind_the_answers_to_those_before_it(server, path, wire):
    health, push = request("/health", method="GET"), request(f"{path}/messages", PUSH)
    for broken in (b"\x00\x01\r\n\r\n", request("/nothing", transfer_encoding="chunked") + b"zz\r\n", request("/x", b"", version="2.0")):
        wire = Wire(server)
        wire.say(health + push + health + broken + push)
        assert [wire.answer()[0] for _ in range(4)] == [200, 200, 200, 400]
        assert wire.ended()
        wire.socket.close()
    assert count(server, path) == 3


@pytest.mark.parametrize(
    ("version", "headers"),
    [("1.1", {"connection": "close"}), ("1.0", {}), ("1.0", {"connection": "keep-alive"}),
     ("1.1", {"connection": "upgrade, close", "upgrade": "h2c"}), ("1.0", {"connection": "upgrade", "upgrade": "h2c"})],
)  # fmt: skip
def test_behind_the_last_request_of_a_connection_nothing_is_done(server, path, wire, version, headers):
    push, last = request(f"{path}/messages", PUSH), request(f"{path}/messages", PUSH, version=version, **headers)
    for behind in (push, b"\x00\x01\r\n\r\n"):
        wire = Wire(server)
        wire.say(request("/health", method="GET") + last + behind)
        assert [wire.answer()[0], wire.answer()[0]] == [200, 200]
        assert wire.ended()
        wire.socket.close()
    assert count(server, path) == 2


def test_a_body_that_breaks_behind_its_answer_is_not_answered_again(wire):
    wire.say(request("/nothing", transfer_encoding="chunked"))
    assert wire.answer()[0] == 404
    wire.say(b"zz\r\n")
    assert wire.ended()


def test_what_follows_a_body_in_pieces_has_a_bound(wire):
    wire.say(request("/nothing", transfer_encoding="chunked"))
    assert wire.answer()[0] == 404
    with contextlib.suppress(OSError):
        wire.say(b"0\r\nx-trailer: ")
        for _ in range(1_000):
            wire.say(b"x" * 100_000)
        raise AssertionError("a hundred megabytes were taken")


def test_a_stream_ends_when_its_client_leaves_also_where_another_request_waits_behind_it(server, path, wire):
    wire.say(request(f"{path}/metrics", method="GET", accept="text/event-stream") + request("/health", method="GET"))
    assert wire.line() == "HTTP/1.1 200 OK"
    wire.socket.close()
    until, ended = time.monotonic() + 20, False
    while time.monotonic() < until and not ended:
        time.sleep(0.05)
        ended = f"path={path}/metrics status=200 bytes=" in server.log.read_text()
    assert ended


@pytest.fixture(scope="module")
def hurried(tmp_path_factory):
    """A server with the time limits of a second."""
    code = (
        "import emulator.server.uvicorn_server as s, sys; s.Protocol.head_seconds = s.Protocol.body_seconds = 1.0;"
        "from emulator.cli import main; sys.exit(main())"
    )
    with Server(folder=tmp_path_factory.mktemp("hurried"), code=code) as running:
        yield running
        assert "Traceback" not in running.log.read_text()


def test_a_body_that_does_not_come_behind_its_answer_is_not_answered_again(hurried):
    wire = Wire(hurried)
    wire.say(request("/nothing", content_length=100))
    assert wire.answer()[0] == 404
    assert wire.ended()
    wire.socket.close()


def test_who_takes_nothing_of_an_answer_is_let_go(hurried):
    with hurried.client() as client:
        path = f"/client/v4/accounts/a/queues/{pull_queue(client, 'large')}"
        for _ in range(20):
            client.post(f"{hurried.url}{path}/messages/batch", json={"messages": [{"body": "x" * 120_000}] * 2})
    look = request(f"{path}/messages/peek", b'{"batch_size": 100}')
    before = at_rest(hurried)
    wires = [Wire(hurried) for _ in range(6)]
    for wire, last in zip(wires, (look, look * 3, look + b"\x00", look + request("/health", method="GET"), look * 3, look), strict=True):
        wire.say(last)
    for wanted in (lambda: open_files(hurried) >= before + 6, lambda: open_files(hurried) <= before):
        until = time.monotonic() + 20
        while time.monotonic() < until and not wanted():
            time.sleep(0.01)
        assert wanted()
    for wire in wires:
        wire.socket.close()


def at_rest(server):
    """How many files the server has open when nobody comes or goes."""
    seen = [0, 1]
    while len(set(seen[-20:])) > 1:
        time.sleep(0.02)
        seen.append(open_files(server))
    return seen[-1]


def open_files(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def test_a_head_without_end_is_refused(wire):
    wire.say(b"GET /health HTTP/1.1\r\nhost: a\r\nx: ")
    wire.socket.settimeout(0.01)
    for _ in range(1_000):
        wire.say(b"x" * 10_000)
        with contextlib.suppress(TimeoutError):
            if wire._more():
                break
    assert wire.answer()[0] == 431


def test_a_request_that_is_on_its_way_when_the_server_ends_is_answered(tmp_path):
    with Server(folder=tmp_path, db="jobs.db") as server:
        with server.client() as client:
            path = f"/client/v4/accounts/a/queues/{pull_queue(client, 'jobs')}"
        wire = Wire(server)
        whole = request(f"{path}/messages", PUSH)
        wire.say(whole[:-1])
        with server.client() as client:  # its beginning is there before the signal is
            client.get("/queues")
        server.process.send_signal(signal.SIGTERM)
        until = time.monotonic() + 10
        with contextlib.suppress(OSError):
            while time.monotonic() < until:
                socket.create_connection(("127.0.0.1", server.port), 1).close()
        wire.say(whole[-1:])
        assert wire.answer()[0] == 200
        assert wire.ended()
        wire.socket.close()
        assert server.process.wait(30) == 0
        server.start()
        assert count(server, path) == 1


def test_a_request_that_does_not_come_when_the_server_ends_is_refused_in_the_envelope(tmp_path):
    with Server("--grace", "1", "--time", "virtual", "--control", folder=tmp_path) as server:
        with server.client() as client:
            path = f"/client/v4/accounts/a/queues/{pull_queue(client, 'jobs')}"
        halves = (
            request(f"{path}/messages", expect="100-continue", content_length=100), request("/dashboard/data/time", content_length=100),
            request(f"{path}/messages", PUSH, connection="close")[:-1], request(f"{path}/messages", PUSH)[:-1],
        )  # fmt: skip
        wires = [Wire(server) for _ in halves]
        for wire, half in zip(wires, halves, strict=True):
            wire.say(half)
        assert [wires[0].line(), wires[0].line()] == ["HTTP/1.1 100 Continue", ""]
        with server.client() as client:
            client.get("/queues")
        server.process.send_signal(signal.SIGTERM)
        for wire in wires[:-1]:
            assert (wire.answer()[0], wire.ended()) in {(408, True), (403, True)}
        assert wires[-1].ended()
        assert server.process.wait(30) == 0
        assert "Traceback" not in server.log.read_text()
        for wire in wires:
            wire.socket.close()


def test_both_ways_say_the_same_of_a_refusal(path, wire):
    missing = path[:-1] + ("0" if path[-1] != "0" else "1")
    for at in (path, missing):
        for body in (b"{", b"{}", b'{"body": 1, "delay_seconds": 86401}'):
            wire.say(request(f"{at}/messages", body) + request(f"{at}/messages", body, expect="100-continue"))
            quick = wire.answer()
            assert wire.line() == "HTTP/1.1 100 Continue"
            assert not wire.line()
            slow = wire.answer()
            assert (quick[0], quick[2]) == (slow[0], slow[2])
            assert {n: v for n, v in quick[1].items() if n != "date"} == {n: v for n, v in slow[1].items() if n != "date"}


def test_routes_find_what_was_added_and_nothing_else():
    routes = Routes()
    for method, path in (("GET", "/a/{id}"), ("PUT", "/a/{id}"), ("POST", "/a/{id}/b"), ("POST", "/a/b/{id}/c")):
        routes.add(method, path, f"{method} {path}")
    assert routes.find("/a/x") == ({"GET": "GET /a/{id}", "HEAD": "GET /a/{id}", "PUT": "PUT /a/{id}"}, {"id": "x"})
    assert routes.find("/a/x/b") == ({"POST": "POST /a/{id}/b"}, {"id": "x"})
    assert routes.find("/a/b/x/c") == ({"POST": "POST /a/b/{id}/c"}, {"id": "x"})
    for path in ("", "/", "a/x", "/a", "/a/", "//x", "/a//b", "/a/x/", "/a/x/b/c", "/b/x", "*"):
        assert routes.find(path) is None, path
