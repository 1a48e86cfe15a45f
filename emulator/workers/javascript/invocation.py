"""One run of a handler in workerd: what was asked, by whom, and how it ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.engine.delivery import Delivery
    from emulator.workers.javascript.workerd.wire import Connection, Reply, Request


class Told(msgspec.Struct):
    """What an isolate has to say: `lines` of the console (place, level, text), a `failure`'s stack, and `calls`.

    Calls are what a handler said of its messages: (ack, retry, ackAll or retryAll, id, delay in seconds).
    """

    lines: list[tuple[int, str, str]] = []  # msgspec copies defaults
    failure: str | None = None
    calls: list[tuple[str, str, int | None]] = []  # as above


class Ended(NamedTuple):
    """How an invocation ended: an answer of the driver (`status`, `headers`, `body`), or an `outcome` of ours without one."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes
    outcome: str = ""


class Invocation:
    """`worker` is the Worker's place. `delivery` is the batch that it has, if it has one; `failures` are the stacks of errors.

    `on_end` is called with it, when nothing of the moment is left to do. A `dead` one is never answered again: its
    process was ended by a fault, or its time was over. `asked` counts what it has asked of bindings and other servers.
    """

    __slots__ = ("asked", "calls", "dead", "delivery", "ended", "failures", "id", "on_end", "points", "worker")

    def __init__(self, id: int, worker: int, delivery: Delivery | None, on_end: Callable[[Invocation], None]) -> None:
        self.id, self.worker, self.delivery, self.on_end = id, worker, delivery, on_end
        self.ended: Ended | None = None
        self.failures: list[str] = []
        self.calls: list[tuple[str, str, int | None]] = []
        """What the handler said of its messages, in order, where some of it has no effect or it slept meanwhile."""
        self.dead = False
        self.asked = 0
        self.points: dict[str, int] = {}
        """Where a fault ends its process in calls that stay inside of workerd, by the number of the call."""

    @property
    def over(self) -> bool:
        """Whether nothing more is expected of it."""
        return self.dead or self.ended is not None


class Wait:
    """A request that is answered at a moment of the account's clock: a timer of a Worker, or an answer that is late."""

    __slots__ = ("by", "connection", "due_us", "place", "reply")

    def __init__(self, due_us: int, place: int, connection: Connection, by: int, reply: Reply | None = None) -> None:
        self.due_us, self.place, self.connection, self.by, self.reply = due_us, place, connection, by, reply

    def __lt__(self, other: Wait) -> bool:
        return (self.due_us, self.place) < (other.due_us, other.place)


_KV_CALLS = {"GET": "KV get", "PUT": "KV put", "DELETE": "KV delete"}


def called(kind: str, name: str, request: Request) -> tuple[Any, ...]:
    """What a request of a binding is called by people: as the same call of a Python Worker is."""
    if kind == "out":
        return request.method, request.target, request.body
    if kind == "kv" and request.path and request.method in _KV_CALLS:
        return _KV_CALLS[request.method], request.path
    if kind == "d1":
        asked = msgspec.json.decode(request.body)
        rows = asked if isinstance(asked, list) else [asked]
        return "D1", *((str(row.get("sql", "")), tuple(row.get("params") or ())) for row in rows)
    return ("send", name) if kind == "queue" else (kind, name)
