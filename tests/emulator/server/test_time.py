"""Time over HTTP: by order, scaled and real; and the limit of 5,000 messages a second, which refuses exactly what exceeds it."""

from __future__ import annotations

import time

import httpx
import pytest

from emulator import Emulator
from emulator.server import Transport
from emulator.server.operations.get_metrics import prefers_events
from tests.emulator.server.servers import Server, pull_queue


@pytest.fixture
def client():
    emu = Emulator()
    yield httpx.Client(transport=Transport(emu, control=True), base_url="http://emulator/client/v4/accounts/a")
    emu.close()


def advance(client, seconds):
    answer = client.post("http://emulator/emulator/time/advance", json={"seconds": seconds})
    assert answer.status_code == 200, answer.text


def test_the_limit_refuses_exactly_what_exceeds_it_and_nothing_is_lost_or_doubled(client):
    id = pull_queue(client, "jobs")
    sent = 0
    for second in range(4):
        for number in range(60):
            rows = [{"body": sent + n} for n in range(100)]
            answer = client.post(f"/queues/{id}/messages/batch", json={"messages": rows})
            if number < 50:
                assert answer.status_code == 200
                sent += 100
            else:
                assert (answer.status_code, answer.json()["errors"][0]["code"]) == (429, 10250)
        assert client.post(f"/queues/{id}/messages", json={"body": 1}).status_code == 429
        advance(client, 0.5 if second % 2 else 0.999_999)
        assert client.post(f"/queues/{id}/messages", json={"body": 1}).status_code == 429
        advance(client, 0.5 if second % 2 else 0.000_001)
    ids = []
    for number in range(sent // 100):
        if number % 50 == 0:
            advance(client, 1)
        pulled = client.post(f"/queues/{id}/messages/pull", json={"batch_size": 100}).json()["result"]["messages"]
        ids += [message["id"] for message in pulled]
        leases = [{"lease_id": message["lease_id"]} for message in pulled]
        assert client.post(f"/queues/{id}/messages/ack", json={"acks": leases}).json()["result"]["ackCount"] == 100
    assert len(set(ids)) == sent == 20_000
    assert client.get(f"/queues/{id}/metrics").json()["result"]["backlog_count"] == 0


def test_the_clock_moves_by_order_and_leases_lapse(client):
    id = pull_queue(client, "jobs")
    client.post(f"/queues/{id}/messages", json={"body": "x", "content_type": "text", "delay_seconds": 3600})
    pull = f"/queues/{id}/messages/pull"
    assert client.post(pull, json={}).json()["result"]["messages"] == []
    advance(client, 3600)
    assert client.get("http://emulator/emulator/time").json()["result"]["now"] == "2026-01-01T01:00:00.000000Z"
    assert client.post(pull, json={}).json()["result"]["messages"][0]["attempts"] == 1
    advance(client, 29.9)
    assert client.post(pull, json={}).json()["result"]["messages"] == []
    advance(client, 0.1)
    assert client.post(pull, json={}).json()["result"]["messages"][0]["attempts"] == 2


@pytest.mark.parametrize("seconds", [-1, "x", None, 1e300, float(10**11)])
def test_an_order_that_makes_no_sense_is_refused(client, seconds):
    answer = client.post("http://emulator/emulator/time/advance", json={"seconds": seconds})
    assert answer.status_code == 400


def test_reset_faults_and_events(client):
    pull_queue(client, "jobs")
    found = client.get("http://emulator/emulator/events?after=1").json()["result"]
    assert [row[0] for row in found["events"]] == ["ConsumerSet"]
    assert found["last"] == found["total"] == 2
    put = "http://emulator/emulator/faults"
    assert client.put(put, json={"refused_sends": 2}).status_code == 400
    assert client.put(put, json={"refused_sends": 1}).json()["result"]["refused_sends"] == 1
    (queue,) = client.get("/queues").json()["result"]
    answer = client.post(f"/queues/{queue['queue_id']}/messages", json={"body": 1})
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (429, 10250)
    client.post("http://emulator/emulator/reset")
    assert client.get("/queues").json()["result"] == []
    assert client.get(put).json()["result"]["refused_sends"] == 0


@pytest.mark.parametrize(("body", "text"), [
    ({"crashs": 0.5}, "there is no 'crashs': did you mean 'crashes'?"),
    ({"duplicates": 1, "reordering": 1}, "there is no 'reordering': did you mean 'reorder'?"),
    ({"crashes": -0.1}, "Expected `float` >= 0.0 - at `$.crashes`"),
    ({"crashes": 1.5}, "Expected `float` <= 1.0 - at `$.crashes`"),
    ({"crashes": "1"}, "Expected `float`, got `str` - at `$.crashes`"),
])  # fmt: skip
def test_a_fault_that_nobody_knows_or_a_chance_that_is_none_is_refused_and_changes_nothing(client, body, text):
    put = "http://emulator/emulator/faults"
    client.put(put, json={"duplicates": 0.25})
    answer = client.put(put, json=body)
    assert (answer.status_code, answer.json()["errors"][0]["message"]) == (400, text)
    assert client.get(put).json()["result"]["duplicates"] == 0.25


def test_a_scaled_clock_runs_by_itself(tmp_path):
    with Server("--time", "600x", folder=tmp_path) as server, server.client() as client:
        id = pull_queue(client, "jobs")
        client.post(f"/queues/{id}/messages", json={"body": "x", "content_type": "text", "delay_seconds": 300})
        until = time.monotonic() + 20
        pulled = []
        while not pulled and time.monotonic() < until:
            pulled = client.post(f"/queues/{id}/messages/pull", json={}).json()["result"]["messages"]
            time.sleep(0.02)
        assert [message["body"] for message in pulled] == ["x"]


def test_a_backlog_can_be_followed_as_a_stream(tmp_path):
    with Server(folder=tmp_path) as server, server.client() as client:
        id = pull_queue(client, "jobs")
        with client.stream("GET", f"/queues/{id}/metrics", headers={"accept": "text/event-stream"}) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            lines = answer.iter_lines()
            assert next(lines) == 'data: {"backlog_bytes":0,"backlog_count":0,"oldest_message_timestamp_ms":0}'
        assert server.stop() == 0


@pytest.mark.parametrize(("accept", "events"), [
    ("text/event-stream", True), ("text/event-stream, */*", True), ("text/event-stream;q=0.9, application/json;q=0.8", True), ("", False),
    ("*/*", False), ("application/json, text/event-stream", False), ("text/event-stream;q=0.1, */*", False), ("text/event-stream;q=0", False),
    ("TEXT/event-stream ; Q=1", True), ("text/event-stream;q=x", False),
])
def test_a_stream_is_told_where_it_is_preferred(accept, events):
    assert prefers_events(accept) is events
