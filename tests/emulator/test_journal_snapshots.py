"""Snapshots: in pieces, behind appends, only where they spare time, and never a reason for anything to fail."""

from __future__ import annotations

import random
import re
import sqlite3
from contextlib import closing

import pytest

from emulator import Emulator
from emulator.core import commands, machine
from emulator.core.limits import RELAXED
from emulator.core.model import Consumer, State
from emulator.engine.journal import replay, restore, snapshot
from emulator.engine.journal.opening import is_postgres, open_journal
from emulator.engine.journal.sqlite import SQLiteJournal
from tests.emulator.core_dump import dump
from tests.emulator.test_core_machine import NAMES, Play


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(snapshot, "PIECE_MESSAGES", 3)


def run_sql(store, statement):
    """The first row that a statement of SQLite's gives, also where the tables are PostgreSQL's."""
    if not is_postgres(store):
        with closing(sqlite3.connect(store, isolation_level=None)) as db:
            return db.execute(statement).fetchone()
    import psycopg

    statement = re.sub(r"\b(pieces|snapshots)\b", r"cfq_\1", statement).replace("x'00'", r"'\x00'")
    with psycopg.connect(store, autocommit=True) as db:
        done = db.execute(statement)
        return done.fetchone() if done.description else None


def kept(store):
    return run_sql(store, "SELECT (SELECT max(seq) FROM snapshots), (SELECT count(*) FROM pieces)")


class Stored:
    """A machine whose events go into a file, as an account's do."""

    def __init__(self, path):
        self.journal, self.state = open_journal(path), State()

    def step(self, now_us, command):
        machine.step(self.state, now_us, command, RELAXED, self.record)

    def record(self, events):
        self.journal.append(self.journal.length(), events)


def filled(path, count=20, each=1):
    """A queue with messages that were sent one by one, or some at a time."""
    stored = Stored(path)
    stored.step(0, commands.CreateQueue("jobs"))
    for n in range(0, count, each):
        ids = tuple(f"{n + k:032x}" for k in range(each))
        stored.step(n, commands.Send("jobs", ids, (b"1",) * each, ("json",) * each, (None,) * each))
    return stored


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("seed", range(6))
def test_a_snapshot_is_of_its_moment_however_late_its_pieces_are_written(seed, store):
    play, journal, chance = Play(seed), open_journal(store), random.Random(seed)
    for name in NAMES:
        play.step(commands.CreateQueue(name))
    written = 0
    for _ in range(200):
        play.now_us += play.random.choice([0, 1_000_000, 30_000_000])
        play.step(play.command())
        new = play.events[written:]
        if new:
            journal.append(written, new)
            written = len(play.events)
        if chance.random() < 0.2:
            journal.keep_snapshot(play.state)
        if chance.random() < 0.1:
            found = journal.snapshot()
            if found is not None:
                assert dump(found[1]) == dump(replay(play.events[: found[0]]))
    killed = open_journal(store)  # the first has closed nothing
    again = restore(killed, "paid")
    assert dump(again) == dump(play.state)
    assert machine.next_wake(again) == machine.next_wake(play.state)
    for each in (killed, journal):
        each.close()


@pytest.mark.usefixtures("small_pieces")
def test_each_append_writes_one_piece_and_what_was_kept_before_holds_until_the_last(store):
    stored = filled(store)
    stored.journal.keep_snapshot(stored.state)
    assert kept(store) == (None, 1)
    for n in range(5):
        stored.step(100, commands.ChangeQueue("jobs", n + 1))
        assert kept(store) == (None, n + 2)
    stored.step(100, commands.ChangeQueue("jobs", 60))
    assert kept(store) == (21, 7)
    for n in range(60):
        stored.step(200, commands.Purge("jobs") if n == 30 else commands.ChangeQueue("jobs", n + 1))
    stored.journal.keep_snapshot(stored.state)
    assert kept(store) == (21 + 6 + 60, 6), "nothing is left to keep but the header; the pieces of the first go one by one"
    stored.journal.close()
    assert kept(store) == (21 + 6 + 60, 0)
    with closing(open_journal(store)) as journal:
        assert dump(restore(journal, "paid")) == dump(stored.state)


@pytest.mark.usefixtures("small_pieces")
def test_pieces_without_their_header_count_for_nothing(store):
    stored = filled(store)
    stored.journal.keep_snapshot(stored.state)
    with closing(open_journal(store)) as journal:
        assert journal.snapshot() is None
        assert dump(restore(journal, "paid")) == dump(stored.state)
        journal.keep_snapshot(stored.state)
    with closing(open_journal(store)) as journal:
        assert journal.snapshot()[0] == 21
        assert dump(restore(journal, "paid")) == dump(stored.state)
    assert kept(store) == (21, 7), "what the first had left is gone"
    stored.journal._connection.close()


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize(
    "damage", ["UPDATE pieces SET data = x'00' WHERE piece = 2", "DELETE FROM pieces WHERE piece = 7", "DELETE FROM pieces",
               "UPDATE snapshots SET data = x'00'", "UPDATE snapshots SET last = last - 1", "UPDATE snapshots SET seq = seq - 1"]
)  # fmt: skip
def test_a_damaged_snapshot_is_passed_over(damage, store):
    stored = filled(store)
    stored.journal.keep_snapshot(stored.state)
    stored.journal.close()
    run_sql(store, damage)
    with closing(open_journal(store)) as journal:
        assert dump(restore(journal, "paid")) == dump(stored.state)


def test_a_snapshot_is_kept_only_where_it_spares_time(tmp_path):
    singles, batches = filled(tmp_path / "singles.db", 2_000), filled(tmp_path / "batches.db", 2_000, each=100)
    for stored in (singles, batches):
        stored.journal.keep_snapshot(stored.state)
    assert kept(tmp_path / "singles.db")[0] == 2_001
    assert kept(tmp_path / "batches.db") == (None, 0), "messages that wait are replayed sooner than loaded"
    batches.step(3_000, commands.SetConsumer("jobs", Consumer(), attached=True))
    for _ in range(195):
        machine.step(batches.state, 10_000_000, None, RELAXED, batches.record)
        for batch in list(batches.state.queues["jobs"].flights):
            batches.step(10_000_000, commands.Settle("jobs", batch, "ok"))
    batches.journal.keep_snapshot(batches.state)
    assert kept(tmp_path / "batches.db")[0] == batches.journal.length(), "what has come and gone is not replayed"
    for stored in (singles, batches):
        stored.journal.close()


def test_more_than_sqlite_takes_in_one_value_is_kept_in_pieces(tmp_path, monkeypatch):
    """SQLite takes up to a gigabyte in one value; here it is a megabyte, and the bodies have ten."""
    monkeypatch.setattr(snapshot, "PIECE_BYTES", 500_000)
    emu = Emulator(journal=tmp_path / "journal.db")
    emu.account.journal._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
    jobs = emu.create_queue("jobs")
    for n in range(100):
        jobs.send(f"{n:0100000}", "text")
    before = jobs.bodies()
    emu.close()
    seq, pieces = kept(tmp_path / "journal.db")
    assert seq == 101
    assert pieces == 20
    with Emulator(journal=tmp_path / "journal.db") as again:
        assert again.queue("jobs").bodies() == before


def test_a_snapshot_that_cannot_be_kept_stops_nobody(tmp_path):
    """A full disk, and a number that no snapshot takes: the events are there, and nothing is raised."""
    emu = Emulator(journal=tmp_path / "journal.db")
    emu.create_queue("jobs").send("x" * 100_000, "text")
    emu.advance(1)
    db = emu.account.journal._db
    emu.account.execute(commands.StopClock())
    db.execute("PRAGMA max_page_count = {}".format(*db.execute("PRAGMA page_count").fetchone()))
    emu.close()
    assert kept(tmp_path / "journal.db") == (None, 0)
    with Emulator(journal=tmp_path / "journal.db") as again:
        assert again.queue("jobs").bodies() == ["x" * 100_000]
    stored = filled(tmp_path / "huge.db")
    stored.step(100, commands.Send("jobs", ("f" * 32,), (b"1",), ("json",), (2**70,)))
    stored.journal.keep_snapshot(stored.state)
    stored.journal.close()
    assert kept(tmp_path / "huge.db")[0] is None
    with closing(SQLiteJournal(tmp_path / "huge.db")) as journal:
        assert dump(restore(journal, "paid")) == dump(stored.state)
