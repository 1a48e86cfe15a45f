"""The figures of queues by the hour, added up from the journal: operations, backlog, concurrency, and consumers' invocations.

https://developers.cloudflare.com/queues/observability/metrics/ says what each means. The journal is read through the ledger's
steps, as everything else is that is told of messages.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from cfq_lint.facts.pricing import chunks
from emulator.core import events as happened
from emulator.engine.clock import SECOND_US
from emulator.engine.ledger.steps import DELIVERIES, ENDS, ENTRIES, Kind, steps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emulator.core.events import Event
    from emulator.engine.ledger.steps import Step

HOUR_US = 3_600 * SECOND_US
WRITE, READ, DELETE = "WriteMessage", "ReadMessage", "DeleteMessage"
_OUTCOMES = {Kind.ACKED: "success", Kind.DEAD_LETTERED: "dlq", Kind.DROPPED: "fail", Kind.EXPIRED: "fail"}
"""How a message leaves. What is purged or redriven has no outcome that is documented, and makes no row."""


class Operations:
    """Messages of one queue, hour, action and outcome together. Lag is milliseconds."""

    __slots__ = ("billable", "bytes", "count", "lag_ms", "largest", "retries")

    def __init__(self) -> None:
        self.count = self.billable = self.bytes = self.retries = self.largest = 0
        self.lag_ms = 0.0

    def add(self, size: int, lag_us: int, retries: int) -> None:
        """One message more."""
        self.count += 1
        self.billable += chunks(size)
        self.bytes += size
        self.lag_ms += lag_us / 1_000
        self.retries += retries
        self.largest = max(self.largest, size)


class Invocation(NamedTuple):
    """A batch that a consumer had: when it came, how long it was out in microseconds, and whether it failed."""

    queue: str
    at_us: int
    wall_us: int
    failed: bool


class _Held(NamedTuple):
    since_us: int
    size: int


class Figures:
    """All figures from `start_us` up to `end_us`, each by the queue's name and the hour's first microsecond.

    `backlog` is message-microseconds and byte-microseconds, `concurrency` batch-microseconds; `reach_us` is up to where an hour
    has been measured, so that both can be averaged.
    """

    def __init__(self, start_us: int, end_us: int, now_us: int) -> None:
        self.start_us, self.end_us, self.reach_us = start_us, end_us, min(end_us, now_us)
        self.operations: dict[tuple[str, int, str, str], Operations] = defaultdict(Operations)
        self.backlog: dict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0])
        self.concurrency: dict[tuple[str, int], int] = defaultdict(int)
        self.invocations: list[Invocation] = []
        self._held: dict[str, dict[str, _Held]] = defaultdict(dict)
        self._attempts: dict[tuple[str, str], int] = {}
        self._sizes: dict[str, int] = {}
        self._waiting: dict[str, list[int]] = {}
        self._out: dict[tuple[str, int | None], int] = {}
        self._many: dict[str, list[int]] = {}

    def follow(self, events: Iterable[Event]) -> Figures:
        """Add events, from the journal's first on; what is behind the window is not read."""
        for event in events:
            if event.at_us >= self.end_us:
                break
            for step in steps(event):
                self._take(step)
            if isinstance(event, happened.Delivered):
                self._out[event.queue, event.batch] = event.at_us
                self._turn_batches(event.queue, event.at_us, 1)
            elif isinstance(event, happened.Settled):
                since_us = self._out.pop((event.queue, event.batch), event.at_us)
                self._turn_batches(event.queue, event.at_us, -1)
                if since_us >= self.start_us:
                    self.invocations.append(Invocation(event.queue, since_us, event.at_us - since_us, event.outcome != "ok"))
        for queue in [*self._waiting]:
            self._turn_backlog(queue, self.reach_us, 0, 0)
        for queue in [*self._many]:
            self._turn_batches(queue, self.reach_us, 0)
        return self

    def elapsed_us(self, hour_us: int) -> int:
        """How much of an hour lies in the window and is over."""
        return max(1, min(hour_us + HOUR_US, self.reach_us) - max(hour_us, self.start_us))

    def _take(self, step: Step) -> None:
        queue, at_us = step.queue, step.at_us
        held = self._held[queue]
        if step.kind in ENTRIES:
            for place, id in enumerate(step.ids):
                if step.bodies:
                    self._sizes[id] = len(step.bodies[place])
                held[id] = _Held(at_us, self._sizes.get(id, 0))
                self._attempts[queue, id] = 0
                self._count(queue, at_us, WRITE, "", held[id], retries=0)
            self._turn_backlog(queue, at_us, len(step.ids), sum(held[id].size for id in step.ids))
        elif step.kind in DELIVERIES:
            for id, attempts in zip(step.ids, step.values, strict=True):
                self._attempts[queue, id] = attempts
                self._count(queue, at_us, READ, "", held.get(id, _Held(at_us, 0)), retries=attempts - 1)
        elif step.kind in ENDS:
            gone = [(held.pop(id, _Held(at_us, 0)), self._attempts.pop((queue, id), 0)) for id in step.ids]
            for each, attempts in gone if step.kind in _OUTCOMES else ():
                self._count(queue, at_us, DELETE, _OUTCOMES[step.kind], each, retries=max(0, attempts - 1))
            self._turn_backlog(queue, at_us, -len(gone), -sum(each.size for each, _ in gone))

    def _count(self, queue: str, at_us: int, action: str, outcome: str, held: _Held, *, retries: int) -> None:
        if at_us >= self.start_us:
            self.operations[queue, at_us - at_us % HOUR_US, action, outcome].add(held.size, at_us - held.since_us, retries)

    def _turn_backlog(self, queue: str, at_us: int, messages: int, size: int) -> None:
        known = self._waiting.setdefault(queue, [at_us, 0, 0])
        for hour_us, span_us in self._spans(known[0], at_us) if known[1] else ():
            total = self.backlog[queue, hour_us]
            total[0] += known[1] * span_us
            total[1] += known[2] * span_us
        self._waiting[queue] = [at_us, known[1] + messages, known[2] + size]

    def _turn_batches(self, queue: str, at_us: int, more: int) -> None:
        known = self._many.setdefault(queue, [at_us, 0])
        for hour_us, span_us in self._spans(known[0], at_us) if known[1] else ():
            self.concurrency[queue, hour_us] += known[1] * span_us
        self._many[queue] = [at_us, known[1] + more]

    def _spans(self, from_us: int, to_us: int) -> Iterable[tuple[int, int]]:
        """The parts of a time that lie in the window, by the hour."""
        at_us, to_us = max(from_us, self.start_us), min(to_us, self.end_us)
        while at_us < to_us:
            hour_us = at_us - at_us % HOUR_US
            until_us = min(hour_us + HOUR_US, to_us)
            yield hour_us, until_us - at_us
            at_us = until_us
