"""KV namespaces and D1 databases of an emulator: Workers that bind the same one see the same data."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from emulator.workers.stores.d1 import D1
from emulator.workers.stores.kv import KV

if TYPE_CHECKING:
    from emulator.testing.emulator import Emulator


class Stores:
    """What an emulator's Workers share."""

    def __init__(self, emulator: Emulator) -> None:
        account = emulator.account
        self.now_us = account.clock.now_us
        self._kv: dict[str, KV] = {}
        self._d1: dict[str, D1] = {}
        self._finish = weakref.finalize(emulator, _close, self._d1)

    def kv(self, identity: str) -> KV:
        """The namespace of an id."""
        return self._kv.setdefault(identity, KV(lambda: self.now_us() // 1_000))

    def d1(self, identity: str) -> D1:
        """The database of an id."""
        if identity not in self._d1:
            self._d1[identity] = D1(self.now_us)
        return self._d1[identity]


def _close(databases: dict[str, Any]) -> None:
    for database in databases.values():
        database.connection.close()


_stores: weakref.WeakKeyDictionary[Emulator, Stores] = weakref.WeakKeyDictionary()


def stores_of(emulator: Emulator) -> Stores:
    """The stores of an emulator, made when they are first asked for."""
    if emulator not in _stores:
        _stores[emulator] = Stores(emulator)
    return _stores[emulator]
