"""The numbers of one queue: messages by the ways they took, retries by attempt, operations that Cloudflare bills, duplicates.

https://developers.cloudflare.com/queues/platform/pricing/: each started 64,000 bytes of a message, with about 100 bytes of
metadata, are one operation for every write, read and delete. Each retry is one more read, a dead letter one write in its queue,
an empty pull a read, a purge one operation. A redrive is what it would be by hand: a read and a delete here, a write there.
"""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from cfq_lint.facts import limits
from cfq_lint.facts.pricing import chunks
from emulator.engine.ledger.steps import DELIVERIES, ENDS, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emulator.core.model import QueueState
    from emulator.engine.ledger.steps import Step

_BILLED = {
    Kind.SENT: "write", Kind.ARRIVED: "write", Kind.DELIVERED: "read", Kind.LEASED: "read", Kind.ACKED: "delete",
    Kind.DROPPED: "delete", Kind.EXPIRED: "delete", Kind.REENTERED: "write", Kind.REDRIVEN: "delete",
}  # fmt: skip
_SMALL_BYTES = limits.OPERATION_CHUNK_BYTES - limits.MESSAGE_METADATA_BYTES
"""A message that is no larger is one operation."""
_MOVING = frozenset({Kind.DEAD_LETTERED, Kind.REDRIVEN})
"""With these a message goes on in another queue."""
OPERATIONS = ("write", "read", "delete", "purge")


class QueueCounts(NamedTuple):
    """How many messages went each way through one queue, and how many are in it now (`waiting`).

    sent + received = waiting + acked + dead_lettered + dropped + expired + purged + redriven. `received` came from another
    queue, as dead letters or redriven; `delivered` counts deliveries, `retried` returns.
    """

    queue: str
    sent: int
    received: int
    delivered: int
    acked: int
    retried: int
    dead_lettered: int
    dropped: int
    expired: int
    purged: int
    redriven: int
    waiting: int


class Operations(NamedTuple):
    """Billed operations of one queue; a purge counts as one delete."""

    writes: int = 0
    reads: int = 0
    deletes: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self)


class Tally:
    """The numbers of one queue. `messages` counts them by kind of step, `ended` for each end by their attempts.

    `out` batches are with a push consumer, and `peak` is the most that were.

    What is remembered of a message (`attempts`, `large` ones' operations, `repeated`) is forgotten when it ends.
    """

    __slots__ = (
        "attempts", "dedupe_hits", "duplicates", "ended", "large", "messages", "operations", "out", "peak", "repeated",
        "retries",
    )  # fmt: skip

    def __init__(self) -> None:
        self.messages: dict[Kind, int] = dict.fromkeys(Kind, 0)
        self.retries: Counter[int] = Counter()
        self.ended: dict[Kind, Counter[int]] = {}
        self.operations: Counter[str] = Counter()
        self.duplicates = self.dedupe_hits = self.out = self.peak = 0
        self.attempts: dict[str, int] = {}
        self.large: dict[str, int] = {}
        self.repeated: set[str] = set()

    def dump(self) -> list[Any]:
        """The numbers as plain JSON."""
        ended = {kind: list(counts.items()) for kind, counts in self.ended.items()}
        numbers = [dict(self.messages), list(self.retries.items()), ended, dict(self.operations)]
        return [*numbers, self.duplicates, self.dedupe_hits]

    @classmethod
    def load(cls, numbers: list[Any]) -> Tally:
        """A tally from its numbers."""
        tally = cls()
        messages, retries, ended, operations, tally.duplicates, tally.dedupe_hits = numbers
        tally.messages |= {Kind(kind): count for kind, count in messages.items()}
        tally.retries = Counter(dict(retries))
        tally.ended = {Kind(kind): Counter(dict(counts)) for kind, counts in ended.items()}
        tally.operations = Counter(operations)
        return tally

    def remember(self, queue: QueueState) -> None:
        """Take from a queue what has to be known of the messages in it."""
        held = queue.messages.values()
        self.attempts = {message.id: message.attempts for message in held if message.attempts}
        self.out = self.peak = len(queue.flights)
        self._weigh((message.id, message.body) for message in held if len(message.body) > _SMALL_BYTES)

    def _weigh(self, messages: Iterable[tuple[str, bytes]]) -> None:
        self.large.update({id: count for id, body in messages if (count := chunks(len(body))) > 1})

    def count(self, step: Step, source: Tally | None = None) -> None:
        """Count a step; `source` has what is known of messages that arrive as dead letters."""
        kind, ids = step.kind, step.ids
        self.messages[kind] += len(ids)
        if kind is Kind.SENT and max(map(len, step.bodies)) > _SMALL_BYTES:
            self._weigh(zip(ids, step.bodies, strict=True))
        elif source is not None and source.large:
            self.large.update({id: source.large.pop(id) for id in ids if id in source.large})
        if kind in _BILLED:
            more = sum([self.large.get(id, 1) - 1 for id in ids]) if self.large else 0
            self.operations[_BILLED[kind]] += len(ids) + more
            if kind is Kind.REDRIVEN:
                self.operations["read"] += len(ids) + more
        if kind in DELIVERIES:
            self.attempts.update(zip(ids, step.values, strict=True))
            again = self.repeated.intersection(ids)
            self.duplicates += len(again)
            self.repeated -= again
        elif kind is Kind.REPEATED:
            self.repeated.update(ids)
        elif kind in {Kind.RETRIED, Kind.LAPSED}:
            self.retries.update([self.attempts.get(id, 1) for id in ids])
        elif kind in ENDS:
            self.ended.setdefault(kind, Counter()).update(map(self.attempts.pop, ids, repeat(0)))
            if self.large and kind not in _MOVING:
                for id in ids:
                    self.large.pop(id, None)

    def counts(self, queue: str) -> QueueCounts:
        """How many messages went each way, under the queue's name."""
        n = self.messages
        gone, came = sum(n[kind] for kind in ENDS), n[Kind.ARRIVED] + n[Kind.REENTERED]
        return QueueCounts(
            queue, n[Kind.SENT], came, n[Kind.DELIVERED] + n[Kind.LEASED], n[Kind.ACKED],
            n[Kind.RETRIED] + n[Kind.LAPSED] + n[Kind.REPEATED], n[Kind.DEAD_LETTERED], n[Kind.DROPPED], n[Kind.EXPIRED],
            n[Kind.PURGED], n[Kind.REDRIVEN], n[Kind.SENT] + came - gone,
        )  # fmt: skip

    def billed(self, empty_pulls: int = 0) -> Operations:
        """What the queue would be billed for, with pulls that found nothing: they leave no event."""
        n = self.operations
        return Operations(n["write"], n["read"] + empty_pulls, n["delete"] + n["purge"])
