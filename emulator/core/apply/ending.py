"""Deliveries and leases end, and messages with them: acknowledged, retried, dead-lettered, dropped, expired, purged."""

from __future__ import annotations

from heapq import heappush
from typing import TYPE_CHECKING

from emulator.core.index import enqueue, promote, remove, requeue, touch
from emulator.core.limits import SECOND_US
from emulator.core.messages import FLYING, GONE, Message

if TYPE_CHECKING:
    from emulator.core.events import Expired, LeasesLapsed, LeasesSettled, Purged, Settled
    from emulator.core.model import QueueState, State


def settled(state: State, event: Settled) -> None:
    """A push batch is over; the common case, in which everything was acknowledged, has its short way."""
    queue = state.queues[event.queue]
    flight = queue.flights[event.batch]
    flying_count = len(flight.ids)
    whole = len(event.acked) == flying_count  # so nobody has acknowledged one of them meanwhile
    if whole:
        queue.count -= flying_count
        queue.flying_count -= flying_count
        queue.flying_bytes -= flight.size_bytes
        queue.backlog_bytes -= flight.size_bytes
        if flight.messages is not None:
            delete = queue.messages.__delitem__
            for message in flight.messages:
                message.place = GONE
                delete(message.id)
    else:
        flying = [message for message in queue.messages_of(flight) if message.place == FLYING]
        queue.flying_count -= len(flying)
        queue.flying_bytes -= sum([len(message.body) for message in flying])
        remove(queue, event.acked)
    del queue.flights[event.batch]
    if event.repeated:
        requeue(state, queue, event.repeated, [event.at_us] * len(event.repeated))
    if not whole:
        _fail(state, queue, event)
    if event.scale is not None:
        queue.slots, queue.backlog_seen, queue.failure_permille = event.scale
    touch(state, queue)


def leases_settled(state: State, event: LeasesSettled) -> None:
    """A pull consumer has acknowledged and retried."""
    queue = state.queues[event.queue]
    for id in event.acked if queue.flying_count else ():
        message = queue.messages[id]
        if message.place == FLYING:  # a late acknowledgement of what a push consumer has in hand by now
            queue.flying_count -= 1
            queue.flying_bytes -= len(message.body)
    remove(queue, event.acked)
    _fail(state, queue, event)
    touch(state, queue)


def leases_lapsed(state: State, event: LeasesLapsed) -> None:
    """Leases have run out."""
    queue = state.queues[event.queue]
    _fail(state, queue, event)
    touch(state, queue)


def expired(state: State, event: Expired) -> None:
    """Messages have waited too long."""
    queue = state.queues[event.queue]
    remove(queue, event.ids)
    touch(state, queue)


def purged(state: State, event: Purged) -> None:
    """Somebody has removed messages."""
    queue = state.queues[event.queue]
    remove(queue, event.ids)
    touch(state, queue)


def _fail(state: State, queue: QueueState, event: Settled | LeasesSettled | LeasesLapsed) -> None:
    """What became of the messages whose attempt failed."""
    if event.retried:
        requeue(state, queue, event.retried, event.ready_us)
    if event.dead:
        _dead_letter(state, queue, event.dead, state.queues[str(event.target)])
    if event.dropped:
        remove(queue, event.dropped)
    if event.expired:
        remove(queue, event.expired)


def _dead_letter(state: State, queue: QueueState, ids: tuple[str, ...], target: QueueState) -> None:
    """Move messages to a dead-letter queue: id, timestamp, body and content type stay, everything else starts anew."""
    at_us = state.now_us
    promote(target, at_us)
    there = target.index
    ready_us = at_us + target.config.delivery_delay * SECOND_US
    messages = queue.messages
    for id in ids:
        old = messages[id]
        state.entries += 1
        message = Message(id, old.body, old.content_type, old.timestamp_us, at_us, ready_us, state.entries)
        message.dead = True
        there.messages[id] = message
        there.dead_track.line.append(message)
        heappush(there.dead_ages, (message.timestamp_us, message.entry, message))
        enqueue(there, message, at_us)
        target.backlog_bytes += len(message.body)
    target.count += len(ids)
    remove(queue, ids)
    touch(state, target)
