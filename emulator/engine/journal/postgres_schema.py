"""The tables of a PostgreSQL journal, in the schema that the connection finds first, and how older ones become these.

`MIGRATIONS` leads from each version to the next, in one transaction that one client at a time may have. A database of a later
version is refused, and left as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.engine.journal import JournalNewer

if TYPE_CHECKING:
    import psycopg

_LOCK = 0x43465131
"""The key of the advisory lock under which tables are made, "CFQ1"."""

_JOURNAL = """
CREATE TABLE cfq_accounts (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE,
    length bigint NOT NULL DEFAULT 0,
    fence bigint NOT NULL DEFAULT 0
);
CREATE TABLE cfq_events (
    account integer NOT NULL REFERENCES cfq_accounts, seq bigint NOT NULL, data bytea NOT NULL, checksum bigint NOT NULL,
    PRIMARY KEY (account, seq)
);
CREATE TABLE cfq_snapshots (
    account integer NOT NULL REFERENCES cfq_accounts, seq bigint NOT NULL, first bigint NOT NULL, last bigint NOT NULL,
    data bytea NOT NULL, checksum bigint NOT NULL, PRIMARY KEY (account, seq)
);
CREATE TABLE cfq_pieces (
    account integer NOT NULL REFERENCES cfq_accounts, piece bigint NOT NULL, data bytea NOT NULL, checksum bigint NOT NULL,
    PRIMARY KEY (account, piece)
);
"""
_DIRECTORY = """
CREATE TABLE cfq_directory (
    account integer NOT NULL REFERENCES cfq_accounts, kind text NOT NULL, key text NOT NULL, data text NOT NULL,
    PRIMARY KEY (account, kind, key)
);
ALTER TABLE cfq_accounts ADD directory_changes bigint NOT NULL DEFAULT 0;
"""
_NODES = """
ALTER TABLE cfq_accounts ADD address text, ADD beat timestamptz;
"""
MIGRATIONS = (_JOURNAL, _DIRECTORY, _NODES)
VERSION = len(MIGRATIONS)


def migrate(db: psycopg.Connection[tuple[int, ...]]) -> None:
    """Bring the tables up to date. Raises JournalNewer, and psycopg.Error where the role may not create tables."""
    if _version(db) == VERSION:
        return
    with db.transaction():
        db.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        found = _version(db)
        if found > VERSION:
            message = f"the database has tables of version {found}, and this version reads up to {VERSION}; nothing was changed"
            raise JournalNewer(message)
        if not found:
            db.execute("CREATE TABLE cfq_version (version integer NOT NULL)")
            db.execute("INSERT INTO cfq_version VALUES (0)")
        for script in MIGRATIONS[found:]:
            db.execute(script)
        db.execute("UPDATE cfq_version SET version = %s", (VERSION,))


def _version(db: psycopg.Connection[tuple[int, ...]]) -> int:
    """0 for a database without tables of ours."""
    found = db.execute("SELECT to_regclass('cfq_version')").fetchone()
    if found is None or found[0] is None:
        return 0
    row = db.execute("SELECT version FROM cfq_version").fetchone()
    return 0 if row is None else row[0]
