"""What the three documents say of the queue itself, each as a run on the emulator, a finding of the linter or a line of the docs."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest

from cfq_lint import lint_text
from cfq_lint.facts import limits
from emulator import Emulator, Faults, Refused
from emulator.engine.ledger import message_states
from emulator.toolkit import Consumer, MemoryKV, OnceKV, OnceSQL, course, settle
from tests.emulator.toolkit import test_examples as examples
from tests.emulator.toolkit.support import Batch, Message, account, clock_of, database, run, states

DOCS = Path(__file__).parents[3] / "docs" / "emulator"
DAY = 86_400


def text_of(name="consumers.md"):
    """The text of a page."""
    return (DOCS / name).read_text(encoding="utf-8")


def page(name="consumers.md"):
    """The text of a page, on one line."""
    return " ".join(text_of(name).split())


def fail(_batch):
    raise RuntimeError("thrown by the test")


def jobs(emu, handler, count=1, **settings):
    queue = emu.create_queue("jobs")
    emu.consume("jobs", handler, **{"max_batch_timeout": 0, **settings})
    queue.send_batch([{"body": n} for n in range(count)])
    emu.run_until_idle()
    return [[body for _, body, _ in d.messages] for d in emu.deliveries]


def findings(consumers, **more):
    config = {"name": "w", "main": "w.py", "compatibility_date": "2026-06-01", "queues": {"consumers": consumers}, **more}
    return {finding.code for finding in lint_text(json.dumps(config), path="wrangler.jsonc").findings}


# --- retries


def test_the_default_is_three_retries_and_a_hundred_are_the_most():
    with account() as emu:
        assert len(jobs(emu, fail)) == 1 + 3
        assert emu.queue("jobs").consumer["max_retries"] == 3
        emu.create_queue("other")
        with pytest.raises(Refused):
            emu.consume("other", fail, max_retries=101)
        emu.consume("other", fail, max_retries=100)


def test_a_handler_that_throws_or_takes_too_long_is_retried_one_that_swallows_is_not():
    async def slow(_batch):
        await asyncio.sleep(16 * 60)

    def swallow(_batch):
        try:
            fail(_batch)
        except RuntimeError:
            return

    for handler, attempts in ((fail, 2), (slow, 2), (swallow, 1)):
        with account() as emu:
            assert len(jobs(emu, handler, max_retries=1)) == attempts


def test_exhausted_is_deleted_or_dead_lettered():
    for target, state in ((None, "dropped"), ("dead", "dead-lettered")):
        with account() as emu:
            jobs(emu, fail, dead_letter_queue=target)
            assert states(emu, "jobs") == [state]


def test_retries_without_end_end_with_the_queues_count():
    with account() as emu:
        jobs(emu, lambda batch: batch.retryAll(), max_retries=5)
        assert len(emu.deliveries) == 6


def test_an_immediate_retry_fails_again_and_a_delayed_one_does_not():
    def attempts(delay):
        with account() as emu:
            start = emu.now

            def handler(batch):
                if (emu.now - start).total_seconds() < 20:
                    batch.retryAll(delaySeconds=delay)

            jobs(emu, handler, dead_letter_queue="dead")
            return len(emu.deliveries), states(emu, "jobs")

    assert attempts(0) == (4, ["dead-lettered"])
    assert attempts(30) == (2, ["acked"])


def test_each_retry_is_a_billed_read():
    for retries, reads in ((3, 4), (100, 101)):
        with account() as emu:
            jobs(emu, fail, max_retries=retries, dead_letter_queue="dead")
            report = emu.report()
            assert report.operations["jobs"].reads == reads
            assert report.operations["dead"] == (1, 0, 0)
            assert json.loads(report.to_json())["operations"]["jobs"]["reads"] == reads


def test_operations_count_started_64_kb():
    with account() as emu:
        emu.create_queue("jobs").send("x" * 65_000, content_type="text")
        emu.consume("jobs", lambda _batch: None)
        emu.run_until_idle()
        assert emu.report().operations["jobs"] == (2, 2, 2)
        assert emu.report().operations["jobs"].total == 6


def test_delays_are_for_messages_batches_and_queues_and_zero_beats_the_default():
    with account() as emu:
        queue = emu.create_queue("jobs", delivery_delay=600)
        queue.send("default")
        queue.send("own", delay_seconds=60)
        queue.send("none", delay_seconds=0)
        queue.send_batch([{"body": "batch"}], delay_seconds=DAY)
        with pytest.raises(Refused):
            queue.send("too long", delay_seconds=DAY + 1)
        assert [(m.body, (m.ready_at - emu.now).total_seconds()) for m in queue.messages()] == [
            ("default", 600), ("own", 60), ("none", 0), ("batch", DAY),
        ]  # fmt: skip
        emu.consume("jobs", lambda batch: [m.retry(delaySeconds=100) for m in batch.messages], max_batch_timeout=0)
        emu.advance(0)
        assert {m.body: (m.ready_at - emu.now).total_seconds() for m in queue.messages()}["none"] == 100


def test_there_is_no_backoff_but_your_own():
    def moments(handler):
        with account() as emu:
            jobs(emu, handler, max_retries=3)
            return [(d.at - emu.deliveries[0].at).total_seconds() for d in emu.deliveries]

    assert moments(fail) == [0, 0, 0, 0]
    curve = course(30, seed=0)
    waits = moments(lambda batch: [m.retry(delaySeconds=curve(m.attempts - 1)) for m in batch.messages])
    assert 23 <= waits[1] <= 37
    assert waits[3] > 150


def test_attempts_start_at_one_and_retries_are_one_less():
    with account() as emu:
        seen = []

        def handler(batch):
            seen.append(batch.messages[0].attempts)
            batch.retryAll()

        jobs(emu, handler)
        assert seen == [1, 2, 3, 4]


def test_explicit_retries_do_not_scale_down():
    def most(handler):
        with account() as emu:
            running = [0, 0]

            async def counted(batch):
                running[0] += 1
                running[1] = max(running)
                await asyncio.sleep(5)
                running[0] -= 1
                if emu.now > start_of_trouble:
                    handler(batch)

            start_of_trouble = emu.now
            emu.create_queue("jobs")
            emu.consume("jobs", counted, max_batch_size=1, max_batch_timeout=0, max_retries=100)
            for _ in range(4):
                emu.queue("jobs").send_batch([{"body": n} for n in range(100)])
            emu.advance(300)
            return running[1]

    assert most(lambda batch: batch.retryAll(delaySeconds=600)) > 2 * most(fail)


# --- batches and acknowledgements


def test_a_batch_leaves_when_it_is_full_or_old():
    with account() as emu:
        emu.create_queue("jobs").send_batch([{"body": n} for n in range(12)])
        emu.consume("jobs", lambda _batch: None)
        emu.advance(0)
        assert [len(d.messages) for d in emu.deliveries] == [10]
        emu.advance(4.9)
        assert len(emu.deliveries) == 1
        emu.advance(0.1)
        assert [len(d.messages) for d in emu.deliveries] == [10, 2]
        for wrong in ({"max_batch_size": 101}, {"max_batch_size": 0}, {"max_batch_timeout": 61}, {"max_batch_timeout": -1}):
            emu.create_queue(f"q{len(emu.queues)}")
            with pytest.raises(Refused):
                emu.consume(f"q{len(emu.queues) - 1}", fail, **wrong)


def test_push_is_not_called_when_empty_and_a_pull_costs_a_read():
    with account() as emu:
        emu.create_queue("pushed")
        emu.consume("pushed", fail)
        emu.create_queue("pulled")
        emu.consume("pulled", type="http_pull")
        emu.advance(DAY)
        assert emu.deliveries == []
        assert emu.queue("pulled").pull() == []
        assert emu.report().operations == {"pulled": (0, 1, 0)}


def test_one_failure_redelivers_the_whole_batch():
    def eighth(batch):
        if batch.messages[0].attempts == 1 and len(batch.messages) == 10:
            for message in batch.messages:
                if message.body == 7:
                    fail(batch)

    with account() as emu:
        assert jobs(emu, eighth, 10) == [list(range(10)), list(range(10))]


def test_what_was_acknowledged_does_not_come_again():
    def eighth(batch):
        for message in batch.messages:
            if message.body == 7 and message.attempts == 1:
                fail(batch)
            message.ack()

    with account() as emu:
        assert jobs(emu, eighth, 10) == [list(range(10)), [7, 8, 9]]


def test_the_first_word_wins_and_a_message_beats_its_batch():
    def handler(batch):
        if batch.messages[0].attempts > 1:
            return
        one, two, _ = batch.messages
        one.ack()
        one.retry()
        two.retry()
        two.ack()
        batch.ackAll()

    with account() as emu:
        assert jobs(emu, handler, 3) == [[0, 1, 2], [1]]


def test_at_least_once_means_that_messages_come_twice():
    with account(faults=Faults(duplicates=0.3), seed=1) as emu:
        seen = [body for batch in jobs(emu, lambda _batch: None, 50) for body in batch]
        assert set(seen) == set(range(50))
        assert len(seen) > 50


# --- dead letters and the end


def test_a_consumer_without_a_dead_letter_queue_is_found():
    assert "CFQ301" in findings([{"queue": "jobs"}])
    assert "CFQ301" not in findings([{"queue": "jobs", "dead_letter_queue": "dead"}])


def test_a_dead_letter_queue_that_is_missing_is_created_where_its_source_is():
    with account() as emu:
        emu.create_queue("jobs", jurisdiction="eu")
        emu.consume("jobs", fail, dead_letter_queue="dead")
        assert emu.queue("dead").settings.jurisdiction == "eu"
        emu.create_queue("here", jurisdiction="us")
        with pytest.raises(Refused):
            emu.consume("here", fail, dead_letter_queue="dead")


def test_a_dead_letter_queue_without_a_consumer_is_found():
    one = {"queue": "jobs", "dead_letter_queue": "dead"}
    assert "CFQ304" in findings([one])
    assert "CFQ304" not in findings([one, {"queue": "dead"}])


def test_dead_letters_without_a_consumer_live_four_days():
    with account() as emu:
        emu.create_queue("dead", message_retention_period=14 * DAY)
        jobs(emu, fail, dead_letter_queue="dead")
        emu.advance(4 * DAY - 1)
        assert emu.queue("dead").bodies() == [0]
        emu.advance(1)
        assert states(emu, "dead") == ["expired"]


def test_the_order_of_checks_ends_with_somebody_who_hears():
    """It exists in the same place, it has a consumer, somebody is told when that consumer fails."""
    with account() as emu:
        emu.create_queue("jobs")
        emu.consume("jobs", fail, max_batch_timeout=0, dead_letter_queue="dead")
        emu.consume("dead", fail, max_batch_timeout=0, max_retries=0)
        emu.queue("jobs").send(1)
        emu.run_until_idle()
        report = emu.report()
        assert [error.queue for error in report.errors][-1] == "dead"
        assert report.states == {message_states.DELETED: 1}


def test_messages_expire_by_plan():
    for plan, days in (("free", 1), ("paid", 4)):
        with account(plan=plan) as emu:
            emu.create_queue("jobs").send(1)
            emu.advance(days * DAY - 1)
            assert states(emu, "jobs") == ["waiting"]
            emu.advance(1)
            assert states(emu, "jobs") == ["expired"]
    with account() as emu:
        emu.create_queue("long", message_retention_period=14 * DAY)
        with pytest.raises(Refused):
            emu.create_queue("longer", message_retention_period=14 * DAY + 1)
    with account(plan="free") as emu, pytest.raises(Refused):
        emu.create_queue("jobs", message_retention_period=2 * DAY)


def test_an_empty_queue_tells_nothing_and_the_report_does():
    depths, ended = [], []
    for handler in (lambda _batch: None, fail):
        with account() as emu:
            jobs(emu, handler)
            depths.append(emu.queue("jobs").metrics().backlog_count)
            ended.append(emu.report().states)
    assert depths == [0, 0]
    assert ended == [{message_states.ACKNOWLEDGED: 1}, {message_states.DELETED: 1}]


def test_a_dead_letter_queue_that_nobody_reads_is_a_delayed_deletion():
    with account() as emu:
        jobs(emu, fail, dead_letter_queue="dead")
        assert emu.report().messages[0].owner.startswith("you: dead has no consumer")
        emu.advance(4 * DAY)
        assert emu.report().messages[0].owner == "nobody: lost for good, the retention was over"


def test_three_retries_do_not_make_it_succeed():
    with account() as emu:
        jobs(emu, fail, max_retries=3)
        assert emu.report().messages[0].layers[2].reached is False
        assert emu.report().states == {message_states.DELETED: 1}


def test_sent_is_not_done():
    with account() as emu:
        emu.create_queue("jobs")
        id = emu.queue("jobs").send(1).ids[0]
        layers = emu.trace(id).end.layers
        assert [layer.reached for layer in layers] == [True, False, False, False]
        assert layers[0].does_not_prove == "that it will be delivered, or processed"


def test_a_message_is_followed_to_its_end_by_id():
    with account() as emu:
        jobs(emu, fail, dead_letter_queue="dead")
        id = emu.fates[0].id
        trace = emu.trace(id)
        assert [line.what.split(":")[0].split(" until")[0] for line in trace] == [
            "sent", *["delivered", "retried"] * 3, "delivered", "dead-lettered", "arrived from jobs",
        ]  # fmt: skip
        assert trace.end.state == message_states.IN_DLQ


# --- limits


def test_a_message_has_at_most_128_kb():
    with account() as emu:
        queue = emu.create_queue("jobs")
        queue.send("x" * 128_000, content_type="text")
        with pytest.raises(Refused) as caught:
            queue.send("x" * 128_001, content_type="text")
        assert caught.value.code == 10204
        assert "metadata" in emu.report().warnings[0]


def test_a_send_batch_has_at_most_a_hundred_messages_and_256_kb():
    with account() as emu:
        queue = emu.create_queue("jobs")
        queue.send_batch([{"body": 1}] * 100)
        for wrong in ([{"body": 1}] * 101, [{"body": "x" * 100_000, "contentType": "text"}] * 3):
            with pytest.raises(Refused):
                queue.send_batch(wrong)


def test_an_invocation_has_fifteen_minutes():
    async def slow(_batch):
        await asyncio.sleep(901)

    with account() as emu:
        jobs(emu, slow, max_retries=0)
        assert emu.deliveries[0].outcome == "exceededWallTime"
    assert Consumer().problems(settings_of(timeout_seconds=901))


def settings_of(**given):
    from emulator.toolkit import RetryPolicy

    return RetryPolicy(**given)


def test_a_queue_takes_five_thousand_messages_a_second():
    with account() as emu:
        queue = emu.create_queue("jobs")
        for _ in range(50):
            queue.send_batch([{"body": 1}] * 100)
        with pytest.raises(Refused) as caught:
            queue.send(1)
        assert caught.value.code == 10250
        assert "Too Many Requests" in str(caught.value)
        emu.advance(1)
        queue.send(1)


def test_the_numbers_of_the_documents_are_known():
    known = {limit.id: limit.value for limit in limits.LIMITS}
    assert set(known.values()) >= {5_000, 25_000_000_000, 250, 300_000, 43_200_000, 86_400, 900, 128_000, 100, 256_000}


def test_each_number_has_its_page_and_the_day_it_was_read():
    assert len(limits.LIMITS) > 30
    for limit in limits.LIMITS:
        assert limit.page.startswith(("https://developers.cloudflare.com/", "https://github.com/cloudflare/"))
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", limit.checked)


def test_max_retries_is_said_and_known():
    text = '{"name": "w", "main": "w.py", "compatibility_date": "2026-06-01", "queues": {"consumers": [{"queue": "jobs"}]}}'
    assert "CFQ311" in {finding.code for finding in lint_text(text, path="wrangler.jsonc", select=["CFQ311"]).findings}


# --- what is observed


def test_retries_depth_age_and_duplicates_are_seen():
    with account() as emu, database() as connection:
        once = OnceSQL(connection)
        run(once.create())

        async def handler(batch):
            for message in batch.messages:
                await once.run("the same key", [])
                if message.body == 1:
                    fail(batch)
                message.ack()

        jobs(emu, handler, 2, dead_letter_queue="dead", max_batch_size=1)
        emu.advance(60)
        report = emu.report()
        assert report.retries == {0: 1, 3: 1}
        assert report["dead"].waiting == 1
        assert (emu.now - emu.queue("dead").metrics().oldest_message_timestamp).total_seconds() == 60
        assert once.duplicates == 4


def test_a_store_that_fails_loses_nothing():
    class Broken(MemoryKV):
        async def get(self, _key):
            raise ConnectionError("the store is down")

    done = []

    @settle(clock=lambda: 0)
    async def handle(task):
        await OnceKV(Broken(), ttl_seconds=345_600).run("k", lambda: done.append(task.id))

    message = Message(1)
    run(handle(Batch(message)))
    assert message.word[0] == "retry"
    assert done == []


# --- what the page says


def test_the_page_has_the_nine_rules():
    text = page()
    rules = text.split("## The rules in short")[1].split("## ")[0]
    assert len(re.findall(r"- \*\*", rules)) == 9


def test_the_page_has_the_acceptance_list_six_of_mechanism_and_four_of_operation():
    text = text_of().split("## Before it goes live")[1].split("\n## ")[0]
    rows = [line.split("|") for line in text.splitlines() if re.match(r"\| \d+ \|", line)]
    assert [int(row[1]) for row in rows] == list(range(1, 11))
    assert [row[2].strip() for row in rows] == ["mechanism"] * 6 + ["operation"] * 4


def test_the_page_says_who_owns_a_failure():
    assert "a failure end point with an owner" in page()
    assert all(word in page() for word in ("Immediate retries", "Unlimited retries", "Synchronised retries"))


def test_no_page_promises_what_nobody_can():
    for name in ("consumers.md", "requirements.md"):
        text = page(name).lower()
        for promise in ("guaranteed retry", "guaranteed delivery", "never loses", "no message is lost", "exactly once delivery is"):
            assert promise not in text, promise
    assert "exactly once" not in page().lower()


def test_the_page_says_whose_numbers_these_are():
    assert "Cloudflare's numbers, and nobody else's" in page()


def test_the_page_says_what_is_left_out():
    assert "Middleware and periodic tasks are left out" in page()


def test_mail_is_called_sent_only_when_it_is():
    examples.test_broken_mail_is_called_sent_acknowledged_and_lost()
    examples.test_mail_outlives_an_outage()


def test_a_bad_message_walks_the_whole_way():
    examples.test_mail_that_is_given_up_is_heard_of()


def test_payments_have_a_producers_key_and_a_unique_one():
    examples.test_broken_payments_are_charged_again_with_each_delivery()
    examples.test_payments_are_charged_once(0)


def test_clock_of_the_emulator():
    with account() as emu:
        emu.advance(5)
        assert clock_of(emu)() == emu.now.timestamp()
        assert isinstance(emu, Emulator)
