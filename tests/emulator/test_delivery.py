"""How messages are delivered, one sentence of the rules at a time."""

from __future__ import annotations

import pytest

from emulator import Emulator, Refused
from tests.emulator.helpers import DAY, fates, following, moments, seconds, send, throw, timeline

# --- batching


def test_a_batch_leaves_when_it_is_full(emu, jobs):
    emu.consume("jobs", throw, max_batch_size=3, max_batch_timeout=60, max_retries=0)
    send(emu, "jobs", 1, 2)
    emu.advance(10)
    jobs.send(3)
    emu.advance(0)
    assert moments(emu) == [(10, [1, 2, 3])]


def test_a_batch_leaves_when_its_oldest_message_has_waited_long_enough(emu, jobs):
    emu.consume("jobs", lambda _batch: None, max_batch_size=30, max_batch_timeout=10)
    jobs.send(1)
    emu.advance(9)
    jobs.send(2)
    emu.advance(0.999)
    assert moments(emu) == []
    emu.advance(0.001)
    assert moments(emu) == [(10, [1, 2])]


def test_what_does_not_fit_waits_for_its_own_timeout(emu, jobs):
    emu.consume("jobs", lambda _batch: None, max_batch_size=5, max_batch_timeout=4)
    jobs.send(0)
    emu.advance(3)
    send(emu, "jobs", 1, 2, 3, 4, 5, 6)
    emu.advance(60)
    assert moments(emu) == [(3, [0, 1, 2, 3, 4]), (7, [5, 6])]


@pytest.mark.usefixtures("jobs")
def test_ten_messages_or_five_seconds_unless_told_otherwise(emu):
    emu.consume("jobs", lambda _batch: None)
    send(emu, "jobs", *range(12))
    emu.advance(60)
    assert moments(emu) == [(0, [*range(10)]), (5, [10, 11])]


def test_with_no_timeout_nothing_waits(emu, jobs):
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=0)
    jobs.send(1)
    assert moments(emu) == []
    emu.advance(0)
    assert moments(emu) == [(0, [1])]


@pytest.mark.usefixtures("jobs")
def test_an_empty_queue_never_invokes_its_handler(emu):
    emu.consume("jobs", throw, max_batch_timeout=0)
    emu.advance(30 * DAY)
    assert emu.deliveries == []


def test_delayed_messages_do_not_fill_a_batch_before_their_time(emu, jobs):
    emu.consume("jobs", lambda _batch: None, max_batch_size=2, max_batch_timeout=60)
    jobs.send("now")
    jobs.send("later", delay_seconds=20)
    emu.advance(19)
    assert moments(emu) == []
    emu.advance(1)
    assert moments(emu) == [(20, ["now", "later"])]


def test_order_is_when_a_message_became_ready_and_then_when_it_entered(emu, jobs):
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=0)
    jobs.send("first, ready at 5", delay_seconds=5)
    jobs.send("second, ready at 4", delay_seconds=4)
    jobs.send("third, ready at 5", delay_seconds=5)
    jobs.pause()
    emu.advance(6)
    jobs.resume()
    emu.advance(0)
    assert moments(emu) == [(6, ["second, ready at 4", "first, ready at 5", "third, ready at 5"])]


@pytest.mark.usefixtures("jobs")
def test_a_message_that_returns_stands_behind_those_that_were_ready_at_the_same_moment(emu):
    emu.consume("jobs", following(throw), max_batch_size=2, max_batch_timeout=0)
    send(emu, "jobs", "a", "b", "c")
    emu.advance(0)
    assert timeline(emu) == [(0, ["a", "b"], [1, 1]), (0, ["c", "a"], [1, 2]), (0, ["b"], [2])]


def test_a_retried_message_waits_for_the_batch_timeout_like_a_fresh_one(emu, jobs):
    emu.consume("jobs", following(throw), max_batch_timeout=7)
    jobs.send("a")
    emu.advance(60)
    assert timeline(emu) == [(7, ["a"], [1]), (14, ["a"], [2])]


def test_batches_of_several_queues_at_one_moment_go_in_order_of_name(emu):
    for name in ("b", "c", "a"):
        emu.create_queue(name)
        emu.consume(name, following(throw), max_batch_timeout=3)
        emu.queue(name).send(name)
    emu.advance(3)
    assert moments(emu) == [(3, ["a"]), (3, ["b"]), (3, ["c"])]


def test_one_handler_can_consume_several_queues_and_no_batch_mixes_them(emu):
    seen = []

    def handler(batch):
        seen.append((batch.queue, [m.body for m in batch.messages]))

    for name in ("a", "b"):
        emu.create_queue(name)
        emu.consume(name, handler, max_batch_timeout=0)
        send(emu, name, f"{name}1", f"{name}2")
    emu.advance(0)
    assert seen == [("a", ["a1", "a2"]), ("b", ["b1", "b2"])]


@pytest.mark.usefixtures("jobs")
def test_the_batch_tells_what_remains_in_the_queue_after_it_was_taken(emu):
    seen = []
    emu.consume("jobs", lambda batch: seen.append(batch.metadata.metrics), max_batch_size=2, max_batch_timeout=0)
    send(emu, "jobs", "a", "b", "c")
    emu.advance(0)
    assert [(m.backlogCount, m.backlogBytes) for m in seen] == [(1, 3), (0, 0)]
    assert seen[0].oldestMessageTimestamp == emu.now
    assert seen[1].oldestMessageTimestamp is None


# --- acknowledging


def call(*steps):
    """An act that makes calls such as `ack:0`, `retry:1`, `retry:1@5`, `ackAll`, `retryAll@7` and `throw`."""

    def act(batch):
        for step in steps:
            verb, _, rest = step.partition("@")
            verb, _, place = verb.partition(":")
            options = {"delaySeconds": int(rest)} if rest else {}
            if verb == "throw":
                raise RuntimeError("thrown by the test")
            target = batch.messages[int(place)] if place else batch
            getattr(target, verb)(**options)

    return act


NOW, NEVER = 0, None


@pytest.mark.parametrize(
    ("calls", "again"),
    [
        ((), [NEVER, NEVER]),
        (("throw",), [30, 30]),
        (("ack:0", "throw"), [NEVER, 30]),
        (("ack:0", "retry:0"), [NEVER, NEVER]),
        (("retry:0", "ack:0"), [30, NEVER]),
        (("retry:0@4", "ack:0", "throw"), [4, 30]),
        (("retry:0@4", "retry:0@9"), [9, NEVER]),
        (("retry:0@4", "retry:0"), [30, NEVER]),
        (("retry:0@0",), [NOW, NEVER]),
        (("ackAll",), [NEVER, NEVER]),
        (("ackAll", "throw"), [NEVER, NEVER]),
        (("ackAll", "retryAll"), [NEVER, NEVER]),
        (("ackAll", "retry:0"), [NEVER, NEVER]),
        (("retryAll",), [30, 30]),
        (("retryAll@7",), [7, 7]),
        (("retryAll@0",), [NOW, NOW]),
        (("retryAll@7", "retryAll"), [7, 7]),
        (("retryAll@7", "retryAll@8"), [8, 8]),
        (("retryAll", "ackAll"), [30, 30]),
        (("retryAll", "ack:0"), [30, 30]),
        (("ack:0", "retryAll"), [NEVER, 30]),
        (("retryAll@7", "retry:0@4"), [4, 7]),
        (("retryAll@7", "retry:0"), [7, 7]),
        (("retry:0@4", "retryAll@7"), [4, 7]),
        (("retry:0", "ackAll"), [30, NEVER]),
        (("retry:0@2", "ackAll", "throw"), [2, NEVER]),
        (("retryAll@7", "throw"), [7, 7]),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, tuple) else None,
)
@pytest.mark.usefixtures("jobs")
def test_what_comes_of_calls(emu, calls, again):
    emu.consume("jobs", following(call(*calls)), max_batch_timeout=0, max_batch_size=2, retry_delay=30)
    send(emu, "jobs", 0, 1)
    emu.run_until_idle()
    later = {body: at for at, bodies, attempts in timeline(emu) for body, n in zip(bodies, attempts, strict=True) if n == 2}
    assert [later.get(0), later.get(1)] == again
    assert fates(emu) == [(0, "acked"), (1, "acked")]


@pytest.mark.parametrize(
    ("calls", "word"),
    [(("retryAll", "ack:0"), "ack"), (("ackAll", "retry:0"), "retry"), (("ack:0", "retry:0"), "retry"), (("retry:0", "ack:0"), "ack"),
     (("ackAll", "retryAll"), "retryAll"), (("retryAll", "ackAll"), "ackAll")],
)  # fmt: skip
def test_a_call_that_comes_too_late_is_a_warning(emu, jobs, calls, word):
    emu.consume("jobs", following(call(*calls)), max_batch_timeout=0)
    jobs.send(1)
    emu.run_until_idle()
    warnings = [text for event in emu.events for text in getattr(event, "warnings", ())]
    assert len(warnings) == 1
    assert f"{word}()" in warnings[0]
    assert "no effect" in warnings[0]


@pytest.mark.usefixtures("jobs")
def test_the_eighth_of_ten_fails_and_all_ten_come_back(emu):
    emu.consume("jobs", following(throw))
    send(emu, "jobs", *range(10))
    emu.run_until_idle()
    assert timeline(emu) == [(0, [*range(10)], [1] * 10), (0, [*range(10)], [2] * 10)]


# --- attempts and dead letters


@pytest.mark.parametrize("retries", [0, 1, 3, 100])
def test_so_many_retries_make_one_more_delivery(emu, jobs, retries):
    emu.consume("jobs", throw, max_batch_timeout=0, max_retries=retries)
    jobs.send(1)
    emu.advance(0)
    assert [attempts for _, _, attempts in timeline(emu)] == [[n] for n in range(1, retries + 2)]
    assert fates(emu) == [(1, "dropped")]


def test_three_retries_unless_told_otherwise(emu, jobs):
    emu.consume("jobs", throw, max_batch_timeout=0)
    jobs.send(1)
    emu.advance(0)
    assert len(emu.deliveries) == 4


def test_the_last_failure_dead_letters_at_once_whatever_delay_was_asked_for(emu, jobs):
    emu.consume("jobs", lambda batch: batch.retryAll(delaySeconds=500), max_batch_timeout=0, max_retries=0, dead_letter_queue="dead")
    jobs.send(1)
    emu.advance(0)
    assert emu.queue("dead").bodies() == [1]


def test_a_dead_letter_keeps_id_timestamp_body_and_content_type_and_starts_anew(emu, jobs):
    seen = []
    emu.consume("jobs", throw, max_batch_timeout=0, max_retries=1, retry_delay=30, dead_letter_queue="dead")
    emu.consume("dead", lambda batch: seen.extend(batch.messages), max_batch_timeout=0)
    jobs.send("text", content_type="text")
    sent = emu.now
    emu.advance(60)
    assert [(m.body, m.attempts, m.timestamp) for m in seen] == [("text", 1, sent)]
    assert len({m_id for d in emu.deliveries for m_id, _, _ in d.messages}) == 1
    assert fates(emu) == [("text", "dead-lettered"), ("text", "acked")]


def test_the_dead_letter_queues_own_delay_applies(emu, jobs):
    emu.create_queue("dead", delivery_delay=40)
    emu.consume("jobs", throw, max_batch_timeout=0, max_retries=0, dead_letter_queue="dead")
    emu.consume("dead", lambda _batch: None, max_batch_timeout=0)
    jobs.send(1)
    emu.advance(100)
    assert moments(emu, "dead") == [(40, [1])]


@pytest.mark.usefixtures("jobs")
def test_a_dead_letter_queue_that_is_missing_comes_into_being(emu):
    emu.consume("jobs", throw, dead_letter_queue="dead")
    assert emu.queue("dead").bodies() == []


def test_a_chain_of_dead_letter_queues_ends_with_a_drop(emu, jobs):
    emu.create_queue("second")
    emu.consume("jobs", throw, max_batch_timeout=0, max_retries=0, dead_letter_queue="second")
    emu.consume("second", throw, max_batch_timeout=0, max_retries=0, dead_letter_queue="third")
    emu.consume("third", throw, max_batch_timeout=0, max_retries=0)
    jobs.send(1)
    emu.advance(0)
    assert [(f.queue, f.state) for f in emu.fates] == [("jobs", "dead-lettered"), ("second", "dead-lettered"), ("third", "dropped")]


def test_several_queues_may_share_a_dead_letter_queue(emu):
    for name in ("a", "b"):
        emu.create_queue(name).send(name)
        emu.consume(name, throw, max_batch_timeout=0, max_retries=0, dead_letter_queue="dead")
    emu.advance(0)
    assert emu.queue("dead").bodies() == ["a", "b"]


@pytest.mark.usefixtures("jobs")
def test_a_queue_cannot_be_its_own_dead_letter_queue(emu):
    with pytest.raises(Refused, match="cannot be itself"):
        emu.consume("jobs", throw, dead_letter_queue="jobs")


def test_a_dead_letter_queue_must_be_in_the_same_jurisdiction(emu):
    emu.create_queue("jobs", jurisdiction="eu")
    emu.create_queue("dead")
    with pytest.raises(Refused, match="jurisdiction"):
        emu.consume("jobs", throw, dead_letter_queue="dead")
    emu.consume("jobs", throw, dead_letter_queue="made")
    assert emu.queue("made").settings.jurisdiction == "eu"


def test_the_first_retry_after_a_swallowed_error_never_comes(emu, jobs):
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=0, dead_letter_queue="dead")
    jobs.send(1)
    emu.run_until_idle()
    assert fates(emu) == [(1, "acked")]


# --- delays


def test_a_messages_delay_beats_the_batchs_which_beats_the_queues(emu):
    queue = emu.create_queue("jobs", delivery_delay=30)
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=0)
    queue.send_batch([{"body": "own", "delaySeconds": 5}, {"body": "batch"}, {"body": "none", "delaySeconds": 0}], delay_seconds=10)
    queue.send("queue")
    queue.send("zero", delay_seconds=0)
    emu.advance(100)
    assert moments(emu) == [(0, ["none", "zero"]), (5, ["own"]), (10, ["batch"]), (30, ["queue"])]


def test_a_thrown_error_uses_the_consumers_retry_delay(emu, jobs):
    emu.consume("jobs", following(throw, throw), max_batch_timeout=0, retry_delay=20)
    jobs.send(1)
    emu.advance(100)
    assert timeline(emu) == [(0, [1], [1]), (20, [1], [2]), (40, [1], [3])]


# --- retention


@pytest.mark.parametrize(("plan", "lives"), [("paid", 4 * DAY), ("free", DAY)])
def test_a_message_lives_as_long_as_the_plan_says(plan, lives):
    emu = Emulator(plan=plan)
    emu.create_queue("jobs").send(1)
    emu.advance(lives - 0.000001)
    assert fates(emu) == [(1, "waiting")]
    emu.advance(0.000001)
    assert fates(emu) == [(1, "expired")]
    assert emu.queue("jobs").bodies() == []
    emu.close()


@pytest.mark.parametrize("retention", [60, 1_209_600])
def test_a_message_lives_as_long_as_its_queue_says(emu, retention):
    emu.create_queue("jobs", message_retention_period=retention).send(1)
    emu.advance(retention - 1)
    assert fates(emu) == [(1, "waiting")]
    emu.advance(1)
    assert fates(emu) == [(1, "expired")]


def test_an_expired_message_is_not_dead_lettered_even_if_retries_remain(emu):
    emu.create_queue("jobs", message_retention_period=60).send(1)
    emu.consume("jobs", throw, max_batch_timeout=0, retry_delay=59, max_retries=100, dead_letter_queue="dead")
    emu.advance(1000)
    assert timeline(emu) == [(0, [1], [1]), (59, [1], [2])]
    assert fates(emu) == [(1, "expired")]


def test_a_delay_beyond_the_retention_is_accepted_and_the_message_expires_unseen(emu):
    queue = emu.create_queue("jobs", message_retention_period=60)
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=0)
    queue.send("as long", delay_seconds=60)
    queue.send("shorter", delay_seconds=59)
    emu.advance(100)
    assert moments(emu) == [(59, ["shorter"])]
    assert fates(emu) == [("as long", "expired"), ("shorter", "acked")]


def test_an_expiry_comes_before_a_batch_of_the_same_moment(emu):
    queue = emu.create_queue("jobs", message_retention_period=60)
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=60)
    queue.send(1)
    emu.advance(60)
    assert emu.deliveries == []
    assert fates(emu) == [(1, "expired")]


@pytest.mark.parametrize(("consumed", "expected"), [(False, "expired"), (True, "waiting")])
def test_a_dead_letter_lives_four_days_at_most_where_nobody_consumes(emu, consumed, expected):
    emu.create_queue("jobs").send(1)
    emu.create_queue("dead", message_retention_period=1_209_600).send("sent to it")
    emu.consume("jobs", throw, max_batch_timeout=0, max_retries=0, dead_letter_queue="dead")
    if consumed:
        emu.consume("dead", type="http_pull")
    emu.advance(4 * DAY)
    assert fates(emu, "dead") == [("sent to it", "waiting"), (1, expected)]
    emu.advance(10 * DAY)
    assert {state for _, state in fates(emu, "dead")} == {"expired"}


def test_a_dead_letters_retention_starts_when_it_arrives(emu):
    emu.create_queue("jobs", message_retention_period=600).send(1)
    emu.create_queue("dead", message_retention_period=600)
    emu.consume("jobs", throw, max_batch_timeout=0, max_retries=1, retry_delay=500, dead_letter_queue="dead")
    emu.advance(1099)
    assert fates(emu, "dead") == [(1, "waiting")]
    emu.advance(1)
    assert fates(emu, "dead") == [(1, "expired")]


def test_a_dead_letter_queue_never_keeps_longer_than_its_own_retention(emu):
    emu.create_queue("jobs").send(1)
    emu.create_queue("dead", message_retention_period=60)
    emu.consume("jobs", throw, max_batch_timeout=0, max_retries=0, dead_letter_queue="dead")
    emu.advance(60)
    assert fates(emu, "dead") == [(1, "expired")]


# --- pause, purge, no consumer


def test_a_paused_queue_stores_delivers_nothing_and_still_expires(emu):
    queue = emu.create_queue("jobs", message_retention_period=60)
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=0)
    queue.pause()
    queue.send("old")
    emu.advance(59)
    queue.send("young")
    assert emu.deliveries == []
    emu.advance(1)
    queue.resume()
    emu.advance(0)
    assert moments(emu) == [(60, ["young"])]
    assert fates(emu) == [("old", "expired"), ("young", "acked")]


def test_the_time_that_a_message_waited_while_paused_counts(emu, jobs):
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=10)
    jobs.pause()
    jobs.send(1)
    emu.advance(8)
    jobs.resume()
    emu.advance(2)
    assert moments(emu) == [(10, [1])]


def test_a_pull_from_a_paused_queue_is_refused(emu, jobs):
    emu.consume("jobs", type="http_pull")
    jobs.send(1)
    jobs.pause()
    with pytest.raises(Refused) as refused:
        jobs.pull()
    assert (refused.value.status, refused.value.name) == (409, "queue_delivery_paused")
    jobs.resume()
    assert len(jobs.pull()) == 1


def test_a_pull_without_a_pull_consumer_is_refused(emu, jobs):
    with pytest.raises(Refused, match="http_pull mode is enabled"):
        jobs.pull()
    emu.consume("jobs", throw)
    with pytest.raises(Refused, match="http_pull mode is enabled"):
        jobs.pull()


@pytest.mark.usefixtures("jobs")
def test_a_queue_takes_one_consumer(emu):
    emu.consume("jobs", type="http_pull")
    with pytest.raises(Refused) as refused:
        emu.consume("jobs", throw)
    assert refused.value.code == 11004


def test_a_queue_without_a_consumer_keeps_what_it_is_sent(emu, jobs):
    jobs.send(1)
    emu.advance(100)
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=60)
    emu.advance(0)
    assert moments(emu) == [(100, [1])]


def test_a_purge_removes_what_is_stored_delayed_and_leased(emu, jobs):
    emu.consume("jobs", type="http_pull", dead_letter_queue="dead")
    jobs.send("leased")
    lease = jobs.pull()[0].lease_id
    jobs.send("stored")
    jobs.send("delayed", delay_seconds=100)
    jobs.purge()
    assert fates(emu) == [("leased", "purged"), ("stored", "purged"), ("delayed", "purged")]
    assert jobs.bodies() == []
    jobs.ack(acks=[lease])
    emu.advance(1000)
    assert {state for _, state in fates(emu)} == {"purged"}
    assert emu.queue("dead").bodies() == []


# --- leases


@pytest.fixture
def pulled(emu, jobs):
    """`jobs` with a pull consumer of one retry and a dead-letter queue."""
    emu.consume("jobs", type="http_pull", max_retries=1, retry_delay=15, dead_letter_queue="dead")
    return jobs


def test_a_lapsed_lease_makes_the_message_visible_again(emu, pulled):
    pulled.send(1)
    assert [m.attempts for m in pulled.pull(visibility_timeout_ms=10_000)] == [1]
    emu.advance(9.999)
    assert pulled.pull() == []
    emu.advance(0.001)
    assert [m.attempts for m in pulled.pull()] == [2]


def test_a_lease_lasts_thirty_seconds_unless_told_otherwise(emu, pulled):
    pulled.send(1)
    pulled.pull()
    emu.advance(29.999)
    assert pulled.pull() == []
    emu.advance(0.001)
    assert len(pulled.pull()) == 1


def test_a_lapse_is_a_failed_attempt(emu, pulled):
    pulled.send(1)
    for _ in range(2):
        assert len(pulled.pull()) == 1
        emu.advance(30)
    assert fates(emu) == [(1, "dead-lettered"), (1, "waiting")]
    assert emu.queue("dead").bodies() == [1]


def test_several_clients_get_different_messages_in_the_order_of_push(emu, pulled):
    pulled.send("later", delay_seconds=2)
    send(emu, "jobs", *range(8))
    emu.advance(2)
    first, second = pulled.pull(), pulled.pull(batch_size=100)
    assert [m.value for m in first] == [0, 1, 2, 3, 4]
    assert [m.value for m in second] == [5, 6, 7, "later"]
    assert len({m.lease_id for m in [*first, *second]}) == 9


def test_a_late_ack_is_accepted(emu, pulled):
    pulled.send(1)
    lease = pulled.pull()[0].lease_id
    emu.advance(31)
    pulled.ack(acks=[lease])
    assert fates(emu) == [(1, "acked")]


def test_a_late_ack_is_accepted_while_somebody_else_holds_the_message(emu, pulled):
    pulled.send(1)
    first = pulled.pull()[0].lease_id
    emu.advance(30)
    second = pulled.pull()[0].lease_id
    assert first != second
    pulled.ack(acks=[first])
    assert fates(emu) == [(1, "acked")]
    warned = pulled.ack(acks=[second])
    assert second in dict(warned.warnings)
    assert fates(emu) == [(1, "acked")]


def test_a_late_retry_is_ignored_with_a_warning(emu, pulled):
    pulled.send(1)
    first = pulled.pull()[0].lease_id
    emu.advance(30)
    pulled.pull()
    warned = pulled.ack(retries=[(first, 500)])
    assert first in dict(warned.warnings)
    emu.advance(30)
    assert fates(emu)[0] == (1, "dead-lettered")


def test_a_retry_under_a_lease_waits_for_its_delay_or_the_consumers(emu, pulled):
    send(emu, "jobs", "own", "consumers", "none")
    own, consumers, none = (m.lease_id for m in pulled.pull())
    pulled.ack(retries=[(own, 4), consumers, (none, 0)])
    assert [m.value for m in pulled.pull()] == ["none"]
    emu.advance(4)
    assert [m.value for m in pulled.pull()] == ["own"]
    emu.advance(11)
    assert [m.value for m in pulled.pull()] == ["consumers"]


def test_a_leased_message_may_be_acknowledged_after_its_retention(emu):
    queue = emu.create_queue("jobs", message_retention_period=60)
    emu.consume("jobs", type="http_pull")
    send(emu, "jobs", "acked", "lapses")
    leases = [m.lease_id for m in queue.pull(visibility_timeout_ms=90_000)]
    emu.advance(80)
    queue.ack(acks=leases[:1])
    assert fates(emu) == [("acked", "acked"), ("lapses", "waiting")]
    emu.advance(10)
    assert fates(emu) == [("acked", "acked"), ("lapses", "expired")]


def test_an_extended_lease_lasts_from_now_without_another_attempt(emu, pulled):
    pulled.send(1)
    lease = pulled.pull(visibility_timeout_ms=10_000)[0].lease_id
    emu.advance(9)
    renewed = pulled.extend([lease], visibility_timeout_ms=20_000)
    assert len(renewed) == 1
    emu.advance(19)
    assert pulled.pull() == []
    emu.advance(1)
    assert [m.attempts for m in pulled.pull()] == [2]


def test_a_peek_takes_no_lease_and_counts_no_attempt(emu, pulled):
    send(emu, "jobs", "a", "b")
    assert [m.value for m in pulled.peek()] == ["a", "b"]
    assert [(m.value, m.attempts) for m in pulled.pull()] == [("a", 1), ("b", 1)]


def test_a_pull_shows_text_plain_and_the_rest_in_base64(emu, pulled):
    pulled.send({"n": 1})
    pulled.send("plain", content_type="text")
    pulled.send(b"\x00\x01\xff", content_type="bytes")
    got = pulled.pull()
    assert [m.body for m in got] == ["eyJuIjoxfQ==", "plain", "AAH/"]
    assert [m.value for m in got] == [{"n": 1}, "plain", b"\x00\x01\xff"]
    assert [m.metadata["CF-Content-Type"] for m in got] == ["json", "text", "bytes"]
    assert {m.timestamp_ms for m in got} == {round(emu.now.timestamp() * 1000)}


# --- time


def test_everything_due_up_to_and_including_the_new_moment_happens(emu, jobs):
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=5)
    jobs.send(1)
    emu.advance(5)
    assert moments(emu) == [(5, [1])]


def test_what_is_sent_after_a_step_is_delivered_by_the_next_at_the_same_moment(emu, jobs):
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=0)
    emu.advance(5)
    jobs.send(1)
    assert emu.deliveries == []
    emu.advance(0)
    assert moments(emu) == [(5, [1])]


def test_run_until_idle_delivers_everything_and_stops_there(emu, jobs):
    emu.consume("jobs", following(throw, throw), max_batch_timeout=0, retry_delay=3600)
    emu.create_queue("stored").send("kept")
    jobs.send(1)
    emu.run_until_idle()
    assert timeline(emu) == [(0, [1], [1]), (3600, [1], [2]), (7200, [1], [3])]
    assert emu.queue("stored").bodies() == ["kept"]
    assert seconds(emu) == 7200


def test_time_cannot_go_back(emu):
    with pytest.raises(ValueError, match="back"):
        emu.advance(-1)


def test_a_cycle_of_dead_letter_queues_does_not_hang_the_clock(emu, jobs, monkeypatch):
    monkeypatch.setattr(emu.timeline, "batches_min", 1000)
    emu.create_queue("other")
    emu.consume("jobs", throw, max_batch_timeout=0, max_retries=0, dead_letter_queue="other")
    emu.consume("other", throw, max_batch_timeout=0, max_retries=0, dead_letter_queue="jobs")
    jobs.send(1)
    with pytest.raises(RuntimeError, match="without end at one moment"):
        emu.advance(0)
