"""A journal in PostgreSQL: each append is one statement, committed before it returns.

Why two writers cannot both be right: the statement changes the account's row only where its `length` is the number that the
writer expects and its `fence` the one that the writer was given, and stores events only where it did. PostgreSQL lets one at a
time change a row, and the next one sees what it left: of two appends behind one event the second stores nothing. So does every
append of a writer whose fence has been raised since, however long it was frozen, and however late its statement arrives.

A connection that breaks during an append leaves open whether it was committed. The caller is told that nothing was kept; if it
was, the next append expects too low a number and is refused as stale. So what is answered for is there, and nothing is twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

import msgspec

from emulator.engine.journal import JournalCorrupt, JournalError, JournalUnwritable, StaleWriter
from emulator.engine.journal.keeping import Keeping
from emulator.engine.journal.postgres_schema import migrate
from emulator.engine.journal.rows import RowReader, RowWriter

try:
    import psycopg
except ImportError:  # the extra `postgres` is not installed
    psycopg = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from emulator.core.events import Event
    from emulator.core.model import State

_READ_ROWS = 1_000
_CONNECTION: dict[str, Any] = {
    "connect_timeout": 3, "keepalives_idle": 2, "keepalives_interval": 1, "keepalives_count": 2, "tcp_user_timeout": 3_000,
    "application_name": "cfq-emulator",
}  # fmt: skip
"""A database that is cut off is noticed within seconds (libpq's settings; the URL may give others)."""
_SESSION = "SET lock_timeout = '3s'; SET client_min_messages = 'warning'"
_APPEND = """
WITH mine AS (
    UPDATE cfq_accounts SET length = %(last)s
    WHERE id = %(account)s AND length = %(expected)s AND fence = %(fence)s
    RETURNING id, CASE WHEN %(channel)s <> '' THEN pg_notify(%(channel)s, '') END
)
INSERT INTO cfq_events SELECT mine.id, row.seq, row.data, row.checksum
FROM mine, unnest(%(seqs)s::bigint[], %(data)s::bytea[], %(checksums)s::bigint[]) AS row (seq, data, checksum)
"""

_CHANGE = """
WITH mine AS (
    UPDATE cfq_accounts SET directory_changes = directory_changes + 1 WHERE id = %(account)s AND fence = %(fence)s RETURNING id
)"""


class PostgresJournal:
    """The events and snapshots of one account. Raises JournalUnwritable where the database cannot be used, JournalNewer.

    `url` is what libpq takes: https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-CONNSTRING-URIS. `account` is a
    name of your own; accounts share the tables, and nothing else.
    """

    def __init__(self, url: str, account: str = "") -> None:
        if psycopg is None:
            raise JournalUnwritable("a PostgreSQL journal needs psycopg: pip install 'cfq-lint[postgres]'")
        self.url, self.name = url, account
        self._writer = RowWriter()
        self._keeping = Keeping(self, (psycopg.Error, JournalError))
        self._connection: psycopg.Connection[Any] | None = None
        self._closed = False
        try:
            migrate(self._db)
            self._run("INSERT INTO cfq_accounts (name) VALUES (%s) ON CONFLICT DO NOTHING", (account,))
            found = self._rows("SELECT id, length, fence FROM cfq_accounts WHERE name = %s", (account,))
        except psycopg.Error as error:
            self.close()
            raise unwritable(error) from error
        except JournalError:
            self.close()
            raise
        self.account, self._length, self.fence = found[0]

    @property
    def follows(self) -> bool:
        """Never: who appends first is right."""
        return False

    # --- the connection

    @property
    def _db(self) -> psycopg.Connection[Any]:
        """The connection, made anew where it was lost."""
        if self._closed:
            raise ValueError("the journal is closed")
        if self._connection is None or self._connection.closed:
            try:
                self._connection = psycopg.connect(self.url, autocommit=True, **_defaults(self.url))
                self._connection.execute(_SESSION)
            except psycopg.Error as error:
                raise unwritable(error) from error
        return self._connection

    def _run(self, statement: str, values: Sequence[Any] | dict[str, Any] = (), *, binary: bool = False) -> psycopg.Cursor[Any]:
        try:
            return self._db.execute(statement, values, prepare=True, binary=binary)
        except psycopg.Error as error:
            raise unwritable(error) from error

    def _rows(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._run(statement, values, binary=True).fetchall()

    @property
    def _me(self) -> dict[str, int]:
        """Whose statement it is."""
        return {"account": self.account, "fence": self.fence}

    def _told(self) -> str:
        """The channel on which those who follow are to hear of an append; "" for none."""
        return ""

    def _stale(self) -> StaleWriter:
        return StaleWriter(f"another writer has appended to the account {self.name!r} meanwhile, or leads it now")

    # --- events

    def length(self) -> int:
        """How many events this writer knows of. Raises JournalUnwritable while the database is away."""
        self._db  # noqa: B018 - it is looked for
        length: int = self._length
        return length

    def append(self, expected: int, events: Iterable[Event]) -> None:
        """Keep events in one transaction. Raises StaleWriter, or JournalUnwritable where the database does not take them."""
        try:
            data = [self._writer.row(seq, event) for seq, event in enumerate(events, expected + 1)]
        except (TypeError, ValueError):
            self._writer.forget()
            raise
        last = expected + len(data)
        values = {
            **self._me, "channel": self._told(), "expected": expected, "last": last, "data": data,
            "seqs": list(range(expected + 1, last + 1)), "checksums": list(map(crc32, data)),
        }  # fmt: skip
        try:
            kept = self._run(_APPEND, values).rowcount
        except JournalError:
            self._writer.forget()
            raise
        if kept != len(data):
            self._writer.forget()
            raise self._stale()
        self._length = last
        if self._keeping.busy:
            self._keeping.go_on()

    def read(self, after: int = 0) -> Iterator[Event]:
        """The events behind number `after` that it knows of. Raises JournalCorrupt at one that is damaged or missing."""
        reader = RowReader(self._data_of)
        while True:
            rows = self._rows(
                "SELECT seq, data, checksum FROM cfq_events WHERE account = %s AND seq BETWEEN %s AND %s ORDER BY seq",
                (self.account, after + 1, min(after + _READ_ROWS, self._length)),
            )
            for expected, (seq, data, checksum) in enumerate(rows, after + 1):
                if seq != expected:
                    raise self._corrupt(f"event {expected} is missing")
                if crc32(data) != checksum:
                    raise self._corrupt(f"event {seq} is damaged")
                try:
                    event = reader.event(seq, data)
                except (LookupError, TypeError, ValueError, msgspec.MsgspecError) as error:
                    raise self._corrupt(f"event {seq} cannot be read: {error!r}") from error
                yield event
            if len(rows) < _READ_ROWS:
                return
            after = rows[-1][0]

    def _data_of(self, seq: int) -> bytes:
        rows = self._rows("SELECT data FROM cfq_events WHERE account = %s AND seq = %s", (self.account, seq))
        return rows[0][0] if rows else b""

    def _corrupt(self, why: str) -> JournalCorrupt:
        return JournalCorrupt(f"the journal of account {self.name!r} cannot be used: {why}; it was left untouched")

    # --- snapshots

    def snapshot(self) -> tuple[int, State] | None:
        """The last snapshot that can be read; without one, everything is replayed."""
        return self._keeping.load(self._length)

    def keep_snapshot(self, state: State) -> None:
        """Keep the state after the last event, a piece behind each append, or when the journal is closed."""
        self._keeping.begin(state, self._length)

    def last_piece(self) -> int:
        """For `Keeping`."""
        rows = self._rows("SELECT coalesce(max(piece), 0) FROM cfq_pieces WHERE account = %s", (self.account,))
        return int(rows[0][0])

    def add_piece(self, piece: int, data: bytes, checksum: int) -> None:
        """For `Keeping`. A number that another writer has taken is refused."""
        self._run("INSERT INTO cfq_pieces VALUES (%s, %s, %s, %s)", (self.account, piece, data, checksum))

    def publish(self, seq: int, first: int, last: int, header: bytes, checksum: int) -> None:
        """For `Keeping`: only a writer that is not stale may."""
        db = self._db
        with db.transaction():
            found = db.execute("SELECT fence FROM cfq_accounts WHERE id = %s FOR UPDATE", (self.account,)).fetchone()
            if found != (self.fence,):
                raise self._stale()
            db.execute("DELETE FROM cfq_snapshots WHERE account = %s", (self.account,))
            values = (self.account, seq, first, last, header, checksum)
            db.execute("INSERT INTO cfq_snapshots VALUES (%s, %s, %s, %s, %s, %s)", values)

    def drop_piece(self, first: int) -> bool:
        """For `Keeping`."""
        lowest = "SELECT min(piece) FROM cfq_pieces WHERE account = %(account)s"
        statement = f"DELETE FROM cfq_pieces WHERE account = %(account)s AND piece = ({lowest}) AND piece < %(first)s"  # noqa: S608
        return self._run(statement, {"account": self.account, "first": first}).rowcount > 0

    def headers(self, length: int) -> Iterable[tuple[int, int, int, bytes, int]]:
        """For `Keeping`."""
        columns = "seq, first, last, data, checksum"
        statement = f"SELECT {columns} FROM cfq_snapshots WHERE account = %s AND seq <= %s ORDER BY seq DESC"  # noqa: S608
        return self._rows(statement, (self.account, length))

    def pieces(self, first: int, last: int) -> Iterator[tuple[int, bytes, int]]:
        """For `Keeping`; one at a time, since each may have megabytes."""
        statement = "SELECT piece, data, checksum FROM cfq_pieces WHERE account = %s AND piece = %s"
        for piece in range(first, last + 1):
            yield from self._rows(statement, (self.account, piece))

    # --- what a server keeps beside the journal

    def rows(self) -> list[tuple[str, str, str]]:
        """What is kept: (kind, key, data)."""
        return self._rows("SELECT kind, key, data FROM cfq_directory WHERE account = %s", (self.account,))

    def keep(self, kind: str, key: str, data: str) -> None:
        """Keep a row in place of the one of that key. Raises JournalUnwritable, and StaleWriter as an append does."""
        statement = f"""{_CHANGE} INSERT INTO cfq_directory SELECT mine.id, %(kind)s, %(key)s, %(data)s FROM mine
            ON CONFLICT (account, kind, key) DO UPDATE SET data = excluded.data"""  # noqa: S608 - no value of anybody's
        if self._run(statement, {**self._me, "kind": kind, "key": key, "data": data}).rowcount != 1:
            raise self._stale()

    def drop(self, kind: str, key: str) -> None:
        """Let a row go. Raises as `keep` does."""
        statement = f"""{_CHANGE}, gone AS (
            DELETE FROM cfq_directory USING mine WHERE account = mine.id AND kind = %(kind)s AND key = %(key)s)
            SELECT id FROM mine"""  # noqa: S608 - no value of anybody's
        if not self._run(statement, {**self._me, "kind": kind, "key": key}).fetchall():
            raise self._stale()

    # --- the end

    @property
    def closed(self) -> bool:
        """Whether the connection has been let go."""
        return self._closed

    def close(self) -> None:
        """Let go of the connection, with what is left to write of a snapshot."""
        while not self._closed and self._keeping.busy:
            self._keeping.go_on()
        self._closed = True
        if self._connection is not None:
            self._connection.close()


def _defaults(url: str) -> dict[str, Any]:
    """Our settings of a connection, where the URL does not say otherwise. Raises psycopg.Error for a URL that is none."""
    given = psycopg.conninfo.conninfo_to_dict(url)
    return {name: value for name, value in _CONNECTION.items() if name not in given}


def unwritable(error: Exception) -> JournalUnwritable:
    """The error for a database that cannot be used, in PostgreSQL's words; without the URL, which may have a password."""
    return JournalUnwritable(f"the database cannot be used: {' '.join(str(error).split())}")
