"""Cloudflare's own tests of queues hold for the emulator, but for the departures that are stated (`retold.DEPARTURES`).

miniflare's (index, delay, retry, cross-process), workerd's (queue-test, -metadata, -metrics, -metrics-sentinel, -producer-metadata,
-error-codes, -resizable-arraybuffer) and the Python SDK's. What is particular to their programs (declaring a binding in three ways,
the dev registry, V8's serialisation as a fuzzer sees it) has no counterpart and is left out.
"""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from emulator import Emulator, Faults, Refused, create_batch, result_of
from emulator.testing.hand_made import RetryMessage
from tests.emulator.endpoints import OK, Endpoint
from tests.emulator.helpers import fates
from tests.emulator.retold import CLONED, DEPARTURES, MINIFLARE, OCTETS, Player, leaves, refusal_of
from tests.emulator.test_v8 import same

COMPARED: list[int] = []
"""How many values were compared, test by test."""


def compare(got, wanted):
    """One expectation, counted by its single values."""
    assert got == wanted
    COMPARED.append(leaves(wanted))


@pytest.mark.parametrize("test", MINIFLARE, ids=[f"{test.source}: {test.name}" for test in MINIFLARE])
def test_miniflare_s(test):
    player = Player(test)
    for deed, *given in test.steps:
        if deed == "expect":
            question, wanted = given
            compare(getattr(player, question)(), wanted)
        else:
            player.do(deed, *given)


# --- miniflare: bodies, answers, refusals


@pytest.mark.parametrize("kind", CLONED)
def test_all_structured_cloneable_types_arrive(kind):
    emu = Emulator()
    came = []
    emu.create_queue("queue").send({"name": kind, "value": CLONED[kind]}, content_type="v8")
    emu.consume("queue", lambda batch: came.extend(m.body for m in batch.messages), max_batch_size=100, max_batch_timeout=0, max_retries=0)
    emu.advance(1)
    [body] = came
    compare(body["name"], kind)
    wanted = bytes(CLONED[kind]) if isinstance(CLONED[kind], memoryview) else CLONED[kind]
    compare(same(body["value"], wanted), True)
    if kind == "Cyclic":
        compare(body["value"]["b"] is body["value"], True)


def test_content_types():
    emu = Emulator()
    emu.create_queue("my-queue")
    when, came = datetime.fromtimestamp(1_600_000_000, UTC), []
    emu.env.MY_QUEUE.send("msg1", {"contentType": "text"})
    emu.env.MY_QUEUE.send([{"message": "msg2"}], {"contentType": "json"})
    emu.env.MY_QUEUE.send(OCTETS, {"contentType": "bytes"})
    emu.env.MY_QUEUE.send(when, {"contentType": "v8"})
    emu.consume("my-queue", lambda batch: came.extend((batch.queue, m.body) for m in batch.messages))
    emu.advance(5)
    compare(came, [("my-queue", body) for body in ("msg1", [{"message": "msg2"}], OCTETS, when)])


@pytest.mark.parametrize("call", ["send", "sendBatch"])
def test_the_answer_to_a_send_has_the_backlog(call):
    emu = Emulator(start="1970-01-01T00:16:40Z")
    emu.create_queue("queue")
    emu.consume("queue", lambda _batch: None)
    for count in (1, 2):
        rows = [{"body": f"msg{n}"} for n in (1, 2)]
        answer = (emu.env.QUEUE.send("msg") if call == "send" else emu.env.QUEUE.sendBatch(rows)).value
        metrics = answer.metadata.metrics
        compare(metrics.backlogCount, count if call == "send" else 2 * count)  # departure: counted after it was stored
        compare(type(metrics.backlogBytes), int)
        compare(metrics.oldestMessageTimestamp, datetime.fromtimestamp(1_000, UTC))


def test_the_size_of_a_message_is_checked():
    emu = Emulator()
    emu.create_queue("my-queue")
    text = refusal_of(lambda: emu.env.MY_QUEUE.send(bytes(128_001), contentType="bytes"))
    compare(text, "message length of 128001 bytes exceeds limit of 128000 (10204)")  # departure: the service's code
    compare(emu.queue("my-queue").bodies(), [])


def test_a_queue_cannot_be_its_own_dead_letter_queue():
    emu = Emulator()
    emu.create_queue("bad")
    with pytest.raises(Refused) as refused:
        emu.consume("bad", print, dead_letter_queue="bad")
    compare('Dead letter queue for queue "bad" cannot be itself' in str(refused.value), True)


def test_sixty_seconds_are_the_longest_batch_timeout():
    emu = Emulator()
    emu.create_queue("queue")
    compare("max_batch_timeout 61 is not within 0..60" in refusal_of(lambda: emu.consume("queue", print, max_batch_timeout=61)), True)
    emu.consume("queue", print, max_batch_timeout=60)
    compare(emu.queue("queue").consumer["max_batch_timeout"], 60)


def test_strange_names_are_refused():
    compare("(11003)" in refusal_of(lambda: Emulator().create_queue("my/ Queue")), True)  # departure


# --- miniflare: a consumer in another process


def test_a_consumer_elsewhere_gets_messages_and_batches():
    with Endpoint(lambda _batch: OK) as endpoint:
        emu = Emulator()
        emu.create_queue("my-queue")
        emu.consume("my-queue", endpoint.url, max_batch_size=1, max_batch_timeout=0)
        emu.env.MY_QUEUE.send({"hello": "world", "n": 42})
        emu.env.MY_QUEUE.sendBatch([{"body": each} for each in "abc"])
        emu.run_until_idle()
        compare([m["body"] for batch in endpoint.batches for m in batch["messages"]], [{"hello": "world", "n": 42}, "a", "b", "c"])
        emu.close()


def test_what_is_sent_before_there_is_a_consumer_arrives_when_it_comes():
    with Endpoint(lambda _batch: OK) as endpoint:
        emu = Emulator()
        emu.create_queue("my-queue")
        compare(len(emu.env.MY_QUEUE.send({"phase": "before-consumer"}).value.ids), 1)
        emu.advance(10)
        compare(endpoint.batches, [])
        emu.consume("my-queue", endpoint.url, max_batch_size=1, max_batch_timeout=0)
        emu.env.MY_QUEUE.send({"phase": "after-consumer"})
        emu.run_until_idle()
        phases = [m["body"]["phase"] for batch in endpoint.batches for m in batch["messages"]]
        compare(phases, ["before-consumer", "after-consumer"])  # departure: nothing is dropped
        emu.close()


def test_dead_letters_reach_a_consumer_elsewhere():
    def fail(_batch):
        raise RuntimeError("consumer always fails")

    with Endpoint(lambda _batch: OK) as endpoint:
        emu = Emulator()
        emu.create_queue("my-queue")
        emu.create_queue("my-dlq")
        emu.consume("my-dlq", endpoint.url, max_batch_size=1, max_batch_timeout=0)
        emu.consume("my-queue", fail, max_batch_size=1, max_batch_timeout=0, max_retries=0, dead_letter_queue="my-dlq")
        emu.env.MY_QUEUE.send({"dead": "letter"})
        emu.run_until_idle()
        compare([(batch["queue"], batch["messages"][0]["body"]) for batch in endpoint.batches], [("my-dlq", {"dead": "letter"})])
        compare(fates(emu), [({"dead": "letter"}, "dead-lettered"), ({"dead": "letter"}, "acked")])
        emu.close()


# --- workerd


def test_workerd_s_producer_stores_each_format_and_delay():
    emu = Emulator()
    emu.create_queue("queue")
    send, send_batch = emu.env.QUEUE.send, emu.env.QUEUE.sendBatch
    send("abc", {"contentType": "text", "delaySeconds": 2})
    send(memoryview(b"\x01\x00\x02\x00\x03\x00"), {"contentType": "bytes"})
    send({"a": 1}, {"contentType": "json"})
    send({1: "value"}, {"contentType": "v8"})
    rows = [
        {"body": "def", "contentType": "text"}, {"body": bytes([4, 5, 6]), "contentType": "bytes"},
        {"body": [7, 8, {"b": 9}], "contentType": "json"}, {"body": {"value"}, "contentType": "v8", "delaySeconds": 1},
    ]  # fmt: skip
    send_batch(rows, {"delaySeconds": 2})
    held = emu.queue("queue").messages()
    compare([(m.content_type, m.body, (m.ready_at - emu.now).total_seconds()) for m in held], [
        ("text", "abc", 2), ("bytes", b"\x01\x00\x02\x00\x03\x00", 0), ("json", {"a": 1}, 0), ("v8", {1: "value"}, 0),
        ("text", "def", 2), ("bytes", b"\x04\x05\x06", 2), ("json", [7, 8, {"b": 9}], 2), ("v8", {"value"}, 1),
    ])  # fmt: skip


def test_workerd_s_consumer_gets_a_batch_and_its_calls_are_the_result():
    now = datetime(2026, 1, 1, tzinfo=UTC)
    bodies = ["ghi", bytes([7, 8, 9]), {"c": {"d": 10}}, now, {1: "value"}]
    rows = [{"id": f"#{n}", "timestamp": now, "body": body, "attempts": n + 1} for n, body in enumerate(bodies)]
    batch = create_batch("test-queue", rows)
    compare(batch.queue, "test-queue")
    compare([(m.id, m.body, m.attempts) for m in batch.messages], [(f"#{n}", body, n + 1) for n, body in enumerate(bodies)])
    compare(batch.messages[3].body, batch.messages[3].timestamp)
    batch.messages[2].retry()
    batch.messages[3].retry({"delaySeconds": 2})
    batch.ackAll()
    result = result_of(batch)
    compare((result.outcome, result.retry_batch.retry, result.ack_all), ("ok", False, True))
    compare(result.retry_messages, [RetryMessage("#2", None), RetryMessage("#3", 2)])
    compare(result.explicit_acks, [])
    for wrong in ({"id": "#0", "timestamp": now, "attempts": 1}, {**rows[0], "serializedBody": b""}):
        with pytest.raises(TypeError, match="each message has id, timestamp, attempts, body"):
            create_batch("test-queue", [wrong])
        COMPARED.append(1)


def test_workerd_s_batch_has_metadata():
    [alone] = [create_batch("test-queue", [{"id": "1", "timestamp": 0, "body": "world", "attempts": 1}]).metadata.metrics]
    compare((alone.backlogCount, alone.backlogBytes, alone.oldestMessageTimestamp), (0, 0, None))
    emu, seen = Emulator(start="1970-01-01T00:16:40Z"), []
    emu.create_queue("queue").send_batch([{"body": "x" * 20, "contentType": "text"}] * 100)
    emu.consume("queue", lambda batch: seen.append(batch.metadata.metrics), max_batch_size=1, max_batch_timeout=0)
    emu.advance(0)
    first = seen[0]
    compare((first.backlogCount, first.backlogBytes), (99, 1_980))
    compare(first.oldestMessageTimestamp, datetime.fromtimestamp(1_000, UTC))


@pytest.mark.parametrize("of", ["metrics", "send", "sendBatch"])
@pytest.mark.parametrize("backlog", [0, 100])
def test_workerd_s_metrics_of_a_producer(of, backlog):
    emu = Emulator(start="1970-01-01T00:16:40Z")
    queue = emu.create_queue("queue")
    if backlog:
        queue.send_batch([{"body": "x" * 20, "contentType": "text"}] * backlog)
    if of == "metrics":
        metrics = emu.env.QUEUE.metrics().value
    else:
        body = {"body": "abc", "contentType": "text"}
        answer = emu.env.QUEUE.send("abc", contentType="text") if of == "send" else emu.env.QUEUE.sendBatch([body])
        metrics = answer.value.metadata.metrics
    more = of != "metrics"
    compare((metrics.backlogCount, metrics.backlogBytes), (backlog + more, 20 * backlog + 3 * more))
    compare(metrics.oldestMessageTimestamp, datetime.fromtimestamp(1_000, UTC) if backlog or more else None)  # absent, and not 1970


@pytest.fixture
def bound(tmp_path):
    """A producer's binding, with error codes or without, that is refused by the service."""

    def make(flag, faults):
        content = {
            "name": "w", "main": "a.ts", "compatibility_date": "2025-01-01", "compatibility_flags": [flag] if flag else [],
            "queues": {"producers": [{"binding": "QUEUE", "queue": "queue"}]},
        }  # fmt: skip
        (tmp_path / "wrangler.json").write_text(json.dumps(content))
        return Emulator.from_wrangler(tmp_path / "wrangler.json", faults=faults)

    return make


@pytest.mark.parametrize("call", ["send", "sendBatch"])
@pytest.mark.parametrize(
    ("flag", "faults", "text"),
    [
        ("queue_expose_error_codes", Faults(refused_sends=1.0), "Too Many Requests (10250)"),
        ("queue_expose_error_codes", Faults(lost_replies=1.0), "Unknown Internal Error (15000)"),
        (None, Faults(refused_sends=1.0), "Queue {} failed: Too Many Requests"),
        (None, Faults(lost_replies=1.0), "Queue {} failed: Internal Server Error"),
    ],
)
def test_workerd_s_error_codes(bound, call, flag, faults, text):
    queue = bound(flag, faults).env.QUEUE
    said = refusal_of(lambda: queue.send("x", contentType="text") if call == "send" else queue.sendBatch([{"body": "x"}]))
    compare(said, text.format(call))


@pytest.mark.parametrize("flag", ["queue_expose_error_codes", None])
def test_workerd_s_metrics_always_say_the_code(bound, flag):
    emu = bound(flag, Faults())
    emu.delete_queue("queue")
    compare("(11000)" in refusal_of(emu.env.QUEUE.metrics), True)


def test_workerd_s_send_batch_leaves_the_caller_s_buffer_alone():
    emu = Emulator()
    emu.create_queue("queue")
    buffer = bytearray(b"\xaa" * 64)

    def rows():
        yield {"body": bytes(buffer), "contentType": "bytes"}
        buffer.clear()  # as the hostile toJSON() of the test does
        yield {"body": {"poisoned": True}, "contentType": "json"}

    emu.env.QUEUE.sendBatch(rows())
    compare(emu.queue("queue").bodies(), [b"\xaa" * 64, {"poisoned": True}])


# --- the Python SDK

SDK = """
import asyncio
from workers import WorkerEntrypoint

RECEIVED_MESSAGES = []

class Default(WorkerEntrypoint):
    async def queue(self, batch, env, ctx):
        for message in batch.messages:
            RECEIVED_MESSAGES.append({"id": message.id, "body": message.body, "attempts": message.attempts})
            message.ack()

    async def everything(self):
        q = self.env.TEST_QUEUE
        await asyncio.gather(
            *(q.send(body) for body in BODIES), q.send("text message", contentType="text"),
            q.sendBatch([{"body": f"batch {n}"} for n in (1, 2, 3)]),
            q.sendBatch([{"body": "text msg", "contentType": "text"}], delaySeconds=0),
        )

BODIES = ["hello queue", {"key": "value", "number": 42}, 123, None, True, [1, 2, 3], "", {"outer": {"inner": "deep"}, "list": [1, 2]}]
"""


def test_the_python_sdk_s_bodies_arrive(tmp_path):
    (tmp_path / "worker.py").write_text(SDK)
    emu = Emulator()
    emu.create_queue("test-queue")
    worker = emu.worker(tmp_path / "worker.py")
    emu.consume("test-queue", worker)
    emu.run_until_idle()
    asyncio.run(worker.call("everything"))
    emu.advance(10)
    received = worker.module.RECEIVED_MESSAGES
    wanted = [*worker.module.BODIES, "text message", "batch 1", "batch 2", "batch 3", "text msg"]
    compare([message["body"] for message in received], wanted)
    compare([message["attempts"] for message in received], [1] * 13)
    compare([type(message["id"]) for message in received], [str] * 13)
    compare(type(received[4]["body"]), bool)
    compare((received[1]["body"]["number"], received[7]["body"]["outer"]["inner"], received[7]["body"]["list"]), (42, "deep", [1, 2]))


def test_nothing_of_the_retold_tests_gets_lost_and_every_departure_is_stated():
    """467 single values are compared in all, 239 of them in the data of miniflare's tests; theirs have about 270 assertions."""
    planned = sum(leaves(step[2]) for test in MINIFLARE for step in test.steps if step[0] == "expect")
    assert planned == 239
    page = (Path(__file__).parents[2] / "docs" / "emulator" / "fidelity.md").read_text(encoding="utf-8")
    assert [row for row in DEPARTURES if f"| {row} |" not in page] == []
    assert len(DEPARTURES) == 6
