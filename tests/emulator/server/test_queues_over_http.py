"""What the API shows and does, beyond what the clients ask for: paging, filters, jurisdictions, renames, PUT and PATCH, leases."""

from __future__ import annotations

import re

import httpx
import pytest

from emulator import Emulator
from emulator.server import Transport
from tests.emulator.server.servers import pull_queue, queue_id


@pytest.fixture
def emu():
    emulator = Emulator()
    yield emulator
    emulator.close()


@pytest.fixture
def client(emu):
    return httpx.Client(transport=Transport(emu), base_url="http://emulator/client/v4/accounts/a")


def result(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()["result"]


def code(answer):
    return answer.status_code, answer.json()["errors"][0]["code"]


def test_a_queue_looks_as_the_api_shows_it(client):
    shown = result(client.post("/queues", json={"queue_name": "jobs", "jurisdiction": "eu"}))
    assert re.fullmatch("[0-9a-f]{32}", shown["queue_id"])
    assert shown["created_on"] == shown["modified_on"] == "2026-01-01T00:00:00.000000Z"
    assert shown["jurisdiction"] == "eu"
    assert shown["settings"] == {"delivery_delay": 0, "delivery_paused": False, "message_retention_period": 345_600}
    assert (shown["producers"], shown["consumers"], shown["consumers_total_count"]) == ([], [], 0)
    assert result(client.get(f"http://emulator/accounts/a/queues/{shown['queue_id']}")) == shown


def test_lists_have_pages_and_filters(client):
    names = [f"q{n:02}" for n in range(25)]
    for name in names:
        queue_id(client, name)

    def listed(query):
        answer = client.get(f"/queues{query}").json()
        return [row["queue_name"] for row in answer["result"]], answer["result_info"]

    assert listed("")[0] == names
    assert listed("?page=2&per_page=10") == (
        names[10:20], {"page": 2, "per_page": 10, "count": 10, "total_count": 25, "total_pages": 3},
    )
    assert listed("?page=3&per_page=10")[0] == names[20:]
    assert listed("?page=9")[0] == []
    assert listed("?name=q03&name=q01&name=nope")[0] == ["q03", "q01"]
    assert listed("?page=1&name=q0")[0] == []
    for query in ("?page=0", "?page=-1", "?page=x", "?per_page=0", "?per_page=1001", "?page=%d9"):
        assert code(client.get(f"/queues{query}")) == (400, 10207)


def test_a_dead_letter_queue_is_made_on_demand_in_the_same_jurisdiction(client):
    id = queue_id(client, "jobs", jurisdiction="eu")
    result(client.post(f"/queues/{id}/consumers", json={"type": "http_pull", "dead_letter_queue": "dead"}))
    (dead,) = result(client.get("/queues?name=dead"))
    assert dead["jurisdiction"] == "eu"
    other = queue_id(client, "elsewhere", jurisdiction="us")
    assert code(client.post(f"/queues/{other}/consumers", json={"type": "http_pull", "dead_letter_queue": "dead"})) == (400, 100127)
    assert code(client.post(f"/queues/{other}/consumers", json={"type": "http_pull", "dead_letter_queue": "elsewhere"})) == (400, 100127)
    assert code(client.post("/queues", json={"queue_name": "x", "jurisdiction": "moon"})) == (400, 100128)
    assert result(client.get("/queues?name=x")) == []


def test_put_overwrites_and_patch_changes(client):
    id = queue_id(client, "jobs", settings={"delivery_delay": 7, "message_retention_period": 60, "delivery_paused": True})
    kept = result(client.patch(f"/queues/{id}", json={"settings": {"delivery_delay": 8}}))["settings"]
    assert kept == {"delivery_delay": 8, "message_retention_period": 60, "delivery_paused": True}
    put = result(client.put(f"/queues/{id}", json={"queue_name": "jobs", "settings": {"delivery_delay": 9}}))["settings"]
    assert put == {"delivery_delay": 9, "message_retention_period": 345_600, "delivery_paused": False}
    assert code(client.patch(f"/queues/{id}", json={"settings": {"message_retention_period": 59}})) == (400, 100128)
    assert code(client.patch(f"/queues/{id}", json={"queue_name": "No!"})) == (400, 11003)


def test_a_renamed_queue_keeps_everything_and_leaves_its_name_to_others(client):
    dead, id = queue_id(client, "dead"), queue_id(client, "jobs")
    result(client.post(f"/queues/{id}/consumers", json={"type": "http_pull", "dead_letter_queue": "dead", "settings": {"max_retries": 0}}))
    client.post(f"/queues/{id}/messages", json={"body": "x", "content_type": "text"})
    result(client.patch(f"/queues/{dead}", json={"queue_name": "buried"}))
    assert result(client.get(f"/queues/{id}/consumers"))[0]["dead_letter_queue"] == "buried"
    other = queue_id(client, "dead")
    assert code(client.patch(f"/queues/{dead}", json={"queue_name": "dead"})) == (409, 11009)
    pulled = result(client.post(f"/queues/{id}/messages/pull", json={}))["messages"]
    result(client.post(f"/queues/{id}/messages/ack", json={"retries": [{"lease_id": pulled[0]["lease_id"]}]}))
    counts = [result(client.get(f"/queues/{each}/metrics"))["backlog_count"] for each in (id, dead, other)]
    assert counts == [0, 1, 0]


def test_a_dead_letter_queue_is_made_anew_under_a_name_that_another_queue_had(client):
    dead, id = queue_id(client, "dead", jurisdiction="eu"), queue_id(client, "jobs", jurisdiction="eu")
    result(client.patch(f"/queues/{dead}", json={"queue_name": "buried"}))
    result(client.patch(f"/queues/{id}", json={"queue_name": "orders"}))
    for name in ("dead", "jobs"):
        made = result(client.put(f"/queues/{id}/consumers/c", json={"type": "http_pull", "dead_letter_queue": name, "settings": {"max_retries": 0}}))
        assert made["dead_letter_queue"] == name
        client.post(f"/queues/{id}/messages", json={"body": name, "content_type": "text"})
        (message,) = result(client.post(f"/queues/{id}/messages/pull", json={}))["messages"]
        result(client.post(f"/queues/{id}/messages/ack", json={"retries": [{"lease_id": message["lease_id"]}]}))
    rows = {row["queue_name"]: row for row in result(client.get("/queues"))}
    assert {name: result(client.get(f"/queues/{row['queue_id']}/metrics"))["backlog_count"] for name, row in rows.items()} == {
        "buried": 0, "orders": 0, "dead": 1, "jobs": 1,
    }  # fmt: skip
    assert {row["jurisdiction"] for row in rows.values()} == {"eu"}


def test_a_consumer_is_overwritten_by_put_and_made_where_there_is_none(client):
    id = queue_id(client, "jobs")
    path = f"/queues/{id}/consumers/{'c' * 32}"
    assert code(client.get(path)) == (404, 7003)
    made = result(client.put(path, json={"type": "worker", "script_name": "w", "settings": {"batch_size": 20, "max_concurrency": 4}}))
    assert made["consumer_id"] == "c" * 32
    assert (made["script"], made["script_name"], made["dead_letter_queue"]) == ("w", "w", "")
    put = result(client.put(path, json={"type": "worker", "script_name": "w", "settings": {"max_wait_time_ms": 1500}}))
    assert put["settings"] == {
        "batch_size": 10, "max_retries": 3, "retry_delay": 0, "max_wait_time_ms": 1500, "max_concurrency": None,
    }
    other = f"/queues/{id}/consumers/{'d' * 32}"
    assert code(client.put(other, json={"type": "worker", "script_name": "w"})) == (409, 11004)
    assert code(client.delete(other)) == (404, 7003)
    assert result(client.delete(path)) is None
    assert result(client.get(f"/queues/{id}/consumers")) == []


def test_pull_peek_extend_and_preview(client, emu):
    id = pull_queue(client, "jobs")
    for body in ("a", "b", "c"):
        client.post(f"/queues/{id}/messages", json={"body": body, "content_type": "text"})

    def post(path, **body):
        return result(client.post(f"/queues/{id}/messages/{path}", json=body))

    refs = [message["ref"] for message in post("peek")["messages"]]
    assert post("purge", refs=[{"ref": refs[0]}, {"ref": "nope"}])["warnings"].keys() == {"nope"}
    shown = post("preview")["messages"]
    assert [message["body"] for message in shown] == ["b", "c"]
    assert post("preview/ack", acks=[{"lease_id": shown[1]["lease_id"]}])["warnings"] == {}
    (pulled,) = post("pull", visibility_timeout_ms=1000)["messages"]
    assert (pulled["body"], pulled["attempts"], pulled["metadata"]) == ("b", 1, {"CF-Content-Type": "text"})
    extended = post("extend", extend=[{"lease_id": pulled["lease_id"]}, {"lease_id": "x"}], visibility_timeout_ms=5000)
    new = extended["messages"][0]["lease_id"]
    assert new != pulled["lease_id"]
    assert extended["warnings"].keys() == {"x"}
    emu.advance(2)
    assert post("pull")["messages"] == []
    assert post("ack", acks=[{"lease_id": new}, {"lease_id": "gone"}]) == {
        "ackCount": 1, "retryCount": 0, "warnings": {"gone": "the message is no longer in the queue"},
    }


def test_pulls_are_refused_where_they_must_be(client):
    id = queue_id(client, "jobs")
    answer = client.post(f"/queues/{id}/messages/pull", json={})
    assert code(answer) == (405, 0)
    assert answer.json()["errors"][0]["message"] == "messages cannot be pulled unless http_pull mode is enabled"
    client.post(f"/queues/{id}/consumers", json={"type": "http_pull"})
    client.patch(f"/queues/{id}", json={"settings": {"delivery_paused": True}})
    answer = client.post(f"/queues/{id}/messages/pull", json={})
    assert answer.status_code == 409
    assert answer.json()["errors"][0]["message"] == "queue_delivery_paused"
    assert client.post(f"/queues/{id}/messages", json={"body": 1}).status_code == 200
    assert code(client.post(f"/queues/{'0' * 32}/messages", json={"body": 1})) == (404, 10104)
    assert code(client.post("/queues/a-b/messages", json={"body": 1})) == (400, 10107)


def test_purge_removes_delayed_and_leased_messages_and_says_when(client):
    id = pull_queue(client, "jobs")
    assert result(client.get(f"/queues/{id}/purge")) == {"completed": "", "complete": False, "started_at": ""}
    for delay in (0, 60):
        client.post(f"/queues/{id}/messages", json={"body": 1, "delay_seconds": delay})
    client.post(f"/queues/{id}/messages/pull", json={})
    result(client.post(f"/queues/{id}/purge", json={"delete_messages_permanently": True}))
    assert result(client.get(f"/queues/{id}/metrics")) == {"backlog_bytes": 0, "backlog_count": 0, "oldest_message_timestamp_ms": 0}
    assert result(client.get(f"/queues/{id}/purge"))["started_at"] == "2026-01-01T00:00:00.000000Z"


def test_the_free_plan_keeps_a_day():
    free = httpx.Client(transport=Transport(Emulator(plan="free")), base_url="http://emulator/accounts/a")
    id = queue_id(free, "jobs")
    assert result(free.put(f"/queues/{id}", json={"queue_name": "jobs"}))["settings"]["message_retention_period"] == 86_400
    assert code(free.patch(f"/queues/{id}", json={"settings": {"message_retention_period": 3600}})) == (400, 100128)


def test_subscriptions_are_stored_listed_and_go_with_their_queue(client, emu):
    one, other = queue_id(client, "one"), queue_id(client, "other")
    path = "/event_subscriptions/subscriptions"

    def create(name, queue, **change):
        body = {"name": name, "source": {"type": "workersAi.model", "model_name": "m"}, "events": ["batch.queued"]}
        return client.post(path, json=body | {"destination": {"type": "queues.queue", "queue_id": queue}} | change)

    ids = []
    for name, queue in (("a", one), ("b", other), ("c", one)):
        ids.append(result(create(name, queue))["id"])
        emu.advance(1)
    assert [row["name"] for row in result(client.get(path))] == ["c", "b", "a"]
    assert [row["name"] for row in result(client.get(f"{path}?queue_id={one}&order=name&direction=asc"))] == ["a", "c"]
    assert client.get(f"{path}?per_page=1&page=2").json()["result_info"]["total_pages"] == 3
    changed = result(client.patch(f"{path}/{ids[0]}", json={"enabled": False}))
    assert (changed["enabled"], changed["name"], changed["source"]["model_name"]) == (False, "a", "m")
    assert changed["modified_at"] > changed["created_at"]
    assert code(create("d", "0" * 32)) == (404, 11000)
    assert code(create("d", one, source={"type": "moon"})) == (400, 10207)
    client.delete(f"/queues/{one}")
    assert [row["id"] for row in result(client.get(path))] == [ids[1]]
    assert code(client.get(f"{path}/{ids[0]}")) == (404, 7003)


def test_methods_that_a_path_does_not_have_are_refused(client):
    assert code(client.put("/queues")) == (405, 10405)
    assert code(client.get("/nothing")) == (404, 7003)
    assert code(client.get("http://emulator/client/v4/user")) == (404, 7003)
