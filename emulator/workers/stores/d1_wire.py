"""How a Worker's D1 binding speaks to its database over HTTP: https://github.com/cloudflare/workerd, `internal/d1-api.ts`.

POST of `/query` or `/execute` with a query, or a list of them, which is one transaction: of `batch()` or the lines of `exec()`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from emulator.workers.python.errors import JsException

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emulator.workers.stores.d1 import D1, Query, Rows

_PREFIX = "D1_ERROR: "
"""The binding puts it before the text."""


def answer(database: D1, query: Mapping[str, str], body: bytes) -> bytes:
    """Do what a request asks for: the answer's body. An error of SQL is an answer, too."""
    asked, form = msgspec.json.decode(body), query.get("resultsFormat", "ARRAY_OF_OBJECTS")
    try:
        if isinstance(asked, list):
            return msgspec.json.encode([_told(rows, form) for rows in database.together(map(_query, asked))])
        return msgspec.json.encode(_told(database.execute(*_query(asked)), form))
    except JsException as error:
        return msgspec.json.encode(_failed(error))


def _query(asked: dict[str, Any]) -> Query:
    return asked["sql"], tuple(bytes(each) if isinstance(each, list) else each for each in asked.get("params") or ())


def _told(found: Rows, form: str) -> dict[str, Any]:
    columns, rows, meta = found
    told: dict[str, Any] = {"success": True, "meta": dict(meta)}
    if form == "ROWS_AND_COLUMNS":
        told["results"] = {"columns": columns, "rows": [list(row) for row in rows]}
    elif form == "ARRAY_OF_OBJECTS":
        told["results"] = [dict(zip(columns, row, strict=True)) for row in rows]
    return told


def _failed(error: JsException) -> dict[str, Any]:
    return {"success": False, "error": error.message.removeprefix(_PREFIX), "meta": {}}
