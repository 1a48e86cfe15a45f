"""Whether a file is a journal that can be continued. What is refused is left as it was, byte for byte.

SQLite's own check finds a damaged structure: also a page that is free and in use, which the next append would overwrite. The
checksums find a changed byte within a row, and the count a row that is gone.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote
from zlib import crc32

from emulator.engine.journal import JournalCorrupt, JournalNewer, JournalUnwritable

FORMAT = 2
"""The version of the tables; a file of a higher one is refused. Version 1 kept its snapshots in one row each."""
APPLICATION_ID = 0x43465131  # "CFQ1"
_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES, _VERSION_AT, _APPLICATION_AT = 100, 60, 68
_UNUSABLE = {"SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_READONLY", "SQLITE_NOTADIR"}
"""What SQLite answers when the file may be sound, and yet cannot be used."""


def check(path: str) -> bool:
    """Whether the file is yet to be made. Raises JournalCorrupt, JournalNewer, or JournalUnwritable where none can be."""
    if _check_header(path):
        return True
    if _undo_half_done(path) and _check_header(path):
        return True
    _check_content(path)
    return False


def unwritable(path: str, why: object) -> JournalUnwritable:
    """The error for a journal that SQLite or the system keeps from being written."""
    return JournalUnwritable(f"{path or 'the journal'} cannot be written: {why}")


def corrupt(path: str, why: str) -> JournalCorrupt:
    """The error for a file that is no sound journal."""
    return JournalCorrupt(f"{path} cannot be used as a journal: {why}; it was left untouched")


def _check_header(path: str) -> bool:
    """Reads a hundred bytes and touches nothing."""
    try:
        with open(path, "rb") as file:
            header = file.read(_HEADER_BYTES)
    except FileNotFoundError as error:
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise unwritable(path, "its folder does not exist") from error
        return True
    except OSError as error:
        raise unwritable(path, error.strerror) from error
    if not header:
        return True
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        raise corrupt(path, "it is no SQLite file")
    if int.from_bytes(header[_APPLICATION_AT : _APPLICATION_AT + 4], "big") != APPLICATION_ID:
        raise corrupt(path, "it is an SQLite file of another program")
    version = int.from_bytes(header[_VERSION_AT : _VERSION_AT + 4], "big")
    if version > FORMAT:
        raise JournalNewer(
            f"{path} was written in format {version}, and this version reads up to {FORMAT}; it was left untouched"
        )
    return False


def _undo_half_done(path: str) -> bool:
    """Undo what a writer was at that was killed before the file had its log: while it was made. Whether there was such a thing.

    SQLite does so for anybody who may write; the connection that checks the content may not, and would call the file damaged.
    """
    if not os.path.exists(f"{path}-journal"):
        return False
    with closing(sqlite3.connect(path)) as db, suppress(sqlite3.DatabaseError):  # what is damaged is said by `_check_content`
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    return True


def _check_content(path: str) -> None:
    """Read everything once, on a connection that cannot write, and leave no file that was not there."""
    besides = [Path(path + ending) for ending in ("-wal", "-shm")]
    alone = not any(each.exists() for each in besides)
    try:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, isolation_level=None)) as db:
            _check_rows(db, path)
    except (sqlite3.Error, JournalCorrupt) as error:
        if alone:
            for each in besides:
                each.unlink(missing_ok=True)
        if isinstance(error, JournalCorrupt):
            raise
        if getattr(error, "sqlite_errorname", "") in _UNUSABLE:
            raise unwritable(path, error) from error
        raise corrupt(path, str(error)) from error


def _check_rows(db: sqlite3.Connection, path: str) -> None:
    (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise corrupt(path, verdict)
    count, last = db.execute("SELECT count(*), coalesce(max(seq), 0) FROM events").fetchone()
    if count != last:
        raise corrupt(path, f"events are missing: {count} of {last} are there")
    rows = db.execute("SELECT data, checksum FROM events ORDER BY seq")
    for seq, (data, checksum) in enumerate(rows, 1):
        if crc32(data) != checksum:
            raise corrupt(path, f"event {seq} is damaged")
