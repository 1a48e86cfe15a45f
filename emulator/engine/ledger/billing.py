"""What a run would be billed for: operations, one for each started 64 KB of a message that is written, read or deleted.

https://developers.cloudflare.com/queues/platform/pricing/. Each retry is one more read; a dead letter is one write in its
queue; a pull that finds nothing is a read; a purge is one operation. These are counts, not prices.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cfq_lint.facts.pricing import chunks
from emulator.core import events as happened

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emulator.core.events import Event


class Operations(NamedTuple):
    """Billed operations of one queue."""

    writes: int = 0
    reads: int = 0
    deletes: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self)


def operations(events: Iterable[Event], empty_pulls: Mapping[str, int] | None = None) -> dict[str, Operations]:
    """The operations of each queue that had any. `empty_pulls` counts pulls that found nothing, which leave no event."""
    cost: dict[str, int] = {}
    found: dict[str, list[int]] = {}
    for event in events:
        if isinstance(event, happened.Sent):
            cost.update((id, chunks(len(body))) for id, body in zip(event.ids, event.bodies, strict=True))
            _count(found, event.queue, 0, event.ids, cost)
        elif isinstance(event, happened.Delivered | happened.Pulled):
            _count(found, event.queue, 1, event.ids, cost)
        elif isinstance(event, happened.Expired):
            _count(found, event.queue, 2, event.ids, cost)
        elif isinstance(event, happened.Purged):
            found.setdefault(event.queue, [0, 0, 0])[2] += 1
        elif isinstance(event, happened.Settled | happened.LeasesSettled | happened.LeasesLapsed):
            for field in ("acked", "dropped", "expired"):
                _count(found, event.queue, 2, getattr(event, field, ()), cost)
            if event.dead:
                _count(found, str(event.target), 0, event.dead, cost)
    for queue, count in (empty_pulls or {}).items():
        if count:
            found.setdefault(queue, [0, 0, 0])[1] += count
    return {queue: Operations(*counts) for queue, counts in sorted(found.items())}


def _count(found: dict[str, list[int]], queue: str, kind: int, ids: Iterable[str], cost: Mapping[str, int]) -> None:
    found.setdefault(queue, [0, 0, 0])[kind] += sum(cost[id] for id in ids)
