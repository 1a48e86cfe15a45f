"""Batches made by hand: Cloudflare's own example of a unit test (workers-sdk, vitest-plugin-examples/queues), case by case."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from emulator import Emulator, create_batch, result_of
from emulator.testing.hand_made import RetryBatch, RetryMessage

JOBS = [
    {"id": "a" * 32, "timestamp": datetime.fromtimestamp(1, UTC), "attempts": 1, "body": {"key": "/1", "value": "one"}},
    {"id": "b" * 32, "timestamp": datetime.fromtimestamp(2, UTC), "attempts": 2, "body": {"key": "/2", "value": "two"}},
]
FIRST, SECOND = (each["id"] for each in JOBS)
NO, YES = RetryBatch(retry=False, delay_seconds=None), RetryBatch(retry=True, delay_seconds=None)


def each(do):
    return lambda batch: [do(message) for message in batch.messages]


CASES = {
    "acknowledges each": (each(lambda m: m.ack()), (False, NO, [FIRST, SECOND], [])),
    "says nothing": (lambda _batch: None, (False, NO, [], [])),
    "retries each": (each(lambda m: m.retry()), (False, NO, [], [RetryMessage(FIRST, None), RetryMessage(SECOND, None)])),
    "retries one after a delay": (
        lambda batch: (batch.messages[0].ack(), batch.messages[1].retry({"delaySeconds": 5})),
        (False, NO, [FIRST], [RetryMessage(SECOND, 5)]),
    ),
    "ackAll": (lambda batch: batch.ackAll(), (True, NO, [], [])),
    "retryAll": (lambda batch: batch.retryAll(), (False, YES, [], [])),
    "retryAll after a delay": (
        lambda batch: batch.retryAll(delaySeconds=60), (False, RetryBatch(retry=True, delay_seconds=60), [], [])
    ),
    "ack, then retryAll": (lambda batch: (batch.messages[1].ack(), batch.retryAll()), (False, YES, [SECOND], [])),
    "retry, then ackAll": (
        lambda batch: (batch.messages[0].retry(), batch.messages[1].retry(delaySeconds=2), batch.ackAll()),
        (True, NO, [], [RetryMessage(FIRST, None), RetryMessage(SECOND, 2)]),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("handler", "said"), CASES.values(), ids=CASES)
def test_what_a_handler_says_is_its_result(handler, said):
    batch = create_batch("queue", JOBS)
    handler(batch)
    result = result_of(batch)
    assert (result.ack_all, result.retry_batch, result.explicit_acks, result.retry_messages) == said
    assert (result.outcome, result.warnings) == ("ok", [])
    assert result_of(batch) == result, "asking settles nothing"


@pytest.mark.parametrize(
    ("calls", "left"),
    [
        (lambda m, _batch: (m.ack(), m.retry()), ([FIRST], [])),
        (lambda m, _batch: (m.retry(), m.ack()), ([], [RetryMessage(FIRST, None)])),
        (lambda m, batch: (batch.retryAll(), m.ack()), ([], [])),
        (lambda m, batch: (batch.ackAll(), m.retry()), ([], [])),
        (lambda _m, batch: (batch.ackAll(), batch.retryAll()), ([], [])),
    ],
)
def test_a_call_that_has_no_effect_is_a_warning(calls, left):
    batch = create_batch("queue", JOBS[:1])
    calls(batch.messages[0], batch)
    result = result_of(batch)
    assert (result.explicit_acks, result.retry_messages) == left
    assert len(result.warnings) == 1
    assert "has no effect" in result.warnings[0]


def test_a_batch_has_what_it_was_made_of_and_copies_of_the_bodies():
    body = {"deep": [1, 2]}
    batch = create_batch("queue", [{"id": "x", "timestamp": 1_500, "attempts": 7, "body": body}])
    body["deep"].append(3)
    [message] = batch.messages
    assert (batch.queue, message.id, message.attempts, message.body) == ("queue", "x", 7, {"deep": [1, 2]})
    assert message.timestamp == datetime.fromtimestamp(1.5, UTC)
    assert (batch.metadata.metrics.backlog_count, batch.metadata.metrics.backlog_bytes) == (0, 0)
    message.body["deep"].clear()
    assert body == {"deep": [1, 2, 3]}


GOOD = JOBS[0]
WRONG = [
    ("no message", {}, "create_batch.. takes a list"), (["a"], None, "a message is a mapping"),
    ([{key: GOOD[key] for key in GOOD if key != "timestamp"}], None, "message 1 has no 'timestamp'"),
    ([GOOD, {key: GOOD[key] for key in GOOD if key != "attempts"}], None, "message 2 has no 'attempts'"),
    ([GOOD | {"timestamp": None}], None, "'timestamp' is a datetime or milliseconds since 1970, not NoneType"),
    ([GOOD | {"attempts": "1"}], None, "'attempts' counts deliveries from 1, and is '1'"),
    ([GOOD | {"attempts": 0}], None, "'attempts' counts"), ([GOOD | {"serializedBody": b""}], None, "message 1 has 'serializedBody'"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "_", "text"), WRONG)
def test_what_is_no_message_is_refused(messages, _, text):
    with pytest.raises(TypeError, match=text):
        create_batch("queue", messages)


def test_only_a_batch_made_by_hand_has_such_a_result():
    emu = Emulator()
    emu.create_queue("jobs").send(1)
    errors = []

    @emu.consume("jobs", max_batch_timeout=0)
    def handle(batch):
        with pytest.raises(TypeError, match=r"result_of\(\) takes a batch made by create_batch\(\), not MessageBatch") as error:
            result_of(batch)
        errors.append(error)

    emu.run_until_idle()
    assert len(errors) == 1


EXAMPLE = """
from workers import WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def queue(self, batch, env=None, ctx=None):
        for message in batch.messages:
            await self.env.QUEUE_RESULTS.put(message.body.key, message.body.value.upper())
            message.ack()
"""


def test_the_example_s_worker_writes_what_it_was_given(tmp_path):
    (tmp_path / "worker.py").write_text(EXAMPLE)
    emu = Emulator()
    worker = emu.worker(tmp_path / "worker.py", kv=["QUEUE_RESULTS"])
    batch = create_batch("queue", JOBS)
    asyncio.run(worker.queue(batch, worker.env))
    assert result_of(batch).explicit_acks == [FIRST, SECOND]
    store = worker.env.QUEUE_RESULTS
    assert asyncio.run(_both(store)) == ["ONE", "TWO"]


async def _both(store):
    return [await store.get("/1"), await store.get("/2")]
