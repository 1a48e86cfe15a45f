"""The answer leaves after the append: a server that is killed at any moment has everything that it answered for."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

from emulator import Emulator
from emulator.cli.serving import _service
from emulator.engine.journal.sqlite import SQLiteJournal
from emulator.server import Transport
from tests.emulator.server.servers import Forked, Server, pull_queue, queue_id


class Load:
    """Clients that push, pull and acknowledge, and remember what was answered for."""

    def __init__(self, server, id):
        self.server, self.id = server, id
        self.stored: set[int] = set()
        self.acked: set[int] = set()
        self.asked_to_ack: set[int] = set()
        self.doubled: list[int] = []
        self.number = 0
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.failures: list[str] = []

    @contextlib.contextmanager
    def goes_on(self):
        """Clients at work, until the block is left."""
        threads = [threading.Thread(target=self.work, args=(part,)) for part in (self.push, self.push, self.settle, self.settle)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.over.set()
            for thread in threads:
                thread.join(60)

    def work(self, part):
        """A part of the load; what goes wrong in its thread is not lost."""
        try:
            part()
        except Exception:  # noqa: BLE001 - whatever it is
            self.failures.append(traceback.format_exc())

    def take(self, count):
        """Numbers that nobody has sent."""
        with self.lock:
            self.number += count
            return range(self.number - count, self.number)

    def push(self):
        """Push until it is over; a push that nobody answered may or may not be there."""
        with self.server.client() as client:
            while not self.over.is_set():
                numbers = list(self.take(5))
                body = {"messages": [{"body": number} for number in numbers]}
                with self.patience():
                    answer = client.post(f"/queues/{self.id}/messages/batch", json=body)
                    assert answer.status_code == 200, answer.text
                    self.stored.update(numbers)

    @contextlib.contextmanager
    def patience(self):
        """A server that is not there is asked again a little later."""
        try:
            yield
        except httpx.TransportError:
            time.sleep(0.005)

    def settle(self):
        """Pull and acknowledge until it is over. What was acknowledged may not come again."""
        with self.server.client() as client:
            while not self.over.is_set():
                with self.patience():
                    self.turn(client)

    def turn(self, client):
        """Pull once and acknowledge seven of eight; the eighth comes again and again."""
        known = set(self.acked)
        pulled = client.post(f"/queues/{self.id}/messages/pull", json={"batch_size": 20, "visibility_timeout_ms": 1_000}).json()
        if refused_for_now(pulled):
            return
        messages = pulled["result"]["messages"]
        numbers = {number_of(message): message["lease_id"] for message in messages}
        self.doubled += [number for number in numbers if number in known]
        chosen = [number for number in numbers if number % 8]
        self.asked_to_ack.update(chosen)
        if chosen:
            body = {"acks": [{"lease_id": numbers[number]} for number in chosen]}
            answer = client.post(f"/queues/{self.id}/messages/ack", json=body).json()
            if answer["success"]:
                self.acked.update(chosen)
            elif not refused_for_now(answer):
                raise AssertionError(answer)
        else:
            time.sleep(0.01)


def refused_for_now(answer):
    """Whether 5,000 messages were pulled, or acknowledged, within this second; then waits a little."""
    refused = not answer["success"] and answer["errors"][0]["code"] == 10250
    if refused:
        time.sleep(0.1)
    return refused


def number_of(message):
    import base64

    return json.loads(base64.b64decode(message["body"]))


def rest_of(client, id):
    """Every number that is left, by one long lease each."""
    found = []
    for _ in range(10_000):
        answer = client.post(f"/queues/{id}/messages/pull", json={"batch_size": 100, "visibility_timeout_ms": 40_000_000}).json()
        if refused_for_now(answer):
            continue
        if not answer["result"]["messages"]:
            return found
        found += [number_of(message) for message in answer["result"]["messages"]]
    raise AssertionError("the queue has no end")


@pytest.mark.slow
def test_nothing_is_lost_or_doubled_by_fifty_kills_at_random_moments(tmp_path):
    """Snapshots and checkpoints come often, some kills meet a server that is just starting, and clients never pause."""
    dice, kills = random.Random(5), 50
    with Forked(folder=tmp_path, db="queues.db") as server:
        with server.client() as client:
            id = pull_queue(client, "jobs", settings={"max_retries": 100})
        load = Load(server, id)
        with load.goes_on():
            for _ in range(kills):
                time.sleep(dice.uniform(0.02, 0.25))
                server.kill()
                if dice.random() < 0.2:
                    server.launch()
                    time.sleep(dice.uniform(0, 0.15))
                    server.kill()
                server.start()
            time.sleep(0.2)
        assert load.failures == []
        server.restart()
        time.sleep(1.1)  # the leases of the load lapse
        with server.client() as client:
            left = rest_of(client, id)
        log = server.log.read_text()
    assert load.doubled == []
    assert len(left) == len(set(left))
    assert not load.stored - load.asked_to_ack - set(left), "answered for, and lost"
    assert not load.acked & set(left), "acknowledged, and there again"
    assert "Traceback" not in log
    assert len(load.acked) > 100
    assert len(left) > 10
    with contextlib.closing(sqlite3.connect(tmp_path / "queues.db")) as db:
        assert db.execute("SELECT count(*) FROM snapshots").fetchone() == (1,)


def test_a_server_that_is_killed_while_it_makes_its_file_starts_again(tmp_path):
    dice = random.Random(6)
    with Forked(folder=tmp_path, db="queues.db") as server:
        for _ in range(15):
            server.kill()
            for file in tmp_path.glob("queues.db*"):
                file.unlink()
            server.launch()
            time.sleep(dice.uniform(0.01, 0.12))
            server.kill()
            server.start()
            with server.client() as client:
                queue_id(client, "jobs")


FULL = """
import resource, signal, sys
from emulator.cli import main
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
fill = lambda size: resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
signal.signal(signal.SIGUSR1, lambda *_: fill(20_000))
signal.signal(signal.SIGUSR2, lambda *_: fill(resource.RLIM_INFINITY))
sys.exit(main())
"""


def test_a_full_disk_loses_nothing_and_when_there_is_room_again_everything_goes_on(tmp_path):
    """No file may grow while it is full. Time, settlements and what the API knows wait; nothing half done is shown."""
    batches, lock = [], threading.Lock()

    class Endpoint(BaseHTTPRequestHandler):
        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
            batches.append([message["body"] for message in body])
            with lock:  # a batch ends while the disk is full
                answer = b'{"outcome": "ok"}'
            self.send_response(200)
            self.send_header("content-length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    endpoint = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    push = f"pushed=http://127.0.0.1:{endpoint.server_port}/"
    with Server("--push", push, "--log", "off", folder=tmp_path, db="queues.db", code=FULL) as server, server.client() as client:
        id, pushed = pull_queue(client, "jobs"), client.get("/queues", params={"name": "pushed"}).json()["result"][0]["queue_id"]
        before, kept = client.get("/queues").json()["result"], [0]
        assert client.post(f"/queues/{id}/messages", json={"body": 0}).status_code == 200
        with lock:
            assert client.post(f"/queues/{pushed}/messages", json={"body": "before"}).status_code == 200
            waits_for(lambda: batches == [["before"]])
            server.process.send_signal(signal.SIGUSR1)
            waits_for(lambda: client.post(f"/queues/{id}/messages", json={"body": len(kept)}).status_code == 500 or kept.append(len(kept)))
        for method, path, body in (
            ("POST", "/queues", {"queue_name": "more"}), ("PUT", f"/queues/{id}", {"queue_name": "renamed"}),
            ("DELETE", f"/queues/{id}", None), ("POST", f"/queues/{id}/messages/pull", {}),
        ):  # fmt: skip
            refused = client.request(method, path, json=body).json()
            assert [each["code"] for each in refused["errors"]] == [15000], path
        assert client.get("/queues").json()["result"] == before
        server.process.send_signal(signal.SIGUSR2)
        assert client.post(f"/queues/{pushed}/messages", json={"body": "after"}).status_code == 200
        waits_for(lambda: batches == [["before"], ["after"]])
        waits_for(lambda: client.get(f"/queues/{pushed}/metrics").json()["result"]["backlog_count"] == 0)
        assert client.get("/queues").json()["result"] == before
        server.restart()
        assert sorted(rest_of(client, id)) == kept
        assert batches == [["before"], ["after"]]
        assert "Traceback" not in server.log.read_text()
    endpoint.shutdown()
    endpoint.server_close()


def waits_for(wanted):
    until = time.monotonic() + 30
    while time.monotonic() < until and not wanted():
        time.sleep(0.02)
    assert wanted()


def test_a_second_server_on_one_file_is_refused_and_the_first_goes_on(tmp_path):
    with Server(folder=tmp_path, db="queues.db") as server:
        (tmp_path / "alias.db").symlink_to(tmp_path / "queues.db")
        for name in ("queues.db", "alias.db"):
            command = [sys.executable, "-m", "emulator.cli", "serve", "--port", "0", "--db", name]
            done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 2
            assert "in use by another server" in done.stderr
            assert "Traceback" not in done.stderr
        with server.client() as client:
            queue_id(client, "jobs")


def test_a_file_that_is_no_journal_is_refused_and_left_alone(tmp_path):
    (tmp_path / "notes.db").write_text("not a journal, but somebody's notes" * 10)
    command = [sys.executable, "-m", "emulator.cli", "serve", "--port", "0", "--db", "notes.db"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert (tmp_path / "notes.db").read_text().startswith("not a journal")


def test_an_end_on_request_finishes_and_the_next_start_goes_on(tmp_path):
    with Server(folder=tmp_path, db="queues.db") as server:
        with server.client() as client:
            id = pull_queue(client, "jobs")
            client.put(f"/queues/{id}", json={"queue_name": "renamed"})
            client.post(f"/queues/{id}/messages", json={"body": "x", "content_type": "text"})
            before = client.get(f"/queues/{id}").json()["result"]
        assert server.stop() == 0
        assert "stopped" in server.log.read_text()
        server.start()
        with server.client() as client:
            assert client.get(f"/queues/{id}").json()["result"] == before
            (message,) = client.post(f"/queues/{id}/messages/pull", json={}).json()["result"]["messages"]
            assert (message["body"], message["attempts"]) == ("x", 1)
    with contextlib.closing(sqlite3.connect(tmp_path / "queues.db")) as db:
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_fifty_clients_that_pull_at_once_get_disjoint_leases(tmp_path):
    with Server(folder=tmp_path, db="queues.db") as server:
        with server.client() as client:
            id = pull_queue(client, "jobs")
            for at in range(0, 2_000, 100):
                rows = [{"body": number} for number in range(at, at + 100)]
                assert client.post(f"/queues/{id}/messages/batch", json={"messages": rows}).status_code == 200

        def pull(_):
            with server.client() as client:
                body = {"batch_size": 7, "visibility_timeout_ms": 600_000}
                return [
                    message["id"] for _ in range(5)
                    for message in client.post(f"/queues/{id}/messages/pull", json=body).json()["result"]["messages"]
                ]

        with ThreadPoolExecutor(50) as pool:
            pulled = [id for ids in pool.map(pull, range(50)) for id in ids]
    assert len(pulled) == len(set(pulled)) == 50 * 5 * 7


def test_snapshots_are_kept_while_clients_push_pull_and_acknowledge(tmp_path, monkeypatch):
    """Without a push consumer no batch ever leaves, and a restart must not replay everything that ever happened."""
    monkeypatch.setattr("emulator.engine.account._SNAPSHOT_EVENTS", 50)
    journal = SQLiteJournal(tmp_path / "queues.db")
    with Emulator(journal=journal) as emu, httpx.Client(transport=Transport(emu), base_url="http://emulator/accounts/a") as client:
        id = pull_queue(client, "jobs")
        for number in range(100):
            client.post(f"/queues/{id}/messages", json={"body": number})
            (message,) = client.post(f"/queues/{id}/messages/pull", json={}).json()["result"]["messages"]
            client.post(f"/queues/{id}/messages/ack", json={"acks": [{"lease_id": message["lease_id"]}]})
            kept = journal.snapshot()
            assert journal.length() - (kept[0] if kept else 0) <= 50 + 3
        at = kept[0]
        for start in range(0, 1_000, 100):
            client.post(f"/queues/{id}/messages/batch", json={"messages": [{"body": start + n} for n in range(100)]})
        kept_at = [at := max(at, journal.snapshot()[0]) for number in range(300) if client.post(f"/queues/{id}/messages", json={"body": number})]
        assert len(set(kept_at)) <= 3, "a snapshot of a long queue costs: it is kept when as many events have come"


def test_a_server_that_keeps_nothing_has_its_journal_in_a_file_without_a_name_all_the_same():
    """Ten minutes of full load would be a gigabyte in memory."""
    unset = dict.fromkeys(("start", "config", "env", "push", "consumer", "account_id", "queue", "seed", "worker", "outgoing"))
    service = _service(None, (), sync="normal", time="virtual", plan="paid", push_timeout=1.0, control=False, **unset)
    assert isinstance(service.account.journal, SQLiteJournal)
    assert service.account.journal.path == ""
    service.close()
