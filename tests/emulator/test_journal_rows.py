"""Nothing that is accepted is unreadable: every text comes out of a file as it went in, also when nobody closed the file."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from shutil import copy

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator import Emulator
from emulator.core import events as happened
from emulator.core.model import Consumer
from emulator.engine.journal import JournalUnwritable, StaleWriter
from emulator.engine.journal.rows import RowReader, RowWriter
from emulator.engine.journal.sqlite import SQLiteJournal

FIXTURE = Path(__file__).parents[2] / "fixtures" / "journals" / "format-1.db"
HALF = "12\ud83d"
"""What JavaScript's slice() leaves of a text with an emoji: half a surrogate pair, which no UTF-8 has."""

texts = st.text(st.characters(exclude_categories=()) | st.sampled_from('\ud83d\ude00\x00"\\\u2028é'), max_size=30)
numbers = st.integers() | st.integers(-(2**70), 2**70)


@settings(max_examples=150, deadline=None)
@given(texts, st.lists(texts, max_size=3), numbers, st.binary(max_size=40), st.floats(0, 60))
@example(HALF, [HALF, "\x00"], 2**70, b"\xff\x00", 5)
@example("\ud83d\ude00", ["😀"], -(2**63) - 1, "é\x00".encode(), 0.1)
def test_a_row_gives_its_event_back(text, some, number, body, seconds):
    ids = tuple(f"{n:032x}" for n in range(5))
    events = [
        happened.Sent(number, text, ids, (body, text.encode("utf-8", "replace"), b"", b"{}", b'"\\ud83d"'), ("json",) * 5, (number,) * 5),
        happened.Delivered(number, text, 1, ids, (1,) * 5),
        happened.Settled(number, text, 1, text, text, ids, warnings=tuple(some), scale=(1, 0, number)),
        happened.Settled(number, text, 1, "exception", None, (), ids[:3], (number,) * 3, ids[3:], text, warnings=tuple(some)),
        happened.LeasesSettled(number, text, (), warnings=tuple((each, text) for each in some)),
        happened.Pulled(number, text, ids, (2,) * 5, tuple(f"{id}.{text}" for id in ids), number),
        happened.ConsumerSet(number, text, Consumer(max_batch_timeout=seconds, dead_letter_queue=text, max_retries=number), True),
    ]
    writer, rows = RowWriter(), []
    for seq, event in enumerate(events, 1):
        rows.append(writer.row(seq, event))
    reader = RowReader(lambda seq: rows[seq - 1])
    read = [reader.event(seq, row) for seq, row in enumerate(rows, 1)]
    assert read == events
    assert repr(read) == repr(events), "5 does not become 5.0"
    again = RowReader(lambda seq: rows[seq - 1])
    assert [again.event(seq, rows[seq - 1]) for seq in range(len(rows), 0, -1)] == events[::-1], "without what came before"


def test_ids_of_an_event_that_was_not_written_are_not_named(tmp_path):
    """A row that cannot be made takes those of its step with it; the next step may not name their ids."""
    ids = tuple(f"{n:032x}" for n in range(5))
    sent = happened.Sent(1, "q", ids, (b"",) * 5, ("json",) * 5, (1,) * 5)
    with closing(SQLiteJournal(tmp_path / "journal.db")) as journal:
        with pytest.raises(TypeError):
            journal.append(0, [sent, happened.Delivered(1, "q", 1, ids, (object(),))])
        journal.append(0, [happened.QueueCreated(1, "q", 0, 60, None), happened.Delivered(1, "q", 1, ids, (1,) * 5)])
        assert [type(event).__name__ for event in journal.read()] == ["QueueCreated", "Delivered"]
        assert list(journal.read())[1].ids == ids


bodies = st.recursive(
    st.none() | st.booleans() | numbers | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(texts, inside, max_size=3), max_leaves=8,
)


@settings(max_examples=40, deadline=None)
@given(texts, texts, bodies)
@example(HALF, HALF, {"name": HALF, "n": [2**70, 1e-7, "\x00"]})
@example("x" * 128_000, "\x00", "é" * 60_000)
def test_what_an_emulator_accepted_is_there_after_it_was_killed(error, lease, body):
    def handle(_batch):
        raise ValueError(error)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "journal.db"
        killed = Emulator(journal=path)
        killed.create_queue("jobs").send(body)
        killed.consume("jobs", handle, max_batch_timeout=0, max_retries=0, dead_letter_queue="dead")
        killed.create_queue("pulled").send(body)
        killed.consume("pulled", type="http_pull")
        killed.run_until_idle()
        (message,) = killed.queue("pulled").pull()
        killed.queue("pulled").ack(acks=[lease], retries=[message.lease_id])
        count = len(killed.events)
        before = [repr(told) for told in (killed.events, killed.fates, killed.deliveries, killed.queue("dead").bodies())]
        emu = Emulator(journal=path)  # nothing was closed: the file and its log are as a killed process leaves them
        seen = [repr(told) for told in (emu.events[:count], emu.fates, emu.deliveries, emu.queue("dead").bodies())]
        assert seen == before
        emu.close()
        with closing(SQLiteJournal(path)) as journal:
            assert len(list(journal.read())) == journal.length()
        killed.account.journal.close()


# --- a file of version 0.1.0


def test_a_journal_that_version_0_1_0_wrote_is_read_and_continued(tmp_path):
    path = tmp_path / "journal.db"
    copy(FIXTURE, path)
    emu = Emulator(journal=path)
    assert emu.now.isoformat() == "2026-01-01T00:02:03+00:00"
    assert emu.queue("dead").bodies() == ["not dead"]
    assert emu.queue("jobs").bodies() == [{"n": 3}, "waits"]
    plain, listed, late, cloned = emu.queue("pulled").bodies()
    assert (plain, listed, late, cloned["set"]) == ("plain", [1, {"a": [2, None]}], "late", {1, 2})
    assert [repr(d.error) for d in emu.deliveries if d.error] == [repr(f"ValueError: bad name: {HALF}")]
    exact = next(fate for fate in emu.fates if isinstance(fate.body, dict) and "exact" in fate.body)
    assert exact.body == {"exact": 2**70, "text": "é😀"}
    assert emu.queue("jobs").settings.delivery_paused
    emu.queue("jobs").send("new")
    emu.close()
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (2,)
    emu = Emulator(journal=path)
    assert emu.queue("jobs").bodies() == [{"n": 3}, "waits", "new"]
    emu.close()


def test_of_two_writers_of_an_old_journal_one_continues_it(tmp_path):
    path = tmp_path / "journal.db"
    copy(FIXTURE, path)
    one, other = SQLiteJournal(path), SQLiteJournal(path)
    one.append(27, [happened.ClockStopped(1)])
    with pytest.raises(StaleWriter):
        other.append(27, [happened.ClockStopped(1)])
    for each in (one, other):
        each.close()


def test_an_old_journal_on_a_full_disk_stays_as_it_was(tmp_path):
    path = tmp_path / "journal.db"
    copy(FIXTURE, path)
    with closing(SQLiteJournal(path)) as journal:
        journal._db.execute("PRAGMA max_page_count = {}".format(*journal._db.execute("PRAGMA page_count").fetchone()))
        sent = happened.Sent(1, "jobs", ("f" * 32,), (b"x" * 50_000,), ("text",), (1,))
        with pytest.raises(JournalUnwritable):
            journal.append(27, [sent])
    with closing(SQLiteJournal(path)) as journal:
        assert journal.length() == len(list(journal.read())) == 27


def test_a_journal_of_version_0_1_0_that_is_only_read_stays_as_it_was(tmp_path):
    path = tmp_path / "journal.db"
    copy(FIXTURE, path)
    with closing(SQLiteJournal(path)) as journal:
        assert len(list(journal.read())) == journal.length() == 27
        assert journal.snapshot() is None
    assert path.read_bytes() == FIXTURE.read_bytes()
