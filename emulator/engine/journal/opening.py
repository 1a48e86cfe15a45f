"""Which journal stands where: a path is an SQLite file, a URL of PostgreSQL an account in that database."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING

from emulator.engine.journal.sqlite import SQLiteJournal

if TYPE_CHECKING:
    from emulator.engine.journal import Journal

_SCHEMES = ("postgresql://", "postgres://")


def is_postgres(where: str | PathLike[str]) -> bool:
    """Whether it is a URL of a PostgreSQL database."""
    return fspath(where).startswith(_SCHEMES)


def open_journal(where: str | PathLike[str]) -> Journal:
    """The journal at a path or URL, made where there is none. Raises JournalError."""
    if is_postgres(where):
        from emulator.engine.journal.postgres import PostgresJournal  # loads psycopg

        return PostgresJournal(fspath(where))
    return SQLiteJournal(where)
