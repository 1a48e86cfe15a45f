"""What the dashboard shows, as plain JSON: all queues, one queue, what it holds, one message. Reads only.

Times are milliseconds since 1970. Queues are addressed by their core names and shown by what they are called now.
"""

from __future__ import annotations

import math
from base64 import b64encode
from itertools import islice
from typing import TYPE_CHECKING, Any

from emulator.core.decide.manage import find
from emulator.core.messages import LEASED, READY, Message
from emulator.engine import bodies
from emulator.engine.dead_letters import dead_letter_sources
from emulator.engine.ledger.trace import timeline
from emulator.engine.metrics import oldest_us

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emulator.core.model import QueueState
    from emulator.server.observe.series import Point
    from emulator.server.observe.watch import Watch
    from emulator.server.service import Service

PAGE_QUEUES, PAGE_MESSAGES = 50, 25
_SPARK_POINTS, _PLOT_POINTS = 48, 600
_BODY_CHARACTERS = 2_000
_LINE_CHARACTERS = 100
"""JSON that is no longer stays on one line."""
_PLACES = ("ready", "delayed", "delivered", "leased")


class Views:
    """Looks into a service and what was watched of it."""

    def __init__(self, service: Service, watch: Watch) -> None:
        self._service, self._watch = service, watch

    def overview(self, page: int, name: str, order: str, seconds: float) -> dict[str, Any]:
        """A page of queues whose names contain `name`, in order of `name`, `depth` or `age`, and totals over all of them."""
        service, public = self._service, self._service.directory.public
        queues = list(service.state.queues.items())
        sources = dead_letter_sources(queues)
        found = sorted((each for each in queues if name in public(each[0])), key=_ORDERS[order])
        pages = max(1, -(-len(found) // PAGE_QUEUES))
        page = min(max(page, 1), pages)
        rows = found[(page - 1) * PAGE_QUEUES : page * PAGE_QUEUES]
        start_us = service.now_us - round(seconds * 1_000_000)
        shown = [self._row(core, queue, sources) | {"spark": self._spark(core, start_us)} for core, queue in rows]
        return {
            "now": service.now_us // 1_000, "clock": service.time.mode, "control": self._may_move, "plan": service.state.plan,
            "page": page, "pages": pages, "matching": len(found), "queues": shown, "totals": self._totals(queues, sources),
            "faults": [each._asdict() for each in service.account.fault_counts],
        }  # fmt: skip

    @property
    def _may_move(self) -> bool:
        return self._service.control and self._service.time.mode == "virtual"

    def _totals(self, queues: list[tuple[str, QueueState]], sources: dict[str, list[str]]) -> dict[str, Any]:
        oldest = [each for each in (oldest_us(queue) for _name, queue in queues) if each is not None]
        operations: dict[str, int] = {}
        for tally in list(self._watch.ledger.tallies.values()):
            for kind, count in tally.operations.items():
                operations[kind] = operations.get(kind, 0) + count
        return {
            "queues": len(queues),
            "depth": sum(queue.count for _name, queue in queues),
            "bytes": sum(queue.backlog_bytes for _name, queue in queues),
            "oldest": min(oldest) // 1_000 if oldest else None,
            "dead": sum(queue.count for name, queue in queues if name in sources),
            "operations": sum(operations.values()),
        }

    def _row(self, core: str, queue: QueueState, sources: dict[str, list[str]]) -> dict[str, Any]:
        public, consumer, since_us = self._service.directory.public, queue.consumer, oldest_us(queue)
        return {
            "core": core, "name": public(core), "depth": queue.count, "bytes": queue.backlog_bytes,
            "oldest": None if since_us is None else since_us // 1_000, "paused": queue.config.delivery_paused,
            "consumer": None if consumer is None else consumer.type,
            "ready": consumer is not None and (consumer.type != "worker" or queue.attached),
            "sources": [public(source) for source in sources.get(core, ())], "in_flight": queue.flying_count,
            "counts": self._watch.ledger.tally(core).counts(core)._asdict(),
        }  # fmt: skip

    def _spark(self, core: str, start_us: int) -> list[list[int]]:
        series = self._watch.series.get(core)
        points = [] if series is None else _thinned(series.since(start_us), _SPARK_POINTS)
        return [[point.at_us // 1_000, point.depth, point.depth_max] for point in points]

    def queue(self, core: str, seconds: float) -> dict[str, Any]:
        """One queue with its settings, retries by attempt, operations, and its course over the last seconds."""
        queue, public = find(self._service.state, core), self._service.directory.public
        tally, series = self._watch.ledger.tallies.get(core), self._watch.series.get(core)
        points = [] if series is None else series.since(self._service.now_us - round(seconds * 1_000_000))
        consumer = None if queue.consumer is None else queue.consumer._asdict()
        if consumer is not None and consumer["dead_letter_queue"] is not None:
            consumer["dead_letter_queue"] = public(consumer["dead_letter_queue"])
        sources = dead_letter_sources(list(self._service.state.queues.items()))
        return self._row(core, queue, sources) | {
            "now": self._service.now_us // 1_000, "clock": self._service.time.mode, "control": self._may_move,
            "settings": queue.config._asdict() | {"name": public(core)}, "consumer_settings": consumer,
            "target": None if queue.consumer is None else queue.consumer.dead_letter_queue,
            "retries": {} if tally is None else {str(n): count for n, count in sorted(tally.retries.items())},
            "operations": {} if tally is None else dict(tally.operations), "plotted": series is not None,
            "points": [
                [point.at_us // 1_000, point.depth, point.depth_max, point.oldest_us // 1_000]
                for point in _thinned(points, _PLOT_POINTS)
            ],
        }  # fmt: skip

    def messages(self, core: str, offset: int) -> dict[str, Any]:
        """Some of what a queue holds, in order of entry, with the beginnings of the bodies."""
        held = find(self._service.state, core).messages
        rows = list(islice(held.values(), max(0, offset), max(0, offset) + PAGE_MESSAGES))
        return {"total": len(held), "offset": max(0, offset), "messages": [self._message(core, each) for each in rows]}

    def message(self, core: str, id: str) -> dict[str, Any] | None:
        """One message that a queue holds, with its whole body; None when it does not."""
        message = find(self._service.state, core).messages.get(id)
        return None if message is None else self._message(core, message, None)

    def _message(self, core: str, message: Message, characters: int | None = _BODY_CHARACTERS) -> dict[str, Any]:
        origin = self._watch.ledger.origins.get((core, message.id))
        due = message.ready_us <= self._service.now_us and message.place < LEASED - 1
        body = readable(message.body, message.content_type)
        return {
            "id": message.id, "state": _PLACES[READY if due else message.place], "attempts": message.attempts,
            "type": message.content_type, "bytes": len(message.body), "sent": message.timestamp_us // 1_000,
            "ready": message.ready_us // 1_000, "dead": message.dead, "body": body[:characters],
            "cut": characters is not None and len(body) > characters,
            "origin": None if origin is None else {
                "source": self._service.directory.public(origin.source), "at": origin.at_us // 1_000,
                "attempts": origin.attempts, "error": origin.error,
            },
        }  # fmt: skip

    def timeline(self, id: str) -> dict[str, Any] | None:
        """Everything that happened to a message, and its body; None when the journal does not know it."""
        lines, first = timeline(self._service.account.journal.read(), id)
        if first is None:
            return None
        public = self._service.directory.public
        body, kind = first.bodies[0], first.content_types[0]
        places = [core for core, queue in list(self._service.state.queues.items()) if id in queue.messages]
        return {
            "id": id, "now": self._service.now_us // 1_000, "clock": self._service.time.mode,
            "type": kind, "bytes": len(body), "body": readable(body, kind),
            "held": [{"core": core, "name": public(core)} for core in places],
            "lines": [
                {"at": round(line.at.timestamp() * 1_000), "core": line.queue, "queue": public(line.queue),
                 "attempt": line.attempt, "what": line.what}
                for line in lines
            ],
        }  # fmt: skip


def readable(body: bytes, content_type: str) -> str:
    """A body for people: JSON laid out, text as it is, the rest as far as it can be read, else in base64."""
    try:
        value = bodies.decode(body, content_type)
        if content_type in {"json", "v8"}:
            text = bodies.json_text.told(value)
            return text if len(text) <= _LINE_CHARACTERS else bodies.json_text.told(value, indent=2)
        return value if isinstance(value, str) else bytes(value).decode()
    except (ValueError, TypeError, KeyError, RecursionError):
        return f"base64 {b64encode(body).decode()}"


def _thinned(points: list[Point], count: int) -> list[Point]:
    """At most about so many points. Of neighbours the last stays, with the most messages that any of them had."""
    step = -(-len(points) // count)
    if step <= 1:
        return points
    parts: Iterable[list[Point]] = (points[at : at + step] for at in range(0, len(points), step))
    return [part[-1]._replace(depth_max=max(point.depth_max for point in part)) for part in parts]


_ORDERS = {
    "name": lambda each: each[0],
    "depth": lambda each: (-each[1].count, each[0]),
    "age": lambda each: (oldest_us(each[1]) or math.inf, each[0]),
}
