"""Each limit below, at and above; strict refuses with Cloudflare's code, relaxed takes it."""

from __future__ import annotations

import pytest

from cfq_lint.facts import limits as cloudflare
from emulator import Emulator, Limits, Refused
from emulator.core.limits import RELAXED, STRICT, limits_of

ONE_MESSAGE = [
    ("message of 127,999", 10204, lambda q: q.send("x" * 127_999, content_type="text"), True),
    ("message of 128,000", 10204, lambda q: q.send("x" * 128_000, content_type="text"), True),
    ("message of 128,001", 10204, lambda q: q.send("x" * 128_001, content_type="text"), False),
    ("message in a batch of 128,001", 10204, lambda q: q.send_batch([{"body": "x" * 128_001, "contentType": "text"}]), False),
    ("99 messages", 10206, lambda q: q.send_batch([{"body": 1}] * 99), True),
    ("100 messages", 10206, lambda q: q.send_batch([{"body": 1}] * 100), True),
    ("101 messages", 10206, lambda q: q.send_batch([{"body": 1}] * 101), False),
    ("batch of 256,000", 10205, lambda q: q.send_batch([{"body": "x" * 64_000, "contentType": "text"}] * 4), True),
    (
        "batch of 256,001", 10205,
        lambda q: q.send_batch([{"body": "x" * 64_000, "contentType": "text"}] * 4 + [{"body": "x", "contentType": "text"}]), False,
    ),
    ("delay of 86,399", 10203, lambda q: q.send(1, delay_seconds=86_399), True),
    ("delay of 86,400", 10203, lambda q: q.send(1, delay_seconds=86_400), True),
    ("delay of 86,401", 10203, lambda q: q.send(1, delay_seconds=86_401), False),
    ("delay of 0", 10203, lambda q: q.send(1, delay_seconds=0), True),
    ("batch delay of 86,400", 10202, lambda q: q.send_batch([{"body": 1}], delay_seconds=86_400), True),
    ("batch delay of 86,401", 10202, lambda q: q.send_batch([{"body": 1}], delay_seconds=86_401), False),
    ("delay in a batch of 86,401", 10203, lambda q: q.send_batch([{"body": 1, "delaySeconds": 86_401}]), False),
    ("pull of 100", 10206, lambda q: q.pull(100), True),
    ("pull of 101", 10206, lambda q: q.pull(101), False),
    ("lease of 12 hours", 10207, lambda q: q.pull(1, visibility_timeout_ms=43_200_000), True),
    ("lease of more", 10207, lambda q: q.pull(1, visibility_timeout_ms=43_200_001), False),
]  # fmt: skip


@pytest.fixture
def strict():
    with Emulator() as emulator:
        emulator.create_queue("jobs")
        emulator.consume("jobs", type="http_pull")
        yield emulator.queue("jobs")


@pytest.fixture
def relaxed():
    with Emulator(limits="relaxed") as emulator:
        emulator.create_queue("jobs")
        emulator.consume("jobs", type="http_pull")
        yield emulator.queue("jobs")


@pytest.mark.parametrize(("code", "act", "taken"), [row[1:] for row in ONE_MESSAGE], ids=[row[0] for row in ONE_MESSAGE])
def test_a_call_below_at_and_above_a_limit(strict, relaxed, code, act, taken):
    act(relaxed)
    if taken:
        act(strict)
    else:
        before = len(strict)
        with pytest.raises(Refused) as refused:
            act(strict)
        assert refused.value.code == code
        assert len(strict) == before


@pytest.mark.parametrize("act", [lambda q: q.send(1, delay_seconds=-1), lambda q: q.send_batch([{"body": 1}], delay_seconds=-1)])
def test_a_negative_delay_is_refused_in_either_mode(strict, relaxed, act):
    for queue in (strict, relaxed):
        with pytest.raises(Refused):
            act(queue)


SETTINGS = [
    ("max_batch_size", [1, 100], [0, 101]),
    ("max_batch_timeout", [0, 0.5, 60], [-1, 60.1, 61]),
    ("max_retries", [0, 100], [-1, 101]),
    ("retry_delay", [0, 86_400], [-1, 86_401]),
    ("max_concurrency", [None, 1, 250], [0, 251]),
    ("visibility_timeout_ms", [0, 43_200_000], [-1, 43_200_001]),
]


@pytest.mark.parametrize("seconds", [float("inf"), float("nan")])
def test_a_time_that_is_no_number_is_refused_in_either_mode(seconds):
    """No deadline can be reckoned with it, and no journal keeps it."""
    for limits in ("strict", "relaxed"):
        emu = Emulator(limits=limits)
        emu.create_queue("jobs")
        with pytest.raises(Refused, match="max_batch_timeout"):
            emu.consume("jobs", lambda _batch: None, max_batch_timeout=seconds)


@pytest.mark.parametrize(("name", "good", "bad"), SETTINGS, ids=[row[0] for row in SETTINGS])
def test_a_consumers_settings_below_at_and_above_their_limits(name, good, bad):
    emu = Emulator()
    for place, value in enumerate(good):
        emu.create_queue(f"good-{place}")
        emu.consume(f"good-{place}", print, **{name: value})
    emu.create_queue("bad")
    for value in [*bad, "1", True]:
        with pytest.raises(Refused) as refused:
            emu.consume("bad", print, **{name: value})
        assert refused.value.code == 100127
    assert emu.queue("bad").consumer is None


def test_a_queues_settings_below_at_and_above_their_limits():
    emu = Emulator()
    for place, settings in enumerate(
        [{"delivery_delay": 0}, {"delivery_delay": 86_400}, {"message_retention_period": 60}, {"message_retention_period": 1_209_600}]
    ):
        emu.create_queue(f"q{place}", **settings)
    for settings in (
        {"delivery_delay": -1}, {"delivery_delay": 86_401}, {"message_retention_period": 59}, {"message_retention_period": 1_209_601},
        {"jurisdiction": "mars"}, {"delivery_delay": 1.5}, {"message_retention_period": True},
    ):  # fmt: skip
        with pytest.raises(Refused) as refused:
            emu.create_queue("bad", **settings)
        assert refused.value.code == 100128
        if "jurisdiction" not in settings:
            with pytest.raises(Refused):
                emu.update_queue("q0", **settings)
    assert emu.queues == ["q0", "q1", "q2", "q3"]


def test_the_free_plan_keeps_messages_a_day_and_cannot_be_told_otherwise():
    emu = Emulator(plan="free")
    assert emu.create_queue("jobs").settings.message_retention_period == 86_400
    with pytest.raises(Refused) as refused:
        emu.create_queue("other", message_retention_period=345_600)
    assert refused.value.code == 100128


def test_five_thousand_messages_in_any_second():
    emu = Emulator()
    jobs = emu.create_queue("jobs")
    for _ in range(50):
        jobs.send_batch([{"body": 1}] * 100)
    emu.advance(0.999999)
    with pytest.raises(Refused) as refused:
        jobs.send(1)
    assert (refused.value.code, refused.value.status) == (10250, 429)
    emu.advance(0.000001)
    jobs.send(1)
    assert len(jobs) == 5_001
    emu.create_queue("other").send(1)


def test_a_backlog_that_is_full_takes_nothing_until_something_leaves():
    emu = Emulator(limits=STRICT._replace(backlog_size_bytes=10))
    jobs = emu.create_queue("jobs")
    jobs.send("123456789", content_type="text")
    jobs.send("0", content_type="text")
    with pytest.raises(Refused) as refused:
        jobs.send("1", content_type="text")
    assert (refused.value.code, refused.value.status) == (10251, 429)
    jobs.purge()
    jobs.send("1", content_type="text")


def test_no_more_queues_than_an_account_may_have():
    emu = Emulator(limits=STRICT._replace(queues=2))
    emu.create_queue("a")
    emu.create_queue("b")
    with pytest.raises(Refused):
        emu.create_queue("c")
    assert STRICT.queues == 10_000


@pytest.mark.parametrize("name", ["a", "a-b", "0", "a" * 63])
def test_good_names(name):
    assert Emulator().create_queue(name).name == name


@pytest.mark.parametrize("name", ["", "-a", "a-", "A", "a_b", "a b", "a" * 64, "ä", "a\n", None, 5])
def test_bad_names(name):
    with pytest.raises(Refused) as refused:
        Emulator(limits="relaxed").create_queue(name)
    assert refused.value.code == 11003


def test_the_modes_by_name():
    assert limits_of("strict") is STRICT
    assert limits_of("relaxed") is RELAXED
    assert limits_of(Limits(queues=1)).queues == 1
    assert STRICT.message_size_bytes == cloudflare.MESSAGE_SIZE_BYTES
    with pytest.raises(ValueError, match="'strict', 'relaxed'"):
        limits_of("loose")
