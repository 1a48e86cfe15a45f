"""The age of the oldest message is exact, whatever way it came and whoever holds it."""

from __future__ import annotations

from emulator import Emulator


def test_the_oldest_dead_letter_counts_from_when_it_was_sent():
    emu = Emulator()
    jobs = emu.create_queue("jobs")
    sent = {}
    seen = []
    emu.consume("jobs", lambda batch: batch.retryAll(), max_batch_timeout=0, max_retries=0, dead_letter_queue="dead")
    for body, delay in (("a", 50), ("b", 10), ("c", 0)):
        jobs.send(body, delay_seconds=delay)
        sent[body] = emu.now
        emu.advance(1)
    dead = emu.queue("dead")
    assert dead.metrics().oldest_message_timestamp == sent["c"]
    emu.advance(20)
    assert dead.metrics().oldest_message_timestamp == sent["b"]
    emu.advance(60)
    assert dead.metrics().oldest_message_timestamp == sent["a"]

    def handler(batch):
        left = batch.metadata.metrics
        seen.append((batch.messages[0].body, left.backlogCount, left.oldestMessageTimestamp))

    emu.consume("dead", handler, max_batch_size=1)
    emu.run_until_idle()
    assert seen == [("c", 2, sent["a"]), ("b", 1, sent["a"]), ("a", 0, None)]


def test_a_message_in_somebodys_hands_is_still_the_oldest():
    emu = Emulator()
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", type="http_pull")
    jobs.send("old")
    first = emu.now
    emu.advance(5)
    jobs.send("young")
    (held,) = jobs.pull(1)
    assert jobs.metrics().oldest_message_timestamp == first
    jobs.ack(acks=[held.lease_id])
    assert jobs.metrics()["oldest_message_timestamp"] == emu.now
    assert jobs.metrics().oldest_message_timestamp_ms == int(emu.now.timestamp() * 1000)
