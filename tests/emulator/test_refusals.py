"""Every limit of Cloudflare's below, at and above; what is refused has stored nothing; relaxed limits refuse nothing."""

from __future__ import annotations

import pytest

import emulator
from emulator import Emulator, Refused
from tests.emulator.helpers import fates, send, throw


def refusal(call, *args, **options):
    """The refusal that a call meets; None where it is accepted."""
    try:
        call(*args, **options)
    except Refused as refused:
        return refused
    return None


SENDS = [
    ("message of 128,000 bytes", lambda q: q.send("x" * 127_998), None),
    ("message of 128,001 bytes", lambda q: q.send("x" * 127_999), (10204, "MessageSizeOutOfBounds", 400)),
    ("text of 128,000 bytes", lambda q: q.send("x" * 128_000, content_type="text"), None),
    ("text of 128,001 bytes", lambda q: q.send("x" * 128_001, content_type="text"), (10204, "MessageSizeOutOfBounds", 400)),
    ("text of 64,001 two-byte characters", lambda q: q.send("é" * 64_001, content_type="text"), (10204, "MessageSizeOutOfBounds", 400)),
    ("bytes of 128,001", lambda q: q.send(b"x" * 128_001, content_type="bytes"), (10204, "MessageSizeOutOfBounds", 400)),
    ("100 messages", lambda q: q.send_batch([{"body": 1}] * 100), None),
    ("101 messages", lambda q: q.send_batch([{"body": 1}] * 101), (10206, "BatchCountOutOfBounds", 400)),
    ("256,000 bytes", lambda q: q.send_batch([{"body": "x" * 127_998}] * 2), None),
    ("256,001 bytes", lambda q: q.send_batch([{"body": "x" * 127_998}] * 2 + [{"body": 1}]), (10205, "BatchSizeOutOfBounds", 400)),
    ("one of two too large", lambda q: q.send_batch([{"body": 1}, {"body": "x" * 128_000}]), (10204, "MessageSizeOutOfBounds", 400)),
    ("no delay", lambda q: q.send(1, delay_seconds=0), None),
    ("a day's delay", lambda q: q.send(1, delay_seconds=86_400), None),
    ("more than a day's delay", lambda q: q.send(1, delay_seconds=86_401), (10203, "MessageMetadataInvalid", 400)),
    ("a negative delay", lambda q: q.send(1, delay_seconds=-1), (10203, "MessageMetadataInvalid", 400)),
    ("a message's delay in a batch", lambda q: q.send_batch([{"body": 1, "delaySeconds": 86_401}]), (10203, "MessageMetadataInvalid", 400)),
    ("a batch without delay", lambda q: q.send_batch([{"body": 1}], delay_seconds=0), None),
    ("a batch with a day's delay", lambda q: q.send_batch([{"body": 1}], delay_seconds=86_400), None),
    ("a batch with more", lambda q: q.send_batch([{"body": 1}], delay_seconds=86_401), (10202, "BatchDelayInvalid", 400)),
]


@pytest.mark.parametrize(("call", "expected"), [s[1:] for s in SENDS], ids=[s[0] for s in SENDS])
@pytest.mark.parametrize("consumed", [False, True], ids=["stored", "consumed"])
def test_sends_are_checked_whether_or_not_somebody_consumes(emu, jobs, call, expected, consumed):
    if consumed:
        emu.consume("jobs", lambda _batch: None)
    before = list(emu.events)
    refused = refusal(call, jobs)
    assert (refused and (refused.code, refused.name, refused.status)) == expected
    if expected:
        assert str(expected[0]) in str(refused)
        assert list(emu.events) == before
        assert jobs.bodies() == []
    else:
        assert len(jobs.bodies()) == len(fates(emu))


@pytest.mark.parametrize(("call", "expected"), [s[1:] for s in SENDS], ids=[s[0] for s in SENDS])
def test_relaxed_limits_refuse_only_what_makes_no_sense(call, expected):
    emu = Emulator(limits="relaxed")
    refused = refusal(call, emu.create_queue("jobs"))
    assert refused is None or refused.code == 10203
    assert (refused is not None) == (expected is not None and call is SENDS[14][1])
    emu.close()


def test_five_thousand_messages_a_second_and_no_more(emu, jobs):
    for _ in range(50):
        jobs.send_batch([{"body": 1}] * 100)
    refused = refusal(jobs.send, 1)
    assert (refused.code, refused.name, refused.status) == (10250, "QueueOverloaded", 429)
    assert "Too Many Requests" in str(refused)
    emu.create_queue("other").send(1)
    emu.advance(0.999)
    assert refusal(jobs.send, 1) is not None
    emu.advance(0.001)
    assert refusal(jobs.send, 1) is None


def test_a_full_backlog_refuses_until_something_is_gone():
    from emulator.core.limits import STRICT

    emu = Emulator(limits=STRICT._replace(backlog_size_bytes=100))
    queue = emu.create_queue("jobs")
    queue.send("x" * 98)
    refused = refusal(queue.send, 1)
    assert (refused.code, refused.name, refused.status) == (10251, "QueueStorageLimitExceeded", 429)
    assert "Storage Limit Exceeded" in str(refused)
    queue.purge()
    assert refusal(queue.send, 1) is None
    emu.close()


@pytest.mark.parametrize(
    ("name", "fine"),
    [("a", True), ("0", True), ("a-b", True), ("x" * 63, True), ("x" * 64, False), ("", False), ("-a", False), ("a-", False),
     ("A", False), ("a_b", False), ("a b", False), ("ä", False), ("a\n", False)],
)  # fmt: skip
def test_names_of_queues(emu, name, fine):
    refused = refusal(emu.create_queue, name)
    assert (refused is None) == fine
    assert fine or refused.code == 11003


@pytest.mark.usefixtures("jobs")
def test_a_name_that_is_taken_is_refused(emu):
    assert refusal(emu.create_queue, "jobs").code == 11009


def test_an_account_holds_ten_thousand_queues(emu):
    for n in range(10_000):
        emu.create_queue(f"q{n}")
    assert refusal(emu.create_queue, "one-more") is not None


@pytest.mark.parametrize(
    ("settings", "fine"),
    [({"delivery_delay": 86_400}, True), ({"delivery_delay": 86_401}, False), ({"delivery_delay": -1}, False),
     ({"delivery_delay": 1.5}, False), ({"message_retention_period": 60}, True), ({"message_retention_period": 59}, False),
     ({"message_retention_period": 1_209_600}, True), ({"message_retention_period": 1_209_601}, False),
     ({"jurisdiction": "eu"}, True), ({"jurisdiction": "us"}, True), ({"jurisdiction": "fedramp"}, True),
     ({"jurisdiction": "mars"}, False)],
)  # fmt: skip
def test_settings_of_queues(emu, settings, fine):
    refused = refusal(emu.create_queue, "jobs", **settings)
    assert (refused is None) == fine
    assert fine or refused.code == 100128


def test_the_free_plans_retention_cannot_be_chosen():
    emu = Emulator(plan="free")
    assert refusal(emu.create_queue, "jobs", message_retention_period=3600).code == 100128
    assert emu.create_queue("jobs").settings.message_retention_period == 86_400
    emu.close()


@pytest.mark.parametrize(
    ("settings", "fine"),
    [({"max_batch_size": 1}, True), ({"max_batch_size": 0}, False), ({"max_batch_size": 100}, True), ({"max_batch_size": 101}, False),
     ({"max_batch_timeout": 0}, True), ({"max_batch_timeout": 60}, True), ({"max_batch_timeout": 61}, False),
     ({"max_batch_timeout": -1}, False), ({"max_retries": 0}, True), ({"max_retries": 100}, True), ({"max_retries": 101}, False),
     ({"max_retries": -1}, False), ({"max_concurrency": 1}, True), ({"max_concurrency": 250}, True), ({"max_concurrency": 251}, False),
     ({"max_concurrency": 0}, False), ({"retry_delay": 0}, True), ({"retry_delay": 86_400}, True), ({"retry_delay": 86_401}, False)],
)  # fmt: skip
@pytest.mark.usefixtures("jobs")
def test_settings_of_consumers(emu, settings, fine):
    refused = refusal(emu.consume, "jobs", throw, **settings)
    assert (refused is None) == fine
    assert fine or refused.code == 100127
    assert refusal(emu.consume, "jobs", throw) is None or fine


@pytest.mark.parametrize(
    ("options", "fine"),
    [({"batch_size": 100}, True), ({"batch_size": 101}, False), ({"visibility_timeout_ms": 43_200_000}, True),
     ({"visibility_timeout_ms": 43_200_001}, False), ({"visibility_timeout_ms": -1}, False)],
)  # fmt: skip
def test_options_of_pulls(emu, jobs, options, fine):
    emu.consume("jobs", type="http_pull")
    send(emu, "jobs", 1)
    refused = refusal(jobs.pull, **options)
    assert (refused is None) == fine
    assert len(jobs.pull()) == (0 if fine else 1)


def test_a_retry_with_an_impossible_delay_under_a_lease_changes_nothing(emu, jobs):
    emu.consume("jobs", type="http_pull")
    send(emu, "jobs", "a", "b")
    first, second = (m.lease_id for m in jobs.pull())
    assert refusal(jobs.ack, acks=[first], retries=[(second, 86_401)]) is not None
    assert jobs.bodies() == ["a", "b"]
    emu.advance(30)
    assert [m.attempts for m in jobs.pull()] == [2, 2]


def test_a_queue_that_is_not_there_is_refused(emu):
    refused = refusal(emu.queue, "nowhere")
    assert refused.code in (10104, 11000)
    assert refused.status == 404


def test_refusals_are_one_family_with_code_name_and_status():
    kinds = [k for k in vars(emulator.core.refusals).values() if isinstance(k, type) and issubclass(k, Refused) and k is not Refused]
    assert len(kinds) >= 15
    for kind in kinds:
        refused = kind("why")
        assert isinstance(refused.code, int)
        assert refused.name
        assert 400 <= refused.status < 600
        assert "why" in str(refused)
        assert str(refused) == (f"why ({refused.code})" if refused.code else "why")
