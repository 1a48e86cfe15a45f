"""The KV namespaces, D1 databases and R2 buckets of an account: Workers that bind the same one see the same data."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from emulator.workers.stores.d1 import D1
from emulator.workers.stores.kv import KV
from emulator.workers.stores.r2 import R2

if TYPE_CHECKING:
    from collections.abc import Callable


class Stores:
    """What an account's Workers share. `now_us` is the account's clock, in microseconds since 1970."""

    def __init__(self, now_us: Callable[[], int]) -> None:
        self._now_us = now_us
        self._kv: dict[str, KV] = {}
        self._d1: dict[str, D1] = {}
        self._r2: dict[str, R2] = {}
        weakref.finalize(self, _close, self._d1)

    def kv(self, identity: str) -> KV:
        """The namespace of an id."""
        return self._kv.setdefault(identity, KV(lambda: self._now_us() // 1_000))

    def d1(self, identity: str) -> D1:
        """The database of an id."""
        if identity not in self._d1:
            self._d1[identity] = D1(self._now_us)
        return self._d1[identity]

    def r2(self, name: str) -> R2:
        """The bucket of a name."""
        return self._r2.setdefault(name, R2(lambda: self._now_us() // 1_000))

    def held(self) -> list[Any]:
        """All that is stored, as plain values, for whoever wants to know whether two accounts hold the same."""
        return [
            {name: each.namespace.held() for name, each in self._kv.items()},
            {name: each.held() for name, each in self._d1.items()},
            {name: each.held() for name, each in self._r2.items()},
        ]

    def clear(self) -> None:
        """Forget everything: who is loaded from now on finds empty stores."""
        _close(self._d1)
        for each in (self._kv, self._d1, self._r2):
            each.clear()


def _close(databases: dict[str, D1]) -> None:
    for database in databases.values():
        database.connection.close()
