"""A prepared statement of D1: `bind`, `first`, `all`, `run`, `raw`."""

from __future__ import annotations

from typing import Any, Protocol

from emulator.engine.bodies.undefined import UNDEFINED
from emulator.workers.promise import Promise
from emulator.workers.python.errors import JsException
from emulator.workers.python.javascript import convert
from emulator.workers.python.javascript.js_values import JsDict, JsList
from emulator.workers.python.runtime_names import Partial


class Database(Protocol):
    """What runs a statement."""

    def execute(self, sql: str, values: tuple[Any, ...] = ()) -> tuple[list[str], list[tuple[Any, ...]], JsDict]:
        """Columns, rows and meta of one statement."""
        ...


class Statement(Partial):
    """A prepared statement; `bind` gives another one, with values."""

    def __init__(self, database: Database, sql: str, values: tuple[Any, ...] = ()) -> None:
        self._database, self._sql, self._values = database, sql, values

    @property
    def text(self) -> tuple[str, tuple[Any, ...]]:
        """The statement, and its values."""
        return self._sql, self._values

    def bind(self, *values: Any) -> Statement:
        """Values for `?`, `?1`. Raises JsException (D1_TYPE_ERROR) for what is no null, number, text, boolean or bytes."""
        return Statement(self._database, self._sql, tuple(_in(value) for value in values))

    def first(self, column: Any = None) -> Promise:
        """The first row, or one column of it; None when there is no row."""
        return Promise(lambda: self._first(column), ("D1", self.text))

    def all(self) -> Promise:
        """`success`, `results` (rows) and `meta`."""
        return Promise(self.result, ("D1", self.text))

    run = all  # noqa: A003 - D1's names

    def raw(self, options: Any = None, **named: Any) -> Promise:
        """Rows as lists; with `columnNames`, the names first."""
        names = convert.options_of(options, named).get("columnNames")
        return Promise(lambda: self._raw(with_names=bool(names)), ("D1", self.text))

    def result(self) -> JsDict:
        """What `all()` resolves to. Raises JsException."""
        return result_of(self._database.execute(self._sql, self._values))

    def _first(self, column: Any) -> Any:
        results = self.result().results
        if not results or not isinstance(column, str):
            return results[0] if results else None
        if column not in results[0]:
            raise JsException("D1_ERROR: Column not found (" + column + ")")
        return results[0][column]

    def _raw(self, *, with_names: bool) -> JsList:
        columns, rows, _ = self._database.execute(self._sql, self._values)
        head = [JsList(columns)] if with_names else []
        return JsList([*head, *(JsList(row) for row in rows)])


def result_of(rows: tuple[list[str], list[tuple[Any, ...]], JsDict]) -> JsDict:
    """What `all()` resolves to, of columns, rows and meta."""
    columns, values, meta = rows
    return JsDict(success=True, meta=meta, results=JsList(JsDict(zip(columns, row, strict=True)) for row in values))


def _in(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, str | int | float | bytes):
        return value
    if isinstance(value, memoryview):
        return value.tobytes()
    kind = "undefined" if value is UNDEFINED else "function" if callable(value) else "object"
    raise JsException(f"D1_TYPE_ERROR: Type '{kind}' not supported for value '{value}'")


def out(value: Any) -> Any:
    """A column as a Worker gets it: bytes are a list of numbers."""
    return JsList(value) if isinstance(value, bytes) else value
