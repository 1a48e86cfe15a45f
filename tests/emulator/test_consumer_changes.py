"""A consumer's settings are changed, and dead letters are sent again."""

from __future__ import annotations

import pytest

from emulator import Emulator, Refused
from tests.emulator.helpers import fates, timeline


def fail(_batch):
    raise RuntimeError("thrown by the test")


@pytest.fixture
def emu():
    emulator = Emulator()
    emulator.create_queue("jobs")
    yield emulator
    emulator.close()


def test_other_settings_hold_from_the_next_batch_on_and_the_handler_stays(emu):
    emu.consume("jobs", lambda batch: batch.retryAll(), max_retries=1, max_batch_timeout=0, max_batch_size=2)
    emu.queue("jobs").send(1)
    emu.update_consumer("jobs", max_retries=2, retry_delay=60)
    emu.run_until_idle()
    assert timeline(emu) == [(0, [1], [1]), (60, [1], [2]), (120, [1], [3])]
    assert emu.queue("jobs").consumer["max_batch_size"] == 2
    emu.update_consumer("jobs", dead_letter_queue="dead", max_concurrency=3)
    assert emu.queues == ["dead", "jobs"]
    emu.update_consumer("jobs", dead_letter_queue="", max_concurrency=None)
    assert (emu.queue("jobs").consumer["dead_letter_queue"], emu.queue("jobs").consumer["max_concurrency"]) == (None, None)


def test_a_batch_that_is_out_ends_under_the_settings_with_which_it_left(emu):
    def handle(_batch):
        emu.update_consumer("jobs", max_retries=0)
        raise RuntimeError("thrown by the test")

    emu.consume("jobs", handle, max_retries=5, max_batch_timeout=0)
    emu.queue("jobs").send(1)
    emu.run_until_idle()
    assert [attempts for _, _, attempts in timeline(emu)] == [[1], [2]]


def test_a_pull_consumer_changes_too(emu):
    emu.consume("jobs", type="http_pull")
    emu.update_consumer("jobs", visibility_timeout_ms=1_000)
    emu.queue("jobs").send(1)
    emu.queue("jobs").pull()
    emu.advance(1)
    assert emu.queue("jobs").messages()[0].state == "ready"


def test_what_cannot_be_changed_is_refused(emu):
    with pytest.raises(ValueError, match="'jobs' has no consumer to change"):
        emu.update_consumer("jobs", max_retries=1)
    with pytest.raises(Refused) as refused:
        emu.update_consumer("nothing", max_retries=1)
    assert refused.value.code == 11000
    emu.consume("jobs", fail)
    with pytest.raises(Refused) as refused:
        emu.update_consumer("jobs", max_retries=101)
    assert refused.value.code == 100127
    assert emu.queue("jobs").consumer["max_retries"] == 3


def test_a_redriven_message_starts_anew_and_nothing_counts_as_purged(emu):
    emu.consume("jobs", fail, max_retries=1, dead_letter_queue="dead", max_batch_timeout=0)
    [id] = emu.queue("jobs").send({"n": 1}).ids
    emu.run_until_idle()
    emu.advance(100)
    done = emu.redrive("dead", to="jobs")
    assert (done.moved, done.left) == (1, 0)
    assert [line.what.split(":")[0] for line in emu.trace(id)] == [
        "sent", "delivered", "retried", "delivered", "dead-lettered", "arrived from jobs", "redriven to jobs", "redriven from dead"
    ]  # fmt: skip
    [held] = emu.queue("jobs").messages()
    assert (held.id, held.body, held.attempts, held.timestamp) == (id, {"n": 1}, 0, emu.now)
    assert (emu.report()["dead"].redriven, emu.report().total.purged) == (1, 0)
    emu.run_until_idle()
    assert [attempts for _, _, attempts in timeline(emu)] == [[1], [2], [1], [2]]
    assert fates(emu)[:3] == [({"n": 1}, "dead-lettered"), ({"n": 1}, "redriven"), ({"n": 1}, "dead-lettered")]


def test_each_goes_back_to_its_own_queue_and_what_is_not_a_dead_letter_stays(emu):
    emu.create_queue("mails")
    for name in ("jobs", "mails"):
        emu.consume(name, fail, max_retries=0, dead_letter_queue="dead", max_batch_timeout=0)
        emu.queue(name).send(name)
    emu.run_until_idle()
    emu.queue("dead").send("by hand")
    done = emu.redrive("dead")
    assert (done.moved, emu.queue("jobs").bodies(), emu.queue("mails").bodies()) == (2, ["jobs"], ["mails"])
    assert emu.queue("dead").bodies() == ["by hand"]
    assert emu.redrive("dead", to="jobs").moved == 1


def test_what_cannot_be_redriven_is_refused_and_what_was_moved_is_moved(emu):
    for given in (("nothing", "jobs"), ("jobs", "nothing")):
        with pytest.raises(Refused) as refused:
            emu.redrive(*given)
        assert refused.value.code == 11000
    with pytest.raises(ValueError, match="are there already"):
        emu.redrive("jobs", to="jobs")
    emu.create_queue("many")
    for _ in range(51):
        emu.queue("many").send_batch([{"body": 1}] * 100)
        emu.advance(0.1)
    with pytest.raises(Refused) as refused:
        emu.redrive("many", to="jobs")
    assert (refused.value.code, len(emu.queue("jobs")), len(emu.queue("many"))) == (10250, 5_000, 100)
