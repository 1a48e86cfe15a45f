"""What the REST API knows beside the core: ids, dates, scripts, subscriptions, and the names of queues that were renamed.

The core knows a queue by the name under which it was created; `public` is what it is called now. With a store, every change is
in its database before the answer leaves. What the journal does not confirm is forgotten at the next start.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Protocol

from emulator.core.events import QueueCreated, QueueDeleted
from emulator.engine.bodies import json_text
from emulator.engine.journal import JournalUnwritable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emulator.core.events import Event
    from emulator.core.model import State
    from emulator.engine.ids import Ids

Row = dict[str, Any]


class Store(Protocol):
    """Where rows are kept, by kind and key. `keep` and `drop` raise JournalUnwritable."""

    def rows(self) -> Iterable[tuple[str, str, str]]:
        """What is kept: (kind, key, data)."""

    def keep(self, kind: str, key: str, data: str) -> None:
        """Keep a row in place of the one of that key."""

    def drop(self, kind: str, key: str) -> None:
        """Let a row go."""

    def close(self) -> None:
        """Let go of the database."""


class Directory:
    """Queues by id and by public name, and subscriptions by id. A queue's row is plain JSON."""

    def __init__(self, ids: Ids, store: Store | None = None) -> None:
        self._ids, self._store = ids, store
        self.load()

    def load(self) -> None:
        """Begin with what is in the store, and nothing else."""
        self.queues: dict[str, Row] = {}
        self.by_public: dict[str, Row] = {}
        self.by_core: dict[str, Row] = {}
        self.subscriptions: dict[str, Row] = {}
        self.numbers: Row | None = None
        for kind, key, data in () if self._store is None else self._store.rows():
            row = json_text.decode(data.encode())
            if kind == "queue":
                self._enter(row)
            elif kind == "numbers":
                self.numbers = row
            else:
                self.subscriptions[key] = row

    def reconcile(self, state: State) -> None:
        """Bring the directory in line with what the journal says: it has the last word on what exists."""
        for row in [row for row in self.queues.values() if row["core"] not in state.queues]:
            self._forget(row)
        for core in state.queues:
            if core not in self.by_core:
                self._register(core, core, state.now_us)
        for core, row in self.by_core.items():
            if state.queues[core].consumer is None and row["consumer"]:
                self.save(row, consumer=None)
            elif state.queues[core].consumer is not None and not row["consumer"]:
                self.save(row, consumer=self.new_consumer(state.now_us))

    def hear(self, events: Iterable[Event]) -> None:
        """Follow queues that come and go by themselves, such as a dead-letter queue made on demand."""
        for event in events:
            if isinstance(event, QueueCreated) and event.queue not in self.by_core:
                self._register(event.queue, event.queue, event.at_us)
            elif isinstance(event, QueueDeleted) and event.queue in self.by_core:
                self.forget(event.queue)

    # --- queues

    def prepare(self, public: str, at_us: int) -> Row:
        """A row for a queue that is about to be made. Its core name is another one where a renamed queue still has that."""
        core, number = public, 1
        while core in self.by_core:
            number += 1
            core = f"{public[:55]}-{number}"
        row = self._row(core, public, at_us)
        self.save(row)
        self._enter(row)
        return row

    def _register(self, core: str, public: str, at_us: int) -> None:
        """Follow the core: what it has made is there, also where nothing more can be kept of it."""
        row = self._row(core, public, at_us)
        self._enter(row)
        self.save(row)

    def _row(self, core: str, public: str, at_us: int) -> Row:
        public = public if public not in self.by_public else f"{public[:50]}-{self._ids.one()[:8]}"
        return {
            "id": self._ids.one(), "core": core, "public": public, "created_us": at_us, "modified_us": at_us,
            "consumer": None, "purge": None, "producers": [],
        }  # fmt: skip

    def rename(self, row: Row, public: str) -> None:
        """Call a queue something else."""
        before = row["public"]
        self.save(row, public=public)
        del self.by_public[before]
        self.by_public[public] = row

    def save(self, row: Row, **changes: Any) -> None:
        """Keep a queue's row, with changes."""
        self._keep("queue", row["id"], row | changes)
        row.update(changes)

    def undo(self, row: Row, **changes: Any) -> None:
        """Take back what did not happen after all, also where nothing can be kept: then the next start takes it back."""
        row.update(changes)
        with contextlib.suppress(JournalUnwritable):
            self.save(row)

    def forget(self, core: str) -> None:
        """Drop the row of a queue that is gone, or was not made after all."""
        if core in self.by_core:
            with contextlib.suppress(JournalUnwritable):  # then the next start drops it
                self._forget(self.by_core[core])

    def new_consumer(self, at_us: int, script: str = "", id: str | None = None) -> Row:
        """What is known of a consumer beside its settings."""
        return {"id": id or self._ids.one(), "created_us": at_us, "script": script}

    def public(self, core: str | None) -> str:
        """What a queue is called now; "" for none. A dead-letter queue that was deleted keeps its name."""
        if core is None:
            return ""
        row = self.by_core.get(core)
        return core if row is None else str(row["public"])

    def core(self, public: str) -> str:
        """The core's name for what is called so now; the name itself for a queue that does not exist."""
        row = self.by_public.get(public)
        return public if row is None else str(row["core"])

    # --- subscriptions

    def save_subscription(self, row: Row) -> Row:
        """Keep a subscription; one without an id gets one."""
        row.setdefault("id", self._ids.one())
        self._keep("subscription", row["id"], row)
        self.subscriptions[row["id"]] = row
        return row

    def drop_subscription(self, id: str) -> Row:
        """Drop a subscription."""
        self._drop("subscription", id)
        return self.subscriptions.pop(id)

    def save_numbers(self, numbers: Row) -> None:
        """Keep what was counted of messages. Raises JournalUnwritable."""
        self._keep("numbers", "", numbers)

    # --- the store

    def _enter(self, row: Row) -> None:
        self.queues[row["id"]] = self.by_public[row["public"]] = self.by_core[row["core"]] = row

    def _forget(self, row: Row) -> None:
        del self.queues[row["id"]], self.by_public[row["public"]], self.by_core[row["core"]]
        named = [id for id, each in self.subscriptions.items() if each["destination"]["queue_id"] == row["id"]]
        for id in named:
            del self.subscriptions[id]
        self._drop("queue", row["id"])
        for id in named:
            self._drop("subscription", id)

    def _keep(self, kind: str, key: str, row: Row) -> None:
        if self._store is not None:
            self._store.keep(kind, key, json_text.encode(row).decode())

    def _drop(self, kind: str, key: str) -> None:
        if self._store is not None:
            self._store.drop(kind, key)

    def close(self) -> None:
        """Let go of the store."""
        if self._store is not None:
            self._store.close()
            self._store = None
