"""What nobody should send: each time a 4xx in the envelope with Cloudflare's code, no traceback, and the server goes on."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time

import httpx
import pytest

from emulator import Emulator
from emulator.server import Transport
from tests.emulator.server.servers import ROOT, Server, pull_queue, queue_id

MB = 1_000_000


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server("--control", folder=tmp_path_factory.mktemp("server")) as running:
        yield running
        assert "Traceback" not in running.log.read_text()


@pytest.fixture
def client(server):
    with server.client() as client:
        client.post(f"{server.url}/emulator/reset")
        yield client


def refusal(answer):
    """The status and code of a refusal in the envelope."""
    body = answer.json()
    assert body["success"] is False
    assert body["result"] is None
    assert "Traceback" not in answer.text
    return answer.status_code, body["errors"][0]["code"]


def raw(server, data, seconds=20):
    """What the server says to bytes."""
    with socket.create_connection(("127.0.0.1", server.port), seconds) as connection:
        connection.sendall(data)
        found = b""
        while chunk := connection.recv(65_536):
            found += chunk
        return found


def memory_kb(server):
    """The server's resident memory."""
    with open(f"/proc/{server.process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("messages", b"{", 10208),
        ("messages", b"\xff\xfe", 10208),
        ("messages", '{"body": 1}'.encode("utf-16"), 10208),
        ("messages", b'\xef\xbb\xbf{"body": 1}', 10208),
        ("messages", b'{"body": 1, "delay_seconds": ' + b"9" * 400 + b"}", 10207),
        ("messages", b'{"body": 1, "delay_seconds": 1e400}', 10207),
        ("messages", b'{"body": 1, "content_type": "\\ud800"}', 10203),
        ("messages", b'{"body": NaN}', 10208),
        ("messages", b"[" * 200_000, 10208),
        ("messages", b'{"body": ' + b"9" * 5_000 + b"}", 10208),
        ("messages", b"[]", 10207),
        ("messages", b"{}", 10207),
        ("messages", b'{"body": 1, "delay_seconds": "5"}', 10207),
        ("messages", b'{"body": 1, "delay_seconds": true}', 10207),
        ("messages", b'{"body": 1, "delay_seconds": 1.5}', 10207),
        ("messages", b'{"body": 1, "delay_seconds": 86401}', 10203),
        ("messages", b'{"body": 1, "delay_seconds": -1}', 10203),
        ("messages", b'{"body": 1, "content_type": "v8"}', 10203),
        ("messages", b'{"body": 1, "content_type": "text"}', 10207),
        ("messages", json.dumps({"body": "x" * 128_000}).encode(), 10204),
        ("messages/batch", b'{"messages": []}', 10206),
        ("messages/batch", b'{"messages": {}}', 10207),
        ("messages/batch", b'{"messages": [{"body": 1}], "delay_seconds": 86401}', 10202),
        ("messages/batch", json.dumps({"messages": [{"body": 1}] * 101}).encode(), 10206),
        ("messages/batch", json.dumps({"messages": [{"body": "x" * 100_000}] * 3}).encode(), 10205),
        ("messages/pull", b'{"batch_size": 101}', 10206),
        ("messages/pull", b'{"batch_size": 0}', 10206),
        ("messages/pull", b'{"visibility_timeout_ms": 43200001}', 10207),
        ("messages/ack", b'{"acks": ["x"]}', 10207),
        ("messages/ack", b'{"retries": [{"lease_id": "x", "delay_seconds": 86401}]}', 10203),
        ("messages/extend", b"{}", 10207),
        ("consumers", b'{"type": "notification"}', 100127),
        ("consumers", b'{"type": "worker"}', 10207),
        ("purge", b"{}", 10207),
        ("purge", b'{"delete_messages_permanently": false}', 10207),
    ],
    ids=lambda value: value[:40].decode("latin-1") if isinstance(value, bytes) else str(value),
)
def test_bad_bodies_have_their_code(client, path, body, code):
    id = queue_id(client, "plain") if path == "consumers" else pull_queue(client, "jobs")
    assert refusal(client.post(f"/queues/{id}/{path}", content=body)) == (400, code)
    assert client.get(f"/queues/{id}/metrics").json()["result"]["backlog_count"] == 0


def test_a_body_of_ten_megabytes_is_refused_and_not_kept(server, client):
    id = pull_queue(client, "jobs")
    before_kb = memory_kb(server)
    for path, code in (("messages", 10204), ("messages/batch", 10205), ("messages/ack", 10207)):
        for _ in range(5):
            content = json.dumps({"body": "x" * 10 * MB}).encode()
            assert refusal(client.post(f"/queues/{id}/{path}", content=content)) == (400, code)
    assert memory_kb(server) - before_kb < 60_000


def test_ten_thousand_headers_are_refused(server):
    lines = b"".join(b"x-%d: %d\r\n" % (n, n) for n in range(10_000))
    said = raw(server, b"GET /client/v4/accounts/a/queues HTTP/1.1\r\nhost: a\r\nconnection: close\r\n" + lines + b"\r\n")
    assert said.startswith(b"HTTP/1.1 431 ")
    assert json.loads(said.partition(b"\r\n\r\n")[2])["success"] is False


@pytest.mark.parametrize("data", [b"\x00\x01\x02\r\n\r\n", b"GET  /x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\r\n\r\n"])
def test_what_is_no_http_is_refused_in_the_envelope(server, data):
    said = raw(server, data)
    assert said.startswith(b"HTTP/1.1 400 ")
    assert json.loads(said.partition(b"\r\n\r\n")[2])["success"] is False


@pytest.mark.parametrize(
    "path",
    [
        "/client/v4/accounts/a/queues/../queues/..", "/client/v4/accounts/a/queues/%2e%2e/%2e%2e/emulator/time", "//client/v4/accounts",
        "/client/v4/accounts/a/queues/" + "a" * 33, "/client/v4/accounts/a/queues/%00", "/client/v4/accounts/a/queues/a%2Fb",
        "/client/v4/accounts/a%2Fqueues", "/client/v4/accounts/a/queues%2f", "/client/v4%2faccounts/a/queues", "/emulator%2ftime",
        "/client/v4/accounts//queues", "/client/v4/accounts/a/queues/%ff%fe", "/client/v4/../../etc/passwd", "/dashboard/../../x",
        "/dashboard/%2e%2e/%2e%2e/service.py",
    ],
)
def test_tricks_with_paths_find_nothing(server, path):
    said = raw(server, f"GET {path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n".encode())
    assert said.split()[1] in {b"400", b"404"}, said
    assert json.loads(said.partition(b"\r\n\r\n")[2])["success"] is False


def test_a_slow_loris_is_cut_off_and_others_are_served(tmp_path):
    code = (
        "import emulator.server.uvicorn_server as s, sys; s.Protocol.head_seconds = 1.0; s.Protocol.body_seconds = 1.0;"
        "from emulator.cli import main; sys.exit(main())"
    )
    server = Server(folder=tmp_path)
    server.kill()
    command = [sys.executable, "-c", code, "serve", "--port", str(server.port), "--db", ":memory:"]
    server.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    with server:
        until = time.monotonic() + 30
        connections = []
        while time.monotonic() < until and len(connections) < 50:
            try:
                connections.append(socket.create_connection(("127.0.0.1", server.port), 10))
            except OSError:
                time.sleep(0.05)
        heads = [b"GET /x HTTP/1.1\r\nx-a: ", b"POST /client/v4/accounts/a/queues HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{"]
        for number, connection in enumerate(connections):
            connection.sendall(heads[number % 2])
        with server.client() as client:
            assert client.get("/queues").status_code == 200
        for connection in connections:
            said = b""
            while chunk := connection.recv(65_536):
                said += chunk
            assert said.startswith(b"HTTP/1.1 408 ")
            connection.close()


def test_many_slow_clients_keep_nobody_out_even_where_few_files_may_be_open(tmp_path):
    """400 clients that never finish a head, and 256 files: those who have waited longest are closed as others come."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256));"
        "from emulator.cli import main; sys.exit(main())"
    )
    server = Server(folder=tmp_path)
    server.kill()
    command = [sys.executable, "-c", code, "serve", "--port", str(server.port), "--db", ":memory:"]
    with server.log.open("ab") as log:
        server.process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log)
    with server:
        until = time.monotonic() + 30
        connections = []
        while time.monotonic() < until and len(connections) < 400:
            try:
                connections.append(socket.create_connection(("127.0.0.1", server.port), 10))
            except OSError:
                time.sleep(0.05)
                continue
            connections[-1].sendall(b"GET /x HTTP/1.1\r\nx-a: ")
            if len(connections) % 100 == 0:
                with server.client() as client:
                    assert client.get("/queues").status_code == 200
        said = connections[0].recv(65_536)
        assert said.startswith(b"HTTP/1.1 408 ")
        for connection in connections:
            connection.close()
    assert len(connections) == 400
    assert "Traceback" not in server.log.read_text()


def test_a_page_of_another_origin_is_refused(client):
    answer = client.post("/queues", json={"queue_name": "jobs"}, headers={"origin": "https://evil.example"})
    assert refusal(answer) == (403, 10023)
    assert client.get("/queues").json()["result"] == []


HOSTS = [
    ("localhost:8787", 200), ("127.0.0.1:1", 200), ("[::1]:8787", 200), ("queues", 200), ("a.localhost", 200), ("10.0.0.1", 200),
    ("evil.example:8787", 403), ("evil.example.", 403), ("127.0.0.1.evil.example", 403), ("localhost.evil.example", 403), ("[::1", 403),
]  # fmt: skip


@pytest.mark.parametrize(("host", "status"), HOSTS)
@pytest.mark.parametrize("path", ["/client/v4/accounts/a/queues", "/accounts/a/queues", "/emulator/time", "/metrics", "/", "/dashboard/data/queues"])
def test_a_name_of_the_internet_that_was_made_to_lead_here_shows_nothing(server, host, status, path):
    said = raw(server, f"GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n".encode())
    assert said.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"jobs" not in said or status == 200


def test_with_a_token_the_server_may_have_any_name(tmp_path):
    with Server("--token", "all", folder=tmp_path) as server, server.client(headers={"host": "queues.example"}) as client:
        assert client.get("/queues").status_code == 401
        assert client.get("/queues", headers={"authorization": "Bearer all"}).status_code == 200


def test_without_a_socket_the_api_may_have_cloudflare_s_own_name():
    client = httpx.Client(transport=Transport(Emulator()), base_url="https://api.cloudflare.com/client/v4/accounts/a")
    assert client.get("/queues").status_code == 200


TOKENS = {"tokens": ("all", "look:read", "change:write")}
LOOKS = [("GET", ""), ("GET", "/{id}"), ("GET", "/{id}/consumers"), ("GET", "/{id}/metrics"), ("GET", "/{id}/purge")]
CHANGES = [
    ("POST", "", {"queue_name": "more"}, 10023), ("PATCH", "/{id}", {}, 10023), ("PUT", "/{id}", {}, 10023), ("DELETE", "/{id}", None, 10023),
    ("POST", "/{id}/consumers", {"type": "http_pull"}, 10023), ("POST", "/{id}/purge", {"delete_messages_permanently": True}, 10023),
    ("POST", "/{id}/messages", {"body": 1}, 10106), ("POST", "/{id}/messages/pull", {}, 10106), ("POST", "/{id}/messages/ack", {}, 10106),
]  # fmt: skip


@pytest.fixture
def account():
    """A closed account: a function that asks with a token, and a queue's id."""
    emu = Emulator()
    client = httpx.Client(transport=Transport(emu, control=True, **TOKENS), base_url="http://emulator/client/v4/accounts/a")

    def ask(token, method, path, body=None):
        headers = {} if token is None else {"authorization": token}
        return client.request(method, path, json=body, headers=headers)

    yield ask, ask("Bearer all", "POST", "/queues", {"queue_name": "jobs"}).json()["result"]["queue_id"]
    emu.close()


@pytest.mark.parametrize("token", [None, "", "Bearer", "Bearer wrong", "Basic all", "all", "Bearer all:read", "Bearer look:read", "Bearer \xff"])
def test_without_a_known_token_nothing_is_shown_and_nothing_changes(account, token):
    ask, id = account
    token = token if token is None else token.encode("latin-1")
    for method, path in LOOKS:
        assert refusal(ask(token, method, "/queues" + path.format(id=id))) == (401, 10000)
    for method, path, body, _ in CHANGES:
        assert refusal(ask(token, method, "/queues" + path.format(id=id), body)) == (401, 10000)
    for path in ("time", "events", "faults"):
        assert refusal(ask(token, "GET", f"http://emulator/emulator/{path}")) == (401, 10000)


def test_a_read_token_may_look_and_not_change(account):
    ask, id = account
    for method, path in LOOKS:
        assert ask("Bearer look", method, "/queues" + path.format(id=id)).status_code == 200
    for method, path, body, code in CHANGES:
        assert refusal(ask("Bearer look", method, "/queues" + path.format(id=id), body)) == (403, code)
    assert refusal(ask("Bearer look", "POST", "http://emulator/emulator/reset")) == (403, 10023)
    assert ask("Bearer change", "DELETE", f"/queues/{id}").status_code == 200


def test_the_control_api_is_not_there_without_control():
    client = httpx.Client(transport=Transport(Emulator()), base_url="http://emulator")
    for method, path in (("GET", "time"), ("POST", "time/advance"), ("POST", "time/run-until-idle"), ("POST", "reset"), ("GET", "events")):
        for prefix in ("/emulator/", "/client/v4/emulator/", "//emulator/", "/EMULATOR/", "/%65mulator/", "/accounts/a/../../emulator/"):
            assert client.request(method, prefix + path, json={"seconds": 1}).status_code == 404


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_only_a_token_opens_the_server_to_other_computers(host):
    command = [sys.executable, "-m", "emulator.cli", "serve", "--host", host, "--port", "0"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "give a --token" in done.stderr


def test_another_account_is_not_answered_for():
    client = httpx.Client(transport=Transport(Emulator(), account_id="mine"), base_url="http://emulator/client/v4")
    assert client.get("/accounts/mine/queues").status_code == 200
    assert refusal(client.get("/accounts/other/queues")) == (404, 7003)
