"""What the state does not count: retries by attempt, attempts at the end, operations that Cloudflare bills, duplicates.

Operations: https://developers.cloudflare.com/queues/platform/pricing/. Each started 64,000 bytes of a message, with about 100
bytes of metadata, are one operation for every write, read and delete; an empty pull is a read, a purge one operation.
"""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from typing import TYPE_CHECKING

from cfq_lint.facts.pricing import chunks
from emulator.core import events as happened

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emulator.core.events import Event
    from emulator.core.model import QueueState

_ENDS = (("acked", "acked"), ("dropped", "dropped"), ("expired", "expired"), ("dead", "dead-lettered"))
OPERATIONS = ("write", "read", "delete", "purge")


class Tally:
    """The counts of one queue. `ended` counts, for each way to end, messages by their attempts."""

    __slots__ = ("attempts", "big", "dedupe_hits", "duplicates", "ended", "operations", "repeated", "retries")

    def __init__(self, queue: QueueState | None = None) -> None:
        self.retries: Counter[int] = Counter()
        self.ended: dict[str, Counter[int]] = {state: Counter() for _field, state in _ENDS}
        self.operations: Counter[str] = Counter()
        self.duplicates = self.dedupe_hits = 0
        self.attempts: dict[str, int] = {}
        self.big: dict[str, int] = {}
        self.repeated: set[str] = set()
        if queue is not None:
            held = list(queue.messages.values())
            self.attempts = {message.id: message.attempts for message in held if message.attempts}
            self._weigh((message.id for message in held), (message.body for message in held))

    def _weigh(self, ids: Iterable[str], bodies: Iterable[bytes]) -> None:
        self.big.update({id: count for id, body in zip(ids, bodies, strict=True) if (count := chunks(len(body))) > 1})

    def bill(self, operation: str, ids: tuple[str, ...]) -> None:
        """Count an operation on messages, whatever their sizes."""
        more = sum(self.big.get(id, 1) - 1 for id in ids) if self.big else 0
        self.operations[operation] += len(ids) + more

    def store(self, event: happened.Sent) -> None:
        """Messages were written."""
        if chunks(max(map(len, event.bodies), default=0)) > 1:
            self._weigh(event.ids, event.bodies)
        self.bill("write", event.ids)

    def deliver(self, event: happened.Delivered | happened.Pulled) -> None:
        """Messages were read. One that had been acknowledged already is a duplicate."""
        self.attempts.update(zip(event.ids, event.attempts, strict=True))
        self.bill("read", event.ids)
        if self.repeated:
            again = self.repeated.intersection(event.ids)
            self.duplicates += len(again)
            self.repeated -= again

    def settle(
        self, event: happened.Settled | happened.LeasesSettled | happened.LeasesLapsed, tally: Callable[[str], Tally]
    ) -> None:
        """Attempts came to an end; `tally` gives the counts of the dead-letter queue."""
        self.retries.update(self.attempts.get(id, 1) for id in event.retried)
        if isinstance(event, happened.Settled):
            self.repeated.update(event.repeated)
        if event.dead and event.target is not None:
            target = tally(event.target)
            target.big.update({id: self.big[id] for id in event.dead if id in self.big})
            target.bill("write", event.dead)
        for field, state in _ENDS:
            self._end(state, getattr(event, field, ()), billed=field != "dead")

    def _end(self, state: str, ids: tuple[str, ...], *, billed: bool) -> None:
        if not ids:
            return
        if billed:
            self.bill("delete", ids)
        self.ended[state].update(map(self.attempts.pop, ids, repeat(0)))
        for id in ids if self.big else ():
            self.big.pop(id, None)

    def expire(self, event: happened.Expired) -> None:
        """Messages were deleted unread, or between two attempts."""
        self._end("expired", event.ids, billed=True)

    def purge(self, event: happened.Purged) -> None:
        """The queue was emptied: one operation, however many messages there were."""
        self.operations["purge"] += 1
        for id in event.ids:
            self.attempts.pop(id, None)
            self.big.pop(id, None)


def fold(tallies: dict[str, Tally], event: Event) -> None:
    """Count an event."""

    def tally(queue: str) -> Tally:
        if queue not in tallies:
            tallies[queue] = Tally()
        return tallies[queue]

    if isinstance(event, happened.Sent):
        tally(event.queue).store(event)
    elif isinstance(event, happened.Delivered | happened.Pulled):
        tally(event.queue).deliver(event)
    elif isinstance(event, happened.Settled | happened.LeasesSettled | happened.LeasesLapsed):
        tally(event.queue).settle(event, tally)
    elif isinstance(event, happened.Expired):
        tally(event.queue).expire(event)
    elif isinstance(event, happened.Purged):
        tally(event.queue).purge(event)
    elif isinstance(event, happened.QueueDeleted):
        tallies.pop(event.queue, None)
