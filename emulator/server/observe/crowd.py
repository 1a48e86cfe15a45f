"""How many connections there may be, and which must go when one more comes: the one that has been silent or slow for longest.

So neither a crowd of slow clients nor a low limit of open files keeps others out.
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


def room() -> int:
    """So many connections are kept: a quarter of the files that may be open, for as many may be at the door, and leaving.

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


class Guest(Protocol):
    """A connection that may be sent away."""

    def send_away(self) -> None:
        """End it, and say why."""


class Crowd:
    """The connections that are there, and those that have not said yet what they want, the longest first."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._there: set[Guest] = set()
        self._undecided: dict[Guest, None] = {}

    def comes(self, guest: Guest) -> None:
        """A new connection. Others that are undecided are sent away, as far as there are too many."""
        while len(self._there) >= self.most and self._undecided:
            longest = next(iter(self._undecided))
            self.leaves(longest)
            longest.send_away()
        self._there.add(guest)
        self.begins(guest)

    def leaves(self, guest: Guest) -> None:
        """A connection is gone, or as good as that."""
        self._there.discard(guest)
        self.ends(guest)

    def begins(self, guest: Guest) -> None:
        """A connection is idle, begins a request, or is to send a body."""
        if guest in self._there:
            self._undecided.setdefault(guest)

    def ends(self, guest: Guest) -> None:
        """Its request is complete."""
        self._undecided.pop(guest, None)
