"""What time brings about: messages expire, leases lapse. When is each due, and what happens then."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.core.decide.consume import FailedAttempts, lifetime_us
from emulator.core.decide.manage import dead_letter_queue
from emulator.core.events import Event, Expired, LeasesLapsed
from emulator.core.messages import DELAYED, LEASED, Message, Track
from emulator.core.model import DEFAULT_CONSUMER, QueueState, State

if TYPE_CHECKING:
    from collections.abc import Iterator


def expiry_us(queue: QueueState) -> int | None:
    """When the next waiting message expires; None when none waits."""
    moments = [queue.fresh[0].at_us + lifetime_us(queue, dead=False)] if queue.fresh else []
    if queue.opened is None:
        return moments[0] if moments else None
    for track in (queue.opened.track, queue.opened.dead_track):
        first = _first(track)
        if first is not None:
            moments.append(first.arrived_us + lifetime_us(queue, first.dead))
    return min(moments, default=None)


def _first(track: Track) -> Message | None:
    """The waiting message that arrived first. `apply` keeps the fronts clear of what is in flight or gone."""
    if not track.returned:
        return track.line[0] if track.line else None
    returned = track.returned[0][2]
    return track.line[0] if track.line and track.line[0].arrived_us < returned.arrived_us else returned


def lapse_us(queue: QueueState) -> int | None:
    """When the next lease lapses; None when none is out."""
    return queue.opened.leases[0][0] if queue.opened is not None and queue.opened.leases else None


def expire(state: State, now_us: int, name: str) -> tuple[Expired, ...]:
    """All waiting messages of a queue that have reached its retention, in order of arrival."""
    queue = state.queues[name]
    gone: list[Message] = []
    index = queue.index
    for track in (index.track, index.dead_track):
        arrived_us = now_us - lifetime_us(queue, track is index.dead_track)
        found = [*_arrived_in_line(track, arrived_us), *_arrived_returned(track, arrived_us)]
        gone += [message for message in found if message.place <= DELAYED]
    gone.sort(key=lambda message: (message.arrived_us, message.entry))
    return (Expired(now_us, name, tuple([message.id for message in gone])),) if gone else ()


def _arrived_in_line(track: Track, until_us: int) -> Iterator[Message]:
    for message in track.line:
        if message.arrived_us > until_us:
            return
        yield message


def _arrived_returned(track: Track, until_us: int) -> Iterator[Message]:
    """Walk the heap from its top, only where it is old enough."""
    heap, stack = track.returned, [0]
    while stack:
        index = stack.pop()
        if index < len(heap) and heap[index][0] <= until_us:
            yield heap[index][2]
            stack += [2 * index + 1, 2 * index + 2]


def lapse(state: State, now_us: int, name: str) -> tuple[Event, ...]:
    """All leases of a queue that have run out: a failed attempt, and the message returns at once if it may."""
    queue = state.queues[name]
    consumer = queue.consumer or DEFAULT_CONSUMER
    failed, heap, stack, due = FailedAttempts(queue, consumer, now_us), queue.index.leases, [0], []
    while stack:
        index = stack.pop()
        if index < len(heap) and heap[index][0] <= now_us:
            due.append(heap[index])
            stack += [2 * index + 1, 2 * index + 2]
    for _until_us, _entry, lease, message in sorted(due, key=lambda entry: entry[:2]):
        if message.place == LEASED and message.lease == lease:
            failed.add(message, 0)
    if not (failed.retried or failed.dead or failed.dropped or failed.expired):
        return ()
    created, target = dead_letter_queue(state, now_us, queue, consumer, failed.dead)
    return (*created, LeasesLapsed(
        now_us, name, tuple(failed.retried), tuple(failed.ready_us), tuple(failed.dead), target, tuple(failed.dropped),
        tuple(failed.expired),
    ))  # fmt: skip
