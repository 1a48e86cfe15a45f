"""A directory in an SQLite file: the journal's own, in a table beside it."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

from emulator.engine.journal import JournalUnwritable

if TYPE_CHECKING:
    from collections.abc import Iterable

_TABLE = "CREATE TABLE IF NOT EXISTS directory (kind TEXT, key TEXT, data TEXT NOT NULL, PRIMARY KEY (kind, key)) STRICT"


class DirectoryFile:
    """The rows of a directory in a file."""

    def __init__(self, path: str) -> None:
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute(_TABLE)

    def rows(self) -> Iterable[tuple[str, str, str]]:
        """What is kept: (kind, key, data)."""
        return self._db.execute("SELECT kind, key, data FROM directory").fetchall()

    def keep(self, kind: str, key: str, data: str) -> None:
        """Keep a row in place of the one of that key. Raises JournalUnwritable."""
        self._write("INSERT OR REPLACE INTO directory VALUES (?, ?, ?)", kind, key, data)

    def drop(self, kind: str, key: str) -> None:
        """Let a row go. Raises JournalUnwritable."""
        self._write("DELETE FROM directory WHERE kind = ? AND key = ?", kind, key)

    def _write(self, statement: str, *values: str) -> None:
        try:
            self._db.execute(statement, values)
        except sqlite3.Error as error:
            message = f"what the API knows of a queue cannot be written: {error}"
            raise JournalUnwritable(message) from error

    def close(self) -> None:
        """Let go of the file."""
        with contextlib.suppress(sqlite3.Error):
            self._db.close()
