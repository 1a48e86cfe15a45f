"""A journal in an SQLite file, in WAL mode: each append is one transaction, so that a killed process leaves whole steps.

With `synchronous="NORMAL"` what was appended survives the process, with "FULL" also the machine. A file that is no journal, is
damaged, or was written by a newer version is refused before anything is written to it.
What refuses a file and what writes one stand together, because they must agree on every byte.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from zlib import crc32

from emulator.core.events import KINDS, Delivered, Event, LeasesSettled, Pulled, Sent, Settled, from_json, to_json
from emulator.engine.journal import JournalCorrupt, JournalNewer, JournalUnwritable, StaleWriter
from emulator.engine.journal.snapshot import dump, load

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emulator.core.model import State

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]

FORMAT = 1
"""The version of the tables; a file of a higher one is refused."""
_APPLICATION_ID = 0x43465131  # "CFQ1"
_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES, _VERSION_AT, _APPLICATION_AT = 100, 60, 68
_READ_ROWS = 1_000
_CHECKPOINT_PAGES = 16_000
"""The log is copied into the file when it has 64 MB: seldom enough to cost a run nothing."""

_IDS_AT: dict[type, int] = {Sent: 3, Delivered: 4, Settled: 6, Pulled: 3, LeasesSettled: 3}
"""Where the ids stand in the JSON of events that come in threes: sent, delivered or leased, acknowledged."""
_ORIGINS = (Sent, Delivered, Pulled)
"""The events whose ids another may name."""
_IDS_MIN = 4
_ORIGINS_MAX = 4_000

_TABLES = """
CREATE TABLE events (seq INTEGER PRIMARY KEY, data BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;
CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, data BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;
"""


def _to_bytes(value: Any) -> bytes:
    if orjson is not None:
        with contextlib.suppress(TypeError):
            return orjson.dumps(value)
    return json.dumps(value, ensure_ascii=True, separators=(",", ":")).encode()


class SQLiteJournal:
    """Events and snapshots in one file. Raises JournalCorrupt or JournalNewer for a file that it cannot continue.

    Without a path it is a temporary file that has no name and is gone with the process: for what a memory is too small for.
    """

    def __init__(self, path: str | os.PathLike[str], synchronous: str = "NORMAL") -> None:
        if synchronous not in {"NORMAL", "FULL", "OFF"}:
            message = f"synchronous must be NORMAL, FULL or OFF, not {synchronous!r}"
            raise ValueError(message)
        self.path = os.fspath(path)
        self._origins: dict[tuple[str, ...], int] = {}
        is_new = not self.path or _check_header(Path(self.path))
        if not is_new and _undo_half_done(self.path):
            is_new = _check_header(Path(self.path))
        if not is_new:
            _check_content(self.path)
        self._connection: sqlite3.Connection | None = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        if is_new:
            self._create()
        self._db.execute(f"PRAGMA journal_mode = {'WAL' if self.path else 'MEMORY'}")
        self._db.execute(f"PRAGMA synchronous = {synchronous if self.path else 'OFF'}")
        self._db.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
        (self._length,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()

    @property
    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            message = f"the journal {self.path} is closed"
            raise ValueError(message)
        return self._connection

    def _create(self) -> None:
        self._db.executescript(
            f"BEGIN; PRAGMA application_id = {_APPLICATION_ID}; PRAGMA user_version = {FORMAT}; {_TABLES} COMMIT;"
        )

    def length(self) -> int:
        """How many events this writer knows of."""
        length: int = self._length
        return length

    def append(self, expected: int, events: Iterable[Event]) -> None:
        """Keep events in one transaction. Raises StaleWriter, or JournalUnwritable on a full disk."""
        rows: list[tuple[int, bytes, int]] = []
        for event in events:
            seq = expected + len(rows) + 1
            data = _to_bytes(self._shortened(to_json(event), event, seq))
            rows.append((seq, data, crc32(data)))
        db = self._db
        try:
            if len(rows) == 1:
                db.execute("INSERT INTO events VALUES (?, ?, ?)", rows[0])
            else:
                db.execute("BEGIN IMMEDIATE")
                db.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)
                db.execute("COMMIT")
        except sqlite3.Error as error:
            self._origins.clear()  # what was not written may not be named
            if isinstance(error, sqlite3.IntegrityError):
                _roll_back(db)
                message = f"another writer has appended to {self.path} after event {expected}"
                raise StaleWriter(message) from error
            raise _unwritable(db, self.path, error) from error
        self._length = expected + len(rows)

    def _shortened(self, row: list[Any], event: Event, seq: int) -> list[Any]:
        """Name the event that has the same ids, instead of the ids: a batch of 100 would carry 3.5 KB of them three times."""
        place = _IDS_AT.get(type(event))
        if place is None or len(row[place]) < _IDS_MIN:
            return row
        ids: tuple[str, ...] = event[place - 1]  # type: ignore[assignment] # the table says which field has them
        origin = self._origins.get(ids)
        if origin is not None and type(event) is not Sent:
            row[place] = origin
        elif isinstance(event, _ORIGINS):
            if len(self._origins) >= _ORIGINS_MAX:
                self._origins.clear()
            self._origins[ids] = seq
        return row

    def read(self, after: int = 0) -> Iterator[Event]:
        """The events behind number `after`. Raises JournalCorrupt at one that is damaged."""
        ids: dict[int, tuple[str, ...]] = {}
        while True:
            rows = self._db.execute(
                "SELECT seq, data, checksum FROM events WHERE seq > ? ORDER BY seq LIMIT ?", (after, _READ_ROWS)
            ).fetchall()
            for seq, data, checksum in rows:
                event = self._event(seq, data, checksum, ids)
                if isinstance(event, _ORIGINS):
                    if len(ids) >= _ORIGINS_MAX:
                        ids.clear()
                    ids[seq] = event.ids
                yield event
            if len(rows) < _READ_ROWS:
                return
            after = rows[-1][0]

    def _event(self, seq: int, data: bytes, checksum: int, ids: dict[int, tuple[str, ...]]) -> Event:
        """An event, with its ids looked up where another event has them; `ids` are those of the events read before."""
        if crc32(data) != checksum:
            raise _corrupt(self.path, f"event {seq} is damaged")
        try:
            row = json.loads(data) if orjson is None else orjson.loads(data)
            place = _IDS_AT.get(KINDS[row[0]])
            if place is not None and type(row[place]) is int:
                row[place] = ids[row[place]] if row[place] in ids else self._ids_of(row[place])
            return from_json(row)
        except (KeyError, TypeError, ValueError) as error:
            raise _corrupt(self.path, f"event {seq} cannot be read: {error!r}") from error

    def _ids_of(self, seq: int) -> tuple[str, ...]:
        """The ids of one event, from the file."""
        (data,) = self._db.execute("SELECT data FROM events WHERE seq = ?", (seq,)).fetchone()
        row = json.loads(data)
        return tuple(row[_IDS_AT[KINDS[row[0]]]])

    def snapshot(self) -> tuple[int, State] | None:
        """The last snapshot that can be read; without one, everything is replayed."""
        rows = self._db.execute("SELECT seq, data, checksum FROM snapshots WHERE seq <= ? ORDER BY seq DESC", (self._length,))
        for seq, data, checksum in rows:
            if crc32(data) == checksum:
                return seq, load(json.loads(data))
        return None

    def keep_snapshot(self, state: State) -> None:
        """Keep the state after the last event, and drop what was kept before. Nobody comes back to a file without a name."""
        if not self.path:
            return
        data = _to_bytes(dump(state))
        db = self._db
        try:
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM snapshots")
            db.execute("INSERT INTO snapshots VALUES (?, ?, ?)", (self._length, data, crc32(data)))
            db.execute("COMMIT")
        except sqlite3.Error as error:
            raise _unwritable(db, self.path, error) from error

    def close(self) -> None:
        """Let go of the file."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _roll_back(db: sqlite3.Connection) -> None:
    """End a transaction that failed: what is written next may not become part of one that nobody commits."""
    if db.in_transaction:
        db.execute("ROLLBACK")


def _unwritable(db: sqlite3.Connection, path: str, error: sqlite3.Error) -> JournalUnwritable:
    _roll_back(db)
    return JournalUnwritable(f"{path or 'the journal'} cannot be written: {error}")


def _check_header(path: Path) -> bool:
    """Whether the file is yet to be made. Reads a hundred bytes and touches nothing; raises JournalCorrupt or JournalNewer."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        return True
    if not header:
        return True
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise _corrupt(str(path), "it is no SQLite file")
    if int.from_bytes(header[_APPLICATION_AT : _APPLICATION_AT + 4], "big") != _APPLICATION_ID:
        raise _corrupt(str(path), "it is an SQLite file of another program")
    version = int.from_bytes(header[_VERSION_AT : _VERSION_AT + 4], "big")
    if version > FORMAT:
        message = f"{path} was written in format {version}, and this version reads up to {FORMAT}; it was left untouched"
        raise JournalNewer(message)
    return False


def _undo_half_done(path: str) -> bool:
    """Undo what a writer was at that was killed before the file had its log: while it was made. Whether there was such a thing.

    SQLite does so for anybody who may write; the connection that checks the content may not, and would call the file damaged.
    """
    if not os.path.exists(f"{path}-journal"):
        return False
    db = sqlite3.connect(path)
    with contextlib.suppress(sqlite3.DatabaseError):  # what is damaged is said by who checks the content
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    db.close()
    return True


def _check_content(path: str) -> None:
    """Read everything once, on a connection that cannot write. Raises JournalCorrupt, and leaves no file that was not there."""
    besides = [Path(path + ending) for ending in ("-wal", "-shm")]
    alone = not any(each.exists() for each in besides)
    db = sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, isolation_level=None)
    try:
        _check_rows(db, path)
    except (sqlite3.DatabaseError, JournalCorrupt) as error:
        db.close()
        if alone:
            for each in besides:
                each.unlink(missing_ok=True)
        if isinstance(error, JournalCorrupt):
            raise
        raise _corrupt(path, str(error)) from error
    db.close()


def _check_rows(db: sqlite3.Connection, path: str) -> None:
    (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise _corrupt(path, verdict)
    count, last = db.execute("SELECT count(*), coalesce(max(seq), 0) FROM events").fetchone()
    if count != last:
        raise _corrupt(path, f"events are missing: {count} of {last} are there")
    for seq, data, checksum in db.execute("SELECT seq, data, checksum FROM events"):
        if crc32(data) != checksum:
            raise _corrupt(path, f"event {seq} is damaged")


def _corrupt(path: str, why: str) -> JournalCorrupt:
    message = f"{path} cannot be used as a journal: {why}; it was left untouched"
    return JournalCorrupt(message)
