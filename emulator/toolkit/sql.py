"""One face for two databases: a `sqlite3.Connection` in a test, D1 in a Worker. Statements are (text, arguments).

D1 has no open transaction: what belongs together goes into one `batch`, which is all or nothing
(https://developers.cloudflare.com/d1/worker-api/d1-database/#batch). Neither library is imported here.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

Statement = tuple[str, Sequence[Any]]


async def settled(value: Any) -> Any:
    """The value, awaited if it has to be."""
    return await value if inspect.isawaitable(value) else value


class Sql:
    """Runs statements on a connection of `sqlite3` or on a D1 binding. Errors of the database come through."""

    def __init__(self, database: Any) -> None:
        self.database = database
        self.is_d1 = hasattr(database, "prepare")

    async def rows(self, text: str, *arguments: Any) -> list[dict[str, Any]]:
        """The rows of a query, each a dict."""
        if self.is_d1:
            result = await settled(self.database.prepare(text).bind(*arguments).all())
            found = field(result, "results")
            return [dict(to_python(row)) for row in to_python(found)]
        cursor = self.database.execute(text, arguments)
        names = [column[0] for column in cursor.description or ()]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]

    async def run(self, text: str, *arguments: Any) -> int:
        """Run one statement; how many rows it changed."""
        return (await self.together([(text, arguments)]))[0]

    async def together(self, statements: Sequence[Statement]) -> list[int]:
        """Run statements in one transaction, all or none; how many rows each changed. An open one is committed first."""
        if self.is_d1:
            prepared = [self.database.prepare(text).bind(*arguments) for text, arguments in statements]
            results = await settled(self.database.batch(prepared))
            return [int(field(field(to_python(result), "meta"), "changes") or 0) for result in to_python(results)]
        connection = self.database
        if connection.in_transaction:
            connection.commit()
        connection.execute("BEGIN IMMEDIATE")
        try:
            changed = [max(0, connection.execute(text, tuple(arguments)).rowcount) for text, arguments in statements]
        except BaseException:
            connection.rollback()
            raise
        connection.commit()
        return changed


def field(of: Any, name: str) -> Any:
    """An entry of a mapping or an attribute of an object: D1's answers are either."""
    return of.get(name) if isinstance(of, Mapping) else getattr(of, name, None)


def to_python(value: Any) -> Any:
    """A JavaScript proxy as Python's own value; anything else as it is."""
    convert = getattr(value, "to_py", None)
    return convert() if callable(convert) else value


def is_duplicate(error: BaseException, table: str) -> bool:
    """Whether a statement failed because the table has that key already: sqlite3 and D1 say it in the same words."""
    text = str(error)
    return "UNIQUE constraint failed" in text and f"{table}." in text


def checked_name(name: str) -> str:
    """A name that may stand in a statement. Raises ValueError for one that may not."""
    if not name.isidentifier():
        raise ValueError(f"not a table's name: {name!r}")
    return name
