"""SQL's own clock, put on virtual time: `CURRENT_TIMESTAMP`, `datetime('now')`, `unixepoch()` and their relatives."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_FORMATS = {"current_timestamp": "%Y-%m-%d %H:%M:%S", "current_date": "%Y-%m-%d", "current_time": "%H:%M:%S"}


def put_clock(connection: sqlite3.Connection, now_us: Callable[[], int]) -> None:
    """Let a connection's SQL read another clock, in microseconds since 1970."""

    def call(function: str, *given: Any) -> Any:
        julian = now_us() / 86_400_000_000 + 2_440_587.5
        text = "strftime" if function.startswith("current") else function
        values = [_FORMATS[function], "now"] if function in _FORMATS else list(given)
        if len(values) == (text == "strftime"):
            values.append("now")
        values = [julian if value == "now" else value for value in values]
        with closing(sqlite3.connect(":memory:")) as other:
            return other.execute(f"SELECT {text}({', '.join('?' * len(values))})", values).fetchone()[0]

    for function in ("date", "time", "datetime", "julianday", "unixepoch", "strftime"):
        connection.create_function(function, -1, partial(call, function))
    for function in _FORMATS:
        connection.create_function(function, 0, partial(call, function))
