"""Journals keep what happened, refuse what they cannot continue, and leave a refused file as it was."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from shutil import copy

import pytest
from msgspec.structs import replace

from emulator import Emulator
from emulator.core import events as happened
from emulator.core.model import Consumer
from emulator.engine.journal import JournalCorrupt, JournalError, JournalNewer, JournalUnwritable, StaleWriter, replay
from emulator.engine.journal import sqlite as sqlite_journal
from emulator.engine.journal.memory import MemoryJournal
from emulator.engine.journal.opening import open_journal
from emulator.engine.journal.sqlite import SQLiteJournal
from tests.emulator.core_dump import dump

CREATED = happened.QueueCreated(1, "jobs", 0, 345_600, None)
SENT = happened.Sent(2, "jobs", ("a" * 32, "b" * 32), (b'{"n":1}', b"\xff\x00"), ("json", "bytes"), (2, 5))


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def journal(request, tmp_path):
    if request.param == "memory":
        opened = MemoryJournal()
    else:
        opened = open_journal(tmp_path / "journal.db" if request.param == "sqlite" else request.getfixturevalue("postgres"))
    yield opened
    opened.close()


def test_what_is_appended_is_read_in_order(journal):
    journal.append(0, [CREATED])
    journal.append(1, [SENT, happened.Expired(3, "jobs", ("a" * 32,))])
    assert journal.length() == 3
    assert list(journal.read()) == [CREATED, SENT, happened.Expired(3, "jobs", ("a" * 32,))]
    assert list(journal.read(after=2)) == [happened.Expired(3, "jobs", ("a" * 32,))]


def test_an_append_that_expects_another_length_is_refused(journal):
    journal.append(0, [CREATED])
    with pytest.raises(StaleWriter):
        journal.append(0, [SENT])
    with pytest.raises(StaleWriter):
        journal.append(0, [SENT, SENT])
    assert list(journal.read()) == [CREATED]


def test_of_two_writers_the_slower_is_refused(store):
    one, other = open_journal(store), open_journal(store)
    one.append(0, [CREATED])
    with pytest.raises(StaleWriter, match="another writer"):
        other.append(0, [CREATED])
    one.close()
    other.close()


EVERY_KIND = [
    CREATED,
    happened.QueueChanged(1, "jobs", 5, 60, True),
    happened.ConsumerSet(1, "jobs", Consumer(max_batch_timeout=0.5, dead_letter_queue="dead"), True),
    happened.HandlerAttached(1, "jobs", False),
    SENT,
    happened.Delivered(3, "jobs", 1, ("a" * 32,), (1,)),
    happened.Settled(4, "jobs", 1, "exception", "ValueError: é", (), ("a" * 32,), (9,), warnings=("w",), scale=(1, 0, 250)),
    happened.Pulled(5, "jobs", ("b" * 32,), (1,), ("b.1",), 9),
    happened.LeasesExtended(5, "jobs", ("b" * 32,), ("b.2",), 19),
    happened.LeasesSettled(6, "jobs", ("b" * 32,), warnings=(("b.1", "late"),)),
    happened.LeasesLapsed(7, "jobs", dropped=("b" * 32,)),
    happened.Expired(8, "jobs", ("a" * 32,)),
    happened.Purged(9, "jobs", ("a" * 32,)),
    happened.Redriven(9, "dead", ("a" * 32,), "jobs", 9),
    happened.ConsumerRemoved(9, "jobs"),
    happened.QueueDeleted(9, "jobs", ()),
    happened.ClockStopped(10),
]


def test_every_kind_of_event_survives_the_store(store):
    journal = open_journal(store)
    for length, event in enumerate(EVERY_KIND):
        journal.append(length, [event])
    journal.close()
    journal = open_journal(store)
    for event, read in zip(EVERY_KIND, journal.read(), strict=True):
        assert read == event
        assert type(read) is type(event)
    journal.close()


def test_every_kind_is_covered():
    assert {type(event).__name__ for event in EVERY_KIND} == set(happened.KINDS)


def used(path):
    """A journal with a little of everything."""
    emu = Emulator(journal=path)
    jobs = emu.create_queue("jobs")
    emu.consume("jobs", lambda batch: batch.messages[0].retry(delaySeconds=60), max_batch_timeout=0, dead_letter_queue="dead")
    jobs.send_batch([{"body": n} for n in range(5)])
    emu.advance(10)
    jobs.send("later", delay_seconds=100)
    return emu


def test_a_restart_goes_on_where_the_emulator_was(store):
    emu = used(store)
    now, bodies, state = emu.now, emu.queue("jobs").bodies(), dump(emu.account.state)
    emu.close()
    emu = Emulator(journal=store)
    assert emu.now == now
    assert emu.queue("jobs").bodies() == bodies
    again = dump(emu.account.state)
    assert {name: queue["messages"] for name, queue in again["queues"].items()} == {
        name: queue["messages"] for name, queue in state["queues"].items()
    }
    seen = []
    emu.consume("jobs", lambda batch: seen.extend((m.body, m.attempts) for m in batch.messages), max_batch_timeout=0)
    emu.advance(1000)
    assert seen == [(0, 2), ("later", 1)]
    assert len({id for event in emu.events if isinstance(event, happened.Sent) for id in event.ids}) == 6
    emu.close()


def test_without_its_snapshot_a_journal_gives_the_same_state(store):
    emu = used(store)
    emu.close()
    journal = open_journal(store)
    seq, kept = journal.snapshot()
    assert seq == journal.length()
    assert dump(kept) == dump(replay(journal.read()))
    journal.close()


def test_a_batch_that_was_out_when_the_process_died_has_failed(store):
    emu = used(store)
    jobs = emu.queue("jobs")

    def dies(batch):
        batch.messages[0].ack()
        raise KeyboardInterrupt

    emu.attach(dies, queue="jobs")
    journal = emu.account.journal
    emu.timeline.deliveries.end = lambda *_: journal.close()  # the process is gone before the batch can be settled
    jobs.send("x")
    emu.advance(0)
    emu = Emulator(journal=store)
    assert emu.deliveries[-1].outcome == "daemonDown"
    assert "x" in emu.queue("jobs").bodies()
    emu.close()


@pytest.mark.parametrize("content", [b"no database at all", b"SQLite format 3\x00" + b"\x00" * 10, b"\x00" * 500])
def test_a_file_that_is_no_journal_is_refused_and_left_alone(content, tmp_path):
    path = tmp_path / "journal.db"
    path.write_bytes(content)
    with pytest.raises(JournalCorrupt, match="left untouched"):
        Emulator(journal=path)
    assert path.read_bytes() == content
    assert sorted(each.name for each in tmp_path.iterdir()) == ["journal.db"]


def test_another_programs_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE t (a)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(JournalCorrupt, match="another program"):
        Emulator(journal=path)
    assert path.read_bytes() == before


def test_a_newer_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "journal.db"
    used(path).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("PRAGMA user_version = 99")
    db.close()
    before = path.read_bytes()
    with pytest.raises(JournalNewer, match="format 99"):
        Emulator(journal=path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "damage", ["UPDATE events SET data = x'00' WHERE seq = 2", "DELETE FROM events WHERE seq = 2", "DROP TABLE events"]
)
def test_a_damaged_journal_is_refused_with_a_reason(damage, tmp_path):
    path = tmp_path / "journal.db"
    used(path).close()
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode = DELETE")
        db.execute("DELETE FROM snapshots")
        db.execute(damage)
    db.close()
    before = path.read_bytes()
    with pytest.raises(JournalError, match=r"damaged|missing|no such table"):
        Emulator(journal=path)
    assert path.read_bytes() == before


def test_a_damaged_snapshot_is_passed_over(tmp_path):
    path = tmp_path / "journal.db"
    used(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("UPDATE snapshots SET checksum = checksum + 1")
    emu = Emulator(journal=path)
    assert len(emu.queue("jobs")) == 2
    emu.close()


def test_a_closed_journal_says_so(store):
    journal = open_journal(store)
    journal.close()
    journal.close()
    with pytest.raises(ValueError, match="is closed"):
        journal.append(0, [CREATED])


def test_an_unknown_durability_is_refused(tmp_path):
    with pytest.raises(ValueError, match="NORMAL, FULL or OFF"):
        SQLiteJournal(tmp_path / "journal.db", synchronous="MAYBE")


def test_ids_that_are_written_once_are_read_everywhere(store):
    with Emulator(journal=store) as emu:
        jobs = emu.create_queue("jobs")
        emu.consume("jobs", lambda _batch: None, max_batch_size=10, max_batch_timeout=0)
        for size in (10, 10, 7, 3, 25):
            jobs.send_batch([{"body": n} for n in range(size)])
            emu.advance(1)
        whole = emu.events
    journal = open_journal(store)
    assert list(journal.read())[:-1] == whole
    for after in range(len(whole)):
        assert list(journal.read(after))[:-1] == whole[after:]
    journal.close()


def test_ids_are_written_once(tmp_path):
    with Emulator(journal=tmp_path / "journal.db") as emu:
        jobs = emu.create_queue("jobs")
        emu.consume("jobs", lambda _batch: None, max_batch_size=10, max_batch_timeout=0)
        jobs.send_batch([{"body": n} for n in range(20)])
        emu.advance(1)
    with closing(sqlite3.connect(tmp_path / "journal.db")) as db:
        sizes = [size for (size,) in db.execute("SELECT length(data) FROM events WHERE instr(data, 'Settled') ORDER BY seq")]
    assert len(sizes) == 2
    assert max(sizes) < 200


@pytest.mark.parametrize("wrong", [{"limits": "loose"}, {"plan": "gold"}, {"start": "yesterday"}])
def test_wrong_options_open_no_journal(wrong, tmp_path):
    with pytest.raises(ValueError):
        Emulator(journal=tmp_path / "journal.db", **wrong)
    assert list(tmp_path.iterdir()) == []


def test_a_journal_without_a_path_keeps_events_out_of_memory_and_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Emulator(journal=SQLiteJournal("")) as emu:
        jobs = emu.create_queue("jobs")
        emu.consume("jobs", lambda batch: batch.messages[0].retry(), max_retries=1)
        for _ in range(30):
            jobs.send_batch([{"body": "x" * 2_000}] * 100)
            emu.advance(10)
        events = emu.events
        assert sum(len(event.ids) for event in events if type(event).__name__ == "Sent") == 3_000
        assert dump(replay(events)) == dump(emu.account.state)
        emu.account.journal.keep_snapshot(emu.account.state)
        assert emu.account.journal.snapshot() is None
    assert list(tmp_path.iterdir()) == []


def half_done(path):
    """A file as a writer leaves it that is killed in the middle of a transaction, before the file has its write-ahead log."""
    with closing(sqlite3.connect(path.parent / "source.db", isolation_level=None)) as db:
        db.executescript(f"{sqlite_journal._CREATE} PRAGMA cache_size = 1; BEGIN;")
        for number in range(200):
            db.execute("INSERT INTO events VALUES (?, zeroblob(4000), 0)", (number + 1,))
        for ending in ("", "-journal"):
            copy(f"{path.parent / 'source.db'}{ending}", f"{path}{ending}")
    assert (path.parent / f"{path.name}-journal").stat().st_size > 0


def test_a_file_whose_writer_was_killed_while_it_made_it_is_continued(tmp_path):
    half_done(tmp_path / "journal.db")
    with closing(SQLiteJournal(tmp_path / "journal.db")) as journal:
        assert journal.length() == 0
        journal.append(0, [CREATED])
    with closing(SQLiteJournal(tmp_path / "journal.db")) as journal:
        assert list(journal.read()) == [CREATED]
    assert not (tmp_path / "journal.db-journal").exists()


def test_a_damaged_file_with_a_half_done_transaction_is_refused(tmp_path):
    file = tmp_path / "journal.db"
    half_done(file)
    content = file.read_bytes()
    file.write_bytes(content[:4096] + b"\x55" * (len(content) - 4096))
    (tmp_path / "journal.db-journal").write_bytes(b"nonsense" * 100)
    with pytest.raises(JournalCorrupt):
        SQLiteJournal(file)


def test_a_full_disk_keeps_nothing_of_an_append_and_the_next_one_goes_on(tmp_path):
    path = tmp_path / "journal.db"
    with closing(SQLiteJournal(path)) as journal:
        journal.append(0, [CREATED])
        (pages,) = journal._db.execute("PRAGMA page_count").fetchone()
        journal._db.execute(f"PRAGMA max_page_count = {pages}")
        large = replace(SENT, bodies=(b"x" * 50_000, b"y"))
        for events in ([large], [CREATED, large, CREATED]):
            with pytest.raises(JournalUnwritable):
                journal.append(1, events)
        journal._db.execute("PRAGMA max_page_count = 100000")
        journal.append(1, [large])
    with closing(SQLiteJournal(path)) as journal:
        assert list(journal.read()) == [CREATED, large]


def test_a_snapshot_that_finds_no_room_is_let_be(tmp_path, monkeypatch):
    monkeypatch.setattr("emulator.engine.account._SNAPSHOT_EVENTS", 5)
    path = tmp_path / "journal.db"
    journal = SQLiteJournal(path)
    emu = Emulator(journal=journal)
    emu.create_queue("jobs")
    emu.queue("jobs").send("x" * 50_000, "text")
    (pages,) = journal._db.execute("PRAGMA page_count").fetchone()
    journal._db.execute(f"PRAGMA max_page_count = {pages + 8}")
    for number in range(8):
        emu.queue("jobs").send(number)
        emu.account.tidy()
    assert journal.snapshot() is None
    journal.close()
    with Emulator(journal=SQLiteJournal(path)) as again:
        assert again.queue("jobs").bodies() == ["x" * 50_000, *range(8)]
