"""D1 over SQLite in memory: `prepare`, `bind`, `first`, `all`, `run`, `raw`, `batch` and `exec`, each in one transaction.

https://developers.cloudflare.com/d1/worker-api/. Rows are dicts with attribute access. SQL's own clock is the emulator's.
What is a statement, and what is said where it is none, was asked of miniflare 5.20261117: `fixtures/d1.json`.
"""

from __future__ import annotations

import re
import sqlite3
import sys
import warnings
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

from emulator.workers.promise import Promise
from emulator.workers.python.errors import JsException
from emulator.workers.python.javascript.js_values import JsDict, JsList
from emulator.workers.python.runtime_names import Partial
from emulator.workers.stores.d1_clock import put_clock
from emulator.workers.stores.d1_statement import Statement, out, result_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_TRANSACTION = re.compile(r"\s*(BEGIN|COMMIT|END|ROLLBACK|SAVEPOINT|RELEASE)\b", re.IGNORECASE)
_ATTACH = re.compile(r"\s*(ATTACH|DETACH)\b", re.IGNORECASE)
_NO_TRANSACTION = (
    "To execute a transaction, please use the state.storage.transaction() or state.storage.transactionSync() APIs instead of "
    "the SQL BEGIN TRANSACTION or SAVEPOINT statements. The JavaScript API is safer because it will automatically roll back on "
    "exceptions, and because it interacts correctly with Durable Objects' automatic atomic write coalescing."
)
_PREFIX = "D1_ERROR: "
_COMMENT = re.compile(r"^\s*--.*", re.MULTILINE)

Query: TypeAlias = tuple[str, tuple[Any, ...]]
"""SQL with its values."""
Rows: TypeAlias = tuple[list[str], list[tuple[Any, ...]], JsDict]
"""Columns, rows and meta."""


@contextmanager
def _unwarned() -> Iterator[None]:
    """Python 3.12.0 to 3.12.3 take `?1` for a name and warn of values in a sequence, which are right."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Binding .* is a named parameter", DeprecationWarning)
        yield


_NUMBERED = _unwarned if (3, 12) <= sys.version_info < (3, 12, 4) else nullcontext


class D1(Partial):
    """A database. `connection` is the SQLite connection, for tests that want to look without awaiting."""

    def __init__(self, now_us: Callable[[], int]) -> None:
        self.connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self.connection.execute("PRAGMA foreign_keys = ON")
        put_clock(self.connection, now_us)

    def held(self) -> tuple[Any, ...]:
        """All of it, and what its connection remembers, as plain values."""
        last = self.connection.execute("SELECT last_insert_rowid(), changes()").fetchone()
        return self.connection.serialize(), last, self.connection.total_changes

    def prepare(self, sql: str) -> Statement:
        """A statement, to be bound and run."""
        return Statement(self, str(sql))

    def batch(self, statements: Iterable[Statement]) -> Promise:
        """Run statements in one transaction: all or nothing. Gives their results."""
        listed = list(statements)
        return Promise(lambda: self._batch(listed), ("D1", *(each.text for each in listed)))

    def exec(self, sql: str) -> Promise:
        """Run every line of a text, each whole statements, in one transaction. Gives `count`, of lines, and `duration`."""
        return Promise(lambda: self._exec(sql), ("D1", (sql, ())))

    def withSession(self, _constraint: Any = None) -> D1Session:  # noqa: N802 - JavaScript's name
        """A session: the database, with bookmarks."""
        return D1Session(self)

    def execute(self, sql: str, values: tuple[Any, ...] = ()) -> Rows:
        """Run a query: its statements, the last with the values. What the last gives. Raises JsException."""
        *before, last = _statements(sql)
        if not before:
            return self._step(last, values)
        changes, together = 0, self.connection.in_transaction
        with nullcontext() if together else self.transaction():
            for each in before:
                columns, _, meta = self._step(each, ())
                if columns and not together:
                    raise JsException(f"{_PREFIX}A SQL prepared statement can only be executed once at a time.")
                changes += meta["changes"]
            columns, rows, meta = self._step(last, values)
        meta["changes"] = meta["rows_written"] = meta["changes"] + changes
        return columns, rows, meta

    def together(self, queries: Iterable[Query]) -> list[Rows]:
        """Run queries in one transaction, but for those of blanks or a comment. What each gives. Raises JsException."""
        wanted = [query for query in queries if _COMMENT.sub("", query[0]).strip()]
        if not wanted:
            raise JsException(f"{_PREFIX}No SQL statements detected.")
        with self.transaction():
            return [self.execute(*query) for query in wanted]

    def _step(self, sql: str, values: tuple[Any, ...]) -> Rows:
        if _TRANSACTION.match(sql):
            raise JsException(_PREFIX + _NO_TRANSACTION)
        if _ATTACH.match(sql):  # it would make a file
            raise JsException(f"{_PREFIX}not authorized: SQLITE_AUTH")
        connection = self.connection
        before = connection.total_changes
        try:
            with _NUMBERED() if values else nullcontext():
                cursor = connection.execute(sql, values)
            rows = cursor.fetchall()
        except (sqlite3.Error, sqlite3.Warning, OverflowError) as error:
            raise _error(error) from None
        changes = connection.total_changes - before
        last_row_id = connection.execute("SELECT last_insert_rowid()").fetchone()[0]
        columns = [each[0] for each in cursor.description or ()]
        size = connection.execute("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size").fetchone()[0]
        meta = JsDict(
            served_by="emulator", duration=0, changes=changes, last_row_id=last_row_id, changed_db=changes > 0,
            size_after=size, rows_read=len(rows), rows_written=changes,
        )  # fmt: skip
        return columns, [tuple(out(value) for value in row) for row in rows], meta

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing of what is executed inside. Raises JsException."""
        self.connection.execute("BEGIN")
        try:
            yield
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise
        try:
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:  # a constraint that was deferred
            self.connection.execute("ROLLBACK")
            raise _error(error) from None

    def _batch(self, statements: list[Statement]) -> JsList:
        return JsList(result_of(rows) for rows in self.together(statement.text for statement in statements))

    def _exec(self, sql: str) -> JsDict:
        lines = sql.strip().split("\n")
        try:
            return JsDict(count=len(self.together((line, ()) for line in lines)), duration=0)
        except JsException as error:  # whichever it was, nothing has happened, and the first is named
            said = error.message.removeprefix(_PREFIX)
            raise JsException(f"D1_EXEC_ERROR: Error in line 1: {lines[0]}: {said}") from None


class D1Session(Partial):
    """`withSession()`: statements and batches of the database; `getBookmark()` is None before the first."""

    def __init__(self, database: D1) -> None:
        self._database, self._used = database, False

    def prepare(self, sql: str) -> Statement:
        """A statement."""
        self._used = True
        return self._database.prepare(sql)

    def batch(self, statements: Iterable[Statement]) -> Promise:
        """A batch."""
        self._used = True
        return self._database.batch(statements)

    def getBookmark(self) -> str | None:  # noqa: N802 - JavaScript's name
        """A text that stands for the state of the database."""
        return f"{self._database.connection.total_changes:08x}" if self._used else None


def _error(error: Exception) -> JsException:
    text = str(error)
    if isinstance(error, sqlite3.ProgrammingError) and "binding" in text:
        text = "Wrong number of parameter bindings for SQL query."
        return JsException(f"D1_ERROR: {text}")
    extended = getattr(error, "sqlite_errorname", "SQLITE_ERROR")
    name = "_".join(extended.split("_")[:2])
    more = "" if extended == name else f" (extended: {extended})"
    return JsException(f"D1_ERROR: {text}: {name}{more}")


def _statements(sql: str) -> list[str]:
    """The statements of a query, one at least. A semicolon inside a string or a trigger ends none. Raises JsException."""
    if ";" not in sql and "-" not in sql and "/" not in sql and sql.strip():
        return [sql]
    if not _COMMENT.sub("", sql).strip():
        raise JsException(f"{_PREFIX}No SQL statements detected.")
    complete: Callable[[str], bool] = sqlite3.complete_statement
    found, begun = [], ""
    for part in re.split(r"(?<=;)", sql):
        begun += part
        if complete(begun):
            found.append(begun.strip())
            begun = ""
    if begun.strip():
        found.append(begun.strip())
    if any(not re.sub(r"--[^\n]*|/\*.*?\*/", "", each, flags=re.DOTALL).strip("; \n\r\t") for each in found):
        raise JsException(f"{_PREFIX}SQL code did not contain a statement.")
    return found
