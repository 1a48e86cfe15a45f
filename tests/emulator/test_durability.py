"""Journals in a database: killed at any point, nothing acknowledged is lost and nothing is invented; what is no journal is left alone."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from emulator import Emulator
from emulator.core.events import QueueChanged
from emulator.engine.journal import JournalCorrupt, JournalError, JournalNewer, JournalUnwritable, StaleWriter
from tests.emulator.helpers import fates, send, throw, timeline

ROOT = Path(__file__).parents[2]

WRITER = """
import sys
from emulator import Emulator

def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\\n")
    sys.stdout.flush()

emu = Emulator(journal=sys.argv[1])
first = int(sys.argv[2])
if first == 0:
    emu.create_queue("jobs")
    emu.create_queue("pulled")
    emu.consume("pulled", type="http_pull", max_retries=100)

def handler(batch):
    for message in batch.messages:
        if message.body % 3:
            message.ack()
        else:
            message.retry(delaySeconds=1)

(emu.consume if first == 0 else emu.attach)(*(("jobs", handler) if first == 0 else (handler, "jobs")), **(
    {"max_batch_timeout": 0, "max_retries": 1, "dead_letter_queue": "dead"} if first == 0 else {}))
say("ready")
n = first
while True:
    say("sending", n, n + 1)
    emu.queue("jobs").send_batch([{"body": n}, {"body": n + 1}])
    say("sent", n, n + 1)
    emu.queue("pulled").send(n)
    say("sent-pulled", n)
    emu.advance(1)
    got = emu.queue("pulled").pull(batch_size=2)
    emu.queue("pulled").ack(acks=[m.lease_id for m in got])
    say("acked-pulled", *(m.value for m in got))
    n += 2
"""


def run_and_kill(journal, first, seconds):
    """Let the writer write for a while, kill it in the middle of whatever it does, and return what it said."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(journal), str(first)], stdout=subprocess.PIPE, text=True, cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert writer.stdout.readline() == "ready\n"
    time.sleep(seconds)
    writer.send_signal(signal.SIGKILL)
    said = writer.stdout.read()
    writer.stdout.close()
    writer.wait(timeout=30)
    return [line.split() for line in said.splitlines() if line.endswith(tuple("0123456789"))]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_killed_at_any_point_nothing_is_lost_and_nothing_is_invented(store):
    journal = store
    chance = random.Random(4)
    sent, attempted, pulled, acked, first = set(), set(), set(), set(), 0
    for _ in range(3):
        for verb, *numbers in run_and_kill(journal, first, chance.uniform(0.02, 0.25)):
            target = {"sent": sent, "sending": attempted, "sent-pulled": pulled, "acked-pulled": acked}[verb]
            target |= {int(n) for n in numbers}
        emu = Emulator(journal=journal)
        entered = [f.body for f in emu.fates if f.queue == "jobs"]
        assert len(entered) == len(set(entered)), "a message was invented"
        assert sent <= set(entered) <= attempted
        at_pull = {f.body: f.state for f in emu.fates if f.queue == "pulled"}
        assert pulled <= set(at_pull)
        assert {body for body in acked if at_pull[body] != "acked"} == set(), "an acknowledgement was lost"
        buried = {f.body for f in emu.fates if f.queue == "jobs" and f.state == "dead-lettered"}
        assert {f.body for f in emu.fates if f.queue == "dead"} == buried
        assert all(body % 3 == 0 for body in buried)
        emu.close()
        first = max(attempted, default=0) + 2
    assert len(sent) > 10


def test_everything_is_there_after_a_restart(store):
    journal = store
    emu = Emulator(journal=journal, plan="free")
    jobs = emu.create_queue("jobs", delivery_delay=5)
    emu.consume("jobs", throw, max_batch_timeout=0, max_retries=2, retry_delay=10, dead_letter_queue="dead")
    send(emu, "jobs", "a", {"b": [1]})
    jobs.send(b"\xff\x00", content_type="bytes", delay_seconds=50)
    emu.advance(7)
    before = (emu.now, timeline(emu), fates(emu), [tuple(m) for m in jobs.messages()], jobs.settings, str(emu.trace()))
    emu.close()
    emu = Emulator(journal=journal, plan="free")
    jobs = emu.queue("jobs")
    assert before == (emu.now, timeline(emu), fates(emu), [tuple(m) for m in jobs.messages()], jobs.settings, str(emu.trace()))
    emu.attach(throw, queue="jobs")
    emu.advance(100)
    assert timeline(emu, "jobs")[-3:] == [(50, [b"\xff\x00"], [1]), (60, [b"\xff\x00"], [2]), (70, [b"\xff\x00"], [3])]
    assert emu.queue("dead").bodies() == ["a", {"b": [1]}, b"\xff\x00"]
    emu.close()


def test_a_lease_holds_across_a_restart(store):
    journal = store
    emu = Emulator(journal=journal)
    emu.create_queue("jobs").send(1)
    emu.consume("jobs", type="http_pull")
    lease = emu.queue("jobs").pull()[0].lease_id
    emu.close()
    emu = Emulator(journal=journal)
    assert emu.queue("jobs").pull() == []
    emu.queue("jobs").ack(acks=[lease])
    assert fates(emu) == [(1, "acked")]
    emu.close()


def test_ids_do_not_repeat_after_a_restart(store):
    ids = []
    for _ in range(3):
        emu = Emulator(journal=store, seed=5)
        if not ids:
            emu.create_queue("jobs")
        send(emu, "jobs", 1, 2)
        ids = [f.id for f in emu.fates]
        emu.close()
    assert len(set(ids)) == len(ids) == 6


def test_a_second_writer_of_the_same_journal_is_refused(store):
    first = Emulator(journal=store)
    first.create_queue("jobs")
    second = Emulator(journal=store)
    first.queue("jobs").send(1)
    with pytest.raises(StaleWriter):
        second.queue("jobs").send(2)
    assert first.queue("jobs").bodies() == [1]
    for emu in (first, second):
        emu.close()


# --- files that are no journals


def a_journal(path):
    emu = Emulator(journal=path)
    emu.create_queue("jobs")
    for n in range(300):
        emu.queue("jobs").send({"n": n, "padding": "x" * 200})
    emu.close()
    return path


def zeros(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2 :] = bytes(len(data) - len(data) // 2)
    path.write_bytes(data)


def flipped(path):
    with sqlite3.connect(path) as db:
        db.execute("UPDATE events SET data = CAST(replace(CAST(data AS TEXT), 'padding', 'pudding') AS BLOB) WHERE seq = 100")
    db.close()


def cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def short(path):
    path.write_bytes(path.read_bytes()[:50])


def text(path):
    path.write_text("this is no journal\n" * 50, encoding="utf-8")


def another_programs(path):
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()


def a_missing_event(path):
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM events WHERE seq = 7")
    db.close()


def newer(path):
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()


@pytest.mark.parametrize("damage", [zeros, flipped, cut, short, text, another_programs, a_missing_event, newer])
def test_a_file_that_cannot_be_continued_is_refused_and_left_untouched(tmp_path, damage):
    path = a_journal(tmp_path / "journal.db")
    damage(path)
    before = path.read_bytes()
    with pytest.raises(JournalNewer if damage is newer else JournalCorrupt) as refused:
        Emulator(journal=path)
    assert isinstance(refused.value, JournalError)
    assert "journal.db" in str(refused.value)
    assert "untouched" in str(refused.value)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["journal.db"]


def test_a_flipped_bit_is_noticed_or_changes_nothing(tmp_path):
    path = a_journal(tmp_path / "journal.db")
    whole, chance, noticed = path.read_bytes(), random.Random(9), 0
    emu = Emulator(journal=path)
    story = emu.events
    emu.close()
    for _ in range(60):
        at = chance.randrange(len(whole))
        damaged = bytearray(whole)
        damaged[at] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            emu = Emulator(journal=path)
        except JournalError:
            noticed += 1
            assert path.read_bytes() == damaged
            continue
        assert emu.events[: len(story)] == story
        emu.close()
    assert noticed > 15


def test_a_journal_of_many_events_starts_from_its_last_snapshot(tmp_path, monkeypatch):
    monkeypatch.setattr("emulator.engine.account._SNAPSHOT_EVENTS", 1_000)
    path = tmp_path / "journal.db"
    emu = Emulator(journal=path)
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", lambda _batch: None, max_batch_size=1, max_batch_timeout=0)
    for _ in range(5):
        for _ in range(3):
            jobs.send_batch([{"body": 1}] * 100)
        emu.advance(1)
    before = (emu.report().queues, emu.now)
    emu.close()
    with sqlite3.connect(path) as db:
        (snapshots,) = db.execute("SELECT count(*) FROM snapshots").fetchone()
    db.close()
    assert snapshots == 1
    emu = Emulator(journal=path)
    assert before == (emu.report().queues, emu.now)
    emu.close()


# --- files that cannot be opened, and plans that change


@pytest.mark.parametrize("place", ["no/such/folder/journal.db", "file/journal.db", "folder"])
def test_a_journal_where_none_can_be_is_refused_by_its_path(tmp_path, place):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    (tmp_path / "folder").mkdir()
    with pytest.raises(JournalUnwritable, match=place):
        Emulator(journal=tmp_path / place)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "folder"]


def test_a_journal_that_somebody_holds_alone_is_not_called_damaged(tmp_path, monkeypatch):
    path = a_journal(tmp_path / "journal.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.executescript("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; UPDATE events SET seq = seq WHERE seq = 1;")
        monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, timeout=0))  # else it waits five seconds
        with pytest.raises(JournalUnwritable, match="locked"):
            Emulator(journal=path)


@pytest.mark.parametrize("closes", [True, False])
def test_a_paid_journal_opened_as_free_keeps_messages_a_day_from_then_on(tmp_path, closes):
    path = tmp_path / "journal.db"
    paid = Emulator(journal=path)
    paid.create_queue("old", message_retention_period=1_209_600).send("expires at once")
    paid.create_queue("short", message_retention_period=60)
    paid.advance(2 * 86_400)
    paid.queue("old").send("has a day left")
    paid.queue("short").send("has a day, too")
    if closes:
        paid.close()
    free = Emulator(journal=path, plan="free")
    assert [free.queue(name).settings.message_retention_period for name in ("old", "short")] == [86_400, 86_400]
    assert [e for e in free.events if isinstance(e, QueueChanged)] == [
        QueueChanged(free.events[-1].at_us, name, 0, 86_400, False) for name in ("old", "short")
    ]
    free.advance(0)
    assert free.queue("old").bodies() == ["has a day left"]
    free.advance(86_399)
    assert free.queue("short").bodies() == ["has a day, too"]
    free.advance(1)
    assert [free.queue(name).bodies() for name in ("old", "short")] == [[], []]
    assert {fate.state for fate in free.fates} == {"expired"}
    told = free.fates
    free.close()
    again = Emulator(journal=path, plan="free")
    assert again.fates == told
    assert sum(isinstance(event, QueueChanged) for event in again.events) == 2, "nothing changes a second time"
    again.close()
    if not closes:
        paid.account.journal.close()


def test_a_free_journal_opened_as_paid_keeps_what_was_set_and_may_change_it(tmp_path):
    path = tmp_path / "journal.db"
    with Emulator(journal=path, plan="free") as free:
        free.create_queue("jobs").send(1)
    with Emulator(journal=path) as paid:
        assert paid.queue("jobs").settings.message_retention_period == 86_400
        assert paid.create_queue("new").settings.message_retention_period == 345_600
        paid.update_queue("jobs", message_retention_period=345_600)
        paid.advance(2 * 86_400)
        assert paid.queue("jobs").bodies() == [1]


def test_without_limits_no_plan_fixes_the_retention(tmp_path):
    path = tmp_path / "journal.db"
    with Emulator(journal=path) as paid:
        paid.create_queue("jobs", message_retention_period=60)
    with Emulator(journal=path, plan="free", limits="relaxed") as free:
        assert free.queue("jobs").settings.message_retention_period == 60
