"""`/metrics` and `/health`: every number that a product must show, right after every kind of event, over restarts and renames."""

from __future__ import annotations

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from emulator import Emulator
from emulator.core.refusals import Refused
from emulator.engine.faults import Faults
from emulator.server import Transport
from emulator.server.directory_file import DirectoryFile
from emulator.server.observe.metrics import exposition
from emulator.server.observe.watch import Watch
from emulator.server.service import Service
from tests.emulator.helpers import calls_in


def read(text):
    """Samples by name and labels."""
    return {
        (sample.name, *(value for _key, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def web(emu):
    with httpx.Client(transport=Transport(emu, control=True), base_url="http://emulator") as client:
        yield client


def numbers(web):
    answer = web.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return read(answer.text)


def fail(_batch):
    message = "no such customer"
    raise LookupError(message)


def test_backlog_age_and_dead_letter_depth(emu, jobs, web):
    emu.consume("jobs", fail, max_retries=2, dead_letter_queue="dead", max_batch_timeout=0)
    jobs.send_batch([{"body": "x" * 10}] * 3)
    found = numbers(web)
    assert found["cfq_queue_backlog_messages", "jobs"] == 3
    assert found["cfq_queue_backlog_bytes", "jobs"] == 36
    assert found["cfq_dead_letter_queue_messages", "dead"] == 0
    assert ("cfq_dead_letter_queue_messages", "jobs") not in found
    emu.advance(30)
    found = numbers(web)
    assert found["cfq_queue_backlog_messages", "jobs"] == 0
    assert found["cfq_queue_oldest_message_age_seconds", "jobs"] == 0
    assert found["cfq_dead_letter_queue_messages", "dead"] == 3
    assert found["cfq_queue_oldest_message_age_seconds", "dead"] == 30
    assert found["cfq_messages_dead_lettered_total", "jobs"] == 3
    assert found["cfq_messages_received_total", "dead"] == 3


def test_retries_by_attempt_and_attempts_at_the_end(emu, jobs, web):
    emu.consume("jobs", fail, max_retries=2, max_batch_timeout=0)
    jobs.send(1)
    jobs.send(2)
    emu.run_until_idle()
    found = numbers(web)
    assert found["cfq_retries_total", "1", "jobs"] == 2
    assert found["cfq_retries_total", "2", "jobs"] == 2
    assert ("cfq_retries_total", "3", "jobs") not in found
    assert found["cfq_messages_dropped_total", "jobs"] == 2
    assert found["cfq_message_attempts_bucket", "2.0", "dropped", "jobs"] == 0
    assert found["cfq_message_attempts_bucket", "3.0", "dropped", "jobs"] == 2
    assert found["cfq_message_attempts_bucket", "+Inf", "dropped", "jobs"] == 2
    assert found["cfq_message_attempts_sum", "dropped", "jobs"] == 6


@pytest.mark.parametrize(("body", "factor"), [("x", 1), ("x" * 70_000, 2)])
def test_a_message_that_succeeds_is_three_operations_for_each_chunk(emu, jobs, web, body, factor):
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=0)
    for _ in range(10):
        jobs.send(body, content_type="text")
    emu.run_until_idle()
    found = numbers(web)
    for operation in ("write", "read", "delete"):
        assert found["cfq_billable_operations_total", operation, "jobs"] == 10 * factor


def test_three_retries_and_a_dead_letter_are_four_reads_and_a_write(emu, jobs, web):
    emu.consume("jobs", fail, max_retries=3, dead_letter_queue="dead", max_batch_timeout=0)
    jobs.send("x" * 70_000, content_type="text")
    emu.run_until_idle()
    found = numbers(web)
    assert found["cfq_billable_operations_total", "read", "jobs"] == 8
    assert found["cfq_billable_operations_total", "delete", "jobs"] == 0
    assert found["cfq_billable_operations_total", "write", "dead"] == 2
    emu.queue("dead").purge()
    assert numbers(web)["cfq_billable_operations_total", "purge", "dead"] == 1


def test_what_expires_by_itself_is_counted_without_anybody_asking(emu, jobs, web):
    jobs.send(1)
    emu.advance(345_600)
    found = numbers(web)
    assert found["cfq_messages_expired_total", "jobs"] == 1
    assert found["cfq_billable_operations_total", "write", "jobs"] == 1
    assert found["cfq_billable_operations_total", "delete", "jobs"] == 1
    assert found["cfq_billable_operations_total", "read", "jobs"] == 0


def test_lapsed_leases_are_retries(emu, jobs, web):
    emu.consume("jobs", type="http_pull", max_retries=5)
    jobs.send(1)
    for _ in range(3):
        assert len(jobs.pull(visibility_timeout_ms=1_000)) == 1
        emu.advance(1)
    found = numbers(web)
    assert [found["cfq_retries_total", attempt, "jobs"] for attempt in "123"] == [1, 1, 1]
    assert found["cfq_billable_operations_total", "read", "jobs"] == 3


def test_lapses_between_two_commands_are_seen_by_the_second(emu, jobs):
    """The broker tells nobody of what time brings about; the journal does, and in order."""
    emu.consume("jobs", type="http_pull", max_retries=5)
    watch = Watch(emu.account)
    seen = []
    watch.tell(lambda event, _steps: seen.append(type(event).__name__))
    jobs.send(1)
    jobs.pull(visibility_timeout_ms=1_000)
    emu.advance(2)
    assert seen == ["Sent", "Pulled"]
    jobs.send(2)
    assert seen == ["Sent", "Pulled", "LeasesLapsed", "Sent"]
    watch.catch_up()
    assert len(seen) == 4


def test_duplicates_after_a_lost_acknowledgement():
    emu = Emulator(seed=3, faults=Faults(duplicates=0.5))
    jobs = emu.create_queue("jobs")
    watch = Watch(emu.account)
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=0, max_retries=3)
    jobs.send_batch([{"body": n} for n in range(20)])
    emu.advance(60)
    repeats = sum(line.what == "acked, but the acknowledgement got lost" for line in emu.trace())
    assert repeats > 0
    assert watch.ledger.tallies["jobs"].duplicates == repeats
    emu.close()


def test_faults_that_were_switched_on_are_counted_and_shown():
    emu = Emulator(faults=Faults(duplicates=1.0, reorder=0.5))
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", lambda _batch: None, max_batch_timeout=0, max_retries=1)
    jobs.send(1)
    emu.advance(60)
    with httpx.Client(transport=Transport(emu), base_url="http://emulator") as web:
        found = numbers(web)
        acted = found["cfq_faults_total", "duplicates"]
        assert acted > 0
        assert ("cfq_faults_total", "crashes") not in found
        shown = web.get("/dashboard/data/queues").json()["faults"]
        assert shown[0] == {"fault": "duplicates", "chance": 1.0, "acted": acted}
        assert [each["fault"] for each in shown] == ["duplicates", "reorder"]
    emu.close()


def test_a_pull_that_finds_nothing_is_billed_as_a_read(emu, jobs, web):
    emu.consume("jobs", type="http_pull")
    path = f"/client/v4/accounts/a/queues/{web.get('/accounts/a/queues').json()['result'][0]['queue_id']}/messages/pull"
    for _ in range(3):
        assert web.post(path, json={}).json()["result"]["messages"] == []
    assert numbers(web)["cfq_billable_operations_total", "read", "jobs"] == 3
    jobs.send(1)
    assert len(web.post(path, json={}).json()["result"]["messages"]) == 1
    assert numbers(web)["cfq_billable_operations_total", "read", "jobs"] == 4
    jobs.pause()
    assert web.post(path, json={}).status_code == 409
    assert numbers(web)["cfq_billable_operations_total", "read", "jobs"] == 4


@pytest.mark.usefixtures("jobs")
def test_dedupe_hits_are_reported_by_those_who_see_them_and_empty_pulls_are_seen(emu):
    watch = Watch(emu.account)
    watch.dedupe_hit("jobs")
    watch.dedupe_hit("jobs", 2)
    emu.consume("jobs", type="http_pull")
    emu.queue("jobs").pull()
    found = read(exposition(watch).decode())
    assert found["cfq_dedupe_hits_total", "jobs"] == 3
    assert found["cfq_billable_operations_total", "read", "jobs"] == 1


def test_a_deleted_queue_leaves_nothing_behind(emu, jobs, web):
    jobs.send(1)
    emu.delete_queue("jobs")
    assert not [key for key in numbers(web) if "jobs" in key]
    emu.create_queue("jobs")
    assert numbers(web)["cfq_billable_operations_total", "write", "jobs"] == 0


def test_a_renamed_queue_is_counted_under_its_new_name(jobs, web):
    jobs.send(1)
    base = "/client/v4/accounts/a/queues"
    id = web.get(base).json()["result"][0]["queue_id"]
    assert web.patch(f"{base}/{id}", json={"queue_name": "tasks"}).status_code == 200
    found = numbers(web)
    assert found["cfq_queue_backlog_messages", "tasks"] == 1
    assert ("cfq_queue_backlog_messages", "jobs") not in found


def test_what_a_short_journal_tells_is_counted_again_after_a_restart(tmp_path):
    file = tmp_path / "journal.db"
    with Emulator(journal=file) as emu:
        emu.create_queue("jobs").send(1)
        emu.consume("jobs", fail, max_retries=1, dead_letter_queue="dead", max_batch_timeout=0)
        before = Watch(emu.account)
        emu.run_until_idle()
        first = exposition(before)
    with Emulator(journal=file) as emu:
        after = Watch(emu.account)
        lines = [[line for line in text.splitlines() if b"journal_events" not in line] for text in (first, exposition(after))]
        assert lines[0] == lines[1]
        origin = after.ledger.origins["dead", emu.queue("dead").messages()[0].id]
        assert (origin.source, origin.attempts) == ("jobs", 2)
        assert "no such customer" in origin.error


def test_behind_a_long_journal_that_something_else_has_written_counting_begins_with_the_state(emu, jobs, monkeypatch):
    monkeypatch.setattr("emulator.server.observe.watch.PAST_EVENTS_MAX", 1)
    emu.consume("jobs", fail, max_retries=5, max_batch_timeout=0, retry_delay=60)
    jobs.send("x" * 70_000, content_type="text")
    emu.advance(0)
    watch = Watch(emu.account)
    assert not watch.ledger.tallies["jobs"].retries
    emu.advance(60)
    assert watch.ledger.tallies["jobs"].retries == {2: 1}
    assert watch.ledger.tallies["jobs"].operations["read"] == 2


@pytest.mark.parametrize("killed", [False, True])
def test_all_numbers_go_on_over_a_restart_behind_a_long_journal(tmp_path, monkeypatch, killed):
    """What the kept numbers do not have is read from the journal; so it is after a kill, whenever they were kept last."""
    monkeypatch.setattr("emulator.server.observe.watch.PAST_EVENTS_MAX", 30)
    monkeypatch.setattr("emulator.server.observe.watch.SAVED_EVENTS", 7)
    file = str(tmp_path / "queues.db")

    def serve():
        emu = Emulator(journal=file)
        return emu, Service(emu, store=DirectoryFile(file))

    emu, service = serve()
    emu.create_queue("jobs")
    emu.create_queue("other").send("x" * 70_000, content_type="text")
    emu.consume("jobs", fail, max_retries=2, dead_letter_queue="dead", max_batch_timeout=0, retry_delay=20)
    for number in range(40):
        emu.queue("jobs").send(number)
        emu.advance(7)
    service.watch.dedupe_hit("jobs", 3)
    service.account.empty_pulls["other"] = 1
    service.watch.catch_up()
    service.watch.save()
    emu.queue("jobs").send("after")
    emu.queue("other").purge()
    before = read(exposition(service.watch).decode())
    if killed:
        emu.account.journal.close()
        service.directory.close()
    else:
        service.close()
    emu, service = serve()
    service.watch.catch_up()
    after = read(exposition(service.watch).decode())
    emu.attach(fail, queue="jobs")
    emu.advance(100)
    assert read(exposition(service.watch).decode())["cfq_message_attempts_bucket", "3.0", "dead-lettered", "jobs"] == 41
    service.close()
    changing = {"cfq_journal_events_total"}
    assert {key: value for key, value in after.items() if key[0] not in changing} == {
        key: value for key, value in before.items() if key[0] not in changing
    }


def test_kept_numbers_of_another_journal_are_not_taken(emu, jobs, tmp_path):
    service = Service(emu, store=DirectoryFile(str(tmp_path / "directory.db")))
    jobs.send(1)
    service.watch.save()
    service.directory.close()
    with Emulator() as other:
        other.create_queue("jobs")
        again = Service(other, store=DirectoryFile(str(tmp_path / "directory.db")))
        assert again.watch.ledger.tallies["jobs"].counts("jobs").sent == 0
        again.directory.close()


@pytest.mark.usefixtures("jobs")
def test_numbers_that_cannot_be_kept_are_let_be(emu, tmp_path):
    service = Service(emu, store=DirectoryFile(str(tmp_path / "directory.db")))
    service.directory._store._db.execute("PRAGMA query_only = 1")
    service.watch.save()
    assert service.watch.ledger.tallies["jobs"].counts("jobs").sent == 0
    service.directory.close()


def test_every_counter_agrees_with_the_events(emu):
    """A busy account with every kind of end: what was watched event by event is what a second reading finds."""
    for name in ("a", "b"):
        emu.create_queue(name, message_retention_period=60)
    watch = Watch(emu.account)
    emu.consume("a", lambda batch: [m.retry() if m.body % 3 else m.ack() for m in batch.messages], max_retries=2, dead_letter_queue="b")
    for round in range(30):
        emu.queue("a").send_batch([{"body": n, "delaySeconds": n % 90} for n in range(round, round + 20)])
        emu.advance(7)
    emu.queue("b").purge()
    emu.advance(100)
    watch.catch_up()
    again = Watch(emu.account)
    for name in ("a", "b"):
        one, two = watch.ledger.tallies[name], again.ledger.tallies[name]
        for field in ("retries", "ended", "operations", "messages", "attempts", "large", "duplicates"):
            assert getattr(one, field) == getattr(two, field), (name, field)
        counts = emu.report()[name]
        assert sum(one.retries.values()) == counts.retried
        assert {str(kind): sum(by.values()) for kind, by in one.ended.items()} == {
            kind: count
            for kind, count in (
                ("acked", counts.acked), ("dropped", counts.dropped), ("expired", counts.expired), ("purged", counts.purged),
                ("dead-lettered", counts.dead_lettered),
            )
            if count
        }  # fmt: skip


def test_numbers_need_a_reader_and_health_needs_nobody(emu):
    emu.create_queue("secret-project")
    with httpx.Client(transport=Transport(emu, tokens=["look:read", "all"]), base_url="http://emulator") as web:
        assert web.get("/metrics").status_code == 401
        assert "secret" not in web.get("/metrics").text
        assert web.get("/metrics", headers={"Authorization": "Bearer look"}).status_code == 200
        answer = web.get("/health")
        assert (answer.status_code, answer.json()["status"]) == (200, "ok")
        assert "secret" not in answer.text


def test_health_says_when_the_server_stops_or_cannot_store(emu, monkeypatch):
    transport = Transport(emu)
    with httpx.Client(transport=transport, base_url="http://emulator") as web:
        transport.service.stopping = True
        assert (web.get("/health").status_code, web.get("/health").json()["status"]) == (503, "stopping")
        monkeypatch.setattr(emu.account.journal.__class__, "length", lambda _journal: 10**6)
        assert web.get("/health").json()["status"].startswith("failing")


def test_refusals_are_not_counted(emu, jobs):
    watch = Watch(emu.account)
    with pytest.raises(Refused):
        jobs.send("x" * 128_001, content_type="text")
    assert "jobs" not in {name for name, tally in watch.ledger.tallies.items() if tally.operations}


def test_a_consumer_reports_its_dedupe_hits_over_http(jobs, web):
    assert jobs.name == "jobs"
    for given in ({"queue": "jobs"}, {"queue": "jobs", "count": 4}):
        assert web.post("/metrics/dedupe-hits", json=given).status_code == 200
    assert numbers(web)["cfq_dedupe_hits_total", "jobs"] == 5
    for wrong, status in (({}, 400), ({"queue": 1}, 400), ({"queue": "jobs", "count": 0}, 400), ({"queue": "jobs", "count": True}, 400), ({"queue": "nothing"}, 404)):
        assert web.post("/metrics/dedupe-hits", json=wrong).status_code == status
    assert numbers(web)["cfq_dedupe_hits_total", "jobs"] == 5


def test_many_queues_cost_a_fixed_number_of_calls_each():
    counts = []
    for queues in (100, 400):
        emu = Emulator(limits="relaxed")
        for number in range(queues):
            emu.create_queue(f"q{number}").send(number)
        watch = Watch(emu.account)
        counts.append(calls_in(lambda watch=watch: exposition(watch)))
        emu.close()
    assert counts[1] < 4.1 * counts[0]
    assert counts[1] < 130 * 400
