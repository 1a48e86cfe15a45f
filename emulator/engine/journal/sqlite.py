"""A journal in an SQLite file, in WAL mode: each append is one transaction, so that a killed process leaves whole steps.

With `synchronous="NORMAL"` what was appended survives the process, with "FULL" also the machine.
"""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from emulator.engine.journal import StaleWriter, checking
from emulator.engine.journal.keeping import Keeping
from emulator.engine.journal.rows import RowReader, RowWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from emulator.core.events import Event
    from emulator.core.model import State

_READ_ROWS = 1_000
_CHECKPOINT_PAGES = 16_000
"""The log is copied into the file when it has 64 MB: seldom enough to cost a run nothing."""

_EVENTS = "CREATE TABLE events (seq INTEGER PRIMARY KEY, data BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;"
_SNAPSHOTS = """
CREATE TABLE snapshots (seq INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL, data BLOB NOT NULL,
                        checksum INTEGER NOT NULL) STRICT;
CREATE TABLE pieces (piece INTEGER PRIMARY KEY, data BLOB NOT NULL, checksum INTEGER NOT NULL) STRICT;
"""
_STAMP = f"PRAGMA application_id = {checking.APPLICATION_ID}; PRAGMA user_version = {checking.FORMAT};"
_CREATE = f"BEGIN; {_STAMP} {_EVENTS} {_SNAPSHOTS} COMMIT;"
_FROM_FORMAT_1 = f"BEGIN IMMEDIATE; {_STAMP} DROP TABLE snapshots; {_SNAPSHOTS} COMMIT;"
"""The events are as they were; a snapshot only spares time, and is made anew."""


class SQLiteJournal:
    """Events and snapshots in one file. Raises JournalCorrupt or JournalNewer for a file that it cannot continue.

    Without a path it is a temporary file that has no name and is gone with the process: for what a memory is too small for.
    """

    follows = False

    def __init__(self, path: str | os.PathLike[str], synchronous: str = "NORMAL") -> None:
        if synchronous not in {"NORMAL", "FULL", "OFF"}:
            message = f"synchronous must be NORMAL, FULL or OFF, not {synchronous!r}"
            raise ValueError(message)
        self.path = os.fspath(path)
        self._writer = RowWriter()
        self._keeping = Keeping(self, (sqlite3.Error,))
        is_new = not self.path or checking.check(self.path)
        try:
            self._connection: sqlite3.Connection | None = sqlite3.connect(
                self.path, isolation_level=None, check_same_thread=False
            )
            if is_new:
                self._db.executescript(_CREATE)
            self._db.execute(f"PRAGMA journal_mode = {'WAL' if self.path else 'MEMORY'}")
            self._db.execute(f"PRAGMA synchronous = {synchronous if self.path else 'OFF'}")
            self._db.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            (self._length,) = self._db.execute("SELECT coalesce(max(seq), 0) FROM events").fetchone()
            (self._format,) = self._db.execute("PRAGMA user_version").fetchone()
        except sqlite3.Error as error:
            raise checking.unwritable(self.path, error) from error

    @property
    def _db(self) -> sqlite3.Connection:
        if self._connection is None:
            message = f"the journal {self.path} is closed"
            raise ValueError(message)
        return self._connection

    def length(self) -> int:
        """How many events this writer knows of."""
        length: int = self._length
        return length

    def append(self, expected: int, events: Iterable[Event]) -> None:
        """Keep events in one transaction. Raises StaleWriter, or JournalUnwritable on a full disk."""
        rows: list[tuple[int, bytes, int]] = []
        try:
            for seq, event in enumerate(events, expected + 1):
                data = self._writer.row(seq, event)
                rows.append((seq, data, crc32(data)))
        except (TypeError, ValueError):
            self._writer.forget()
            raise
        db = self._db
        try:
            if self._format != checking.FORMAT:
                self._upgrade()
            if len(rows) == 1:
                db.execute("INSERT INTO events VALUES (?, ?, ?)", rows[0])
            else:
                db.execute("BEGIN IMMEDIATE")
                db.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)
                db.execute("COMMIT")
        except sqlite3.Error as error:
            self._writer.forget()
            _roll_back(db)
            if isinstance(error, sqlite3.IntegrityError):
                message = f"another writer has appended to {self.path} after event {expected}"
                raise StaleWriter(message) from error
            raise checking.unwritable(self.path, error) from error
        self._length = expected + len(rows)
        if self._keeping.busy:
            self._keeping.go_on()

    def _upgrade(self) -> None:
        (self._format,) = self._db.execute("PRAGMA user_version").fetchone()  # another writer may have been here
        if self._format != checking.FORMAT:
            self._db.executescript(_FROM_FORMAT_1)
            self._format = checking.FORMAT

    def read(self, after: int = 0) -> Iterator[Event]:
        """The events behind number `after`. Raises JournalCorrupt at one that is damaged."""
        reader = RowReader(self._data_of)
        while True:
            rows = self._db.execute(
                "SELECT seq, data, checksum FROM events WHERE seq > ? ORDER BY seq LIMIT ?", (after, _READ_ROWS)
            ).fetchall()
            for seq, data, checksum in rows:
                if crc32(data) != checksum:
                    raise checking.corrupt(self.path, f"event {seq} is damaged")
                try:
                    event = reader.event(seq, data)
                except (LookupError, TypeError, ValueError, msgspec.MsgspecError) as error:
                    raise checking.corrupt(self.path, f"event {seq} cannot be read: {error!r}") from error
                yield event
            if len(rows) < _READ_ROWS:
                return
            after = rows[-1][0]

    def _data_of(self, seq: int) -> bytes:
        data: bytes
        (data,) = self._db.execute("SELECT data FROM events WHERE seq = ?", (seq,)).fetchone() or (b"",)
        return data

    def snapshot(self) -> tuple[int, State] | None:
        """The last snapshot that can be read; without one, everything is replayed."""
        return self._keeping.load(self._length) if self._format == checking.FORMAT else None

    def keep_snapshot(self, state: State) -> None:
        """Keep the state after the last event, a piece behind each append, or when the journal is closed.

        One that cannot be kept is let be: it spares the next start time. A file without a name has none.
        """
        if self.path:
            self._keeping.begin(state, self._length)

    def last_piece(self) -> int:
        """For `Keeping`; a file of the first format is brought up to date."""
        if self._format != checking.FORMAT:
            self._upgrade()
        (last,) = self._db.execute("SELECT coalesce(max(piece), 0) FROM pieces").fetchone()
        return int(last)

    def add_piece(self, piece: int, data: bytes, checksum: int) -> None:
        """For `Keeping`."""
        self._db.execute("INSERT INTO pieces VALUES (?, ?, ?)", (piece, data, checksum))

    def publish(self, seq: int, first: int, last: int, header: bytes, checksum: int) -> None:
        """For `Keeping`."""
        db = self._db
        try:
            db.execute("BEGIN IMMEDIATE")
            db.execute("DELETE FROM snapshots")
            db.execute("INSERT INTO snapshots VALUES (?, ?, ?, ?, ?)", (seq, first, last, header, checksum))
            db.execute("COMMIT")
        except sqlite3.Error:
            _roll_back(db)
            raise

    def drop_piece(self, first: int) -> bool:
        """For `Keeping`."""
        done = self._db.execute("DELETE FROM pieces WHERE piece = (SELECT min(piece) FROM pieces) AND piece < ?", (first,))
        return done.rowcount > 0

    def headers(self, length: int) -> Iterable[tuple[int, int, int, bytes, int]]:
        """For `Keeping`."""
        return self._db.execute("SELECT * FROM snapshots WHERE seq <= ? ORDER BY seq DESC", (length,)).fetchall()

    def pieces(self, first: int, last: int) -> Iterable[tuple[int, bytes, int]]:
        """For `Keeping`."""
        return self._db.execute("SELECT piece, data, checksum FROM pieces WHERE piece BETWEEN ? AND ?", (first, last))

    @property
    def closed(self) -> bool:
        """Whether the file has been let go."""
        return self._connection is None

    def close(self) -> None:
        """Let go of the file, with what is left to write of a snapshot."""
        while self._connection is not None and self._keeping.busy:
            self._keeping.go_on()
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _roll_back(db: sqlite3.Connection) -> None:
    """End a transaction that failed: what is written next may not become part of one that nobody commits."""
    if db.in_transaction:
        db.execute("ROLLBACK")
