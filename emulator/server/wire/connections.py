"""How many connections there may be, and which is closed when one more comes: the one that has been idle or slow for longest.

So neither many slow clients nor a low limit of open files keep others out.
"""

from __future__ import annotations

import contextlib
from typing import Protocol

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

CONNECTIONS_MAX = 2_000
_FILES_BESIDE, _FILES_UNLIMITED = 64, 1_000_000
"""The database, its log and so on; and more files than anybody needs."""


def connection_limit() -> int:
    """How many connections are kept: a quarter of the files that may be open, for as many may be at the door, and leaving.

    The limit of open files is raised as far as is needed and allowed.
    """
    if resource is None:
        return CONNECTIONS_MAX
    wanted = 4 * CONNECTIONS_MAX + _FILES_BESIDE
    soft, hard = [
        _FILES_UNLIMITED if each == resource.RLIM_INFINITY else each for each in resource.getrlimit(resource.RLIMIT_NOFILE)
    ]
    if soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
            soft = min(wanted, hard)
    return max(1, min(CONNECTIONS_MAX, (soft - _FILES_BESIDE) // 4))


class Connection(Protocol):
    """A connection that may be closed for others."""

    def give_way(self) -> None:
        """Close, and say why."""


class Connections:
    """Those that are open, and those that wait for their client, the longest first; at most `limit`, where some wait."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._open: set[Connection] = set()
        self._waiting: dict[Connection, None] = {}

    def opened(self, connection: Connection) -> None:
        """A new connection. Others that wait for their client are closed, as far as there are too many."""
        while len(self._open) >= self.limit and self._waiting:
            longest = next(iter(self._waiting))
            self.closed(longest)
            longest.give_way()
        self._open.add(connection)
        self.waits(connection)

    def closed(self, connection: Connection) -> None:
        """A connection is gone, or as good as that."""
        self._open.discard(connection)
        self.is_served(connection)

    def waits(self, connection: Connection) -> None:
        """A connection is idle, or its client is sending a request."""
        if connection in self._open:
            self._waiting.setdefault(connection)

    def is_served(self, connection: Connection) -> None:
        """Its request is complete."""
        self._waiting.pop(connection, None)
