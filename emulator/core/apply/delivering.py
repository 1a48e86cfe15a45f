"""A batch leaves for a push consumer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.core.fresh import ready_count, take_fresh
from emulator.core.index import dequeue, touch
from emulator.core.messages import FLYING
from emulator.core.model import Flight

if TYPE_CHECKING:
    from emulator.core.events import Delivered
    from emulator.core.model import State


def delivered(state: State, event: Delivered) -> None:
    """Messages leave the line, each with its count of attempts, and are in flight."""
    queue = state.queues[event.queue]
    consumer = queue.consumer
    assert consumer is not None, "a batch left for a consumer that is not there"
    flight = Flight(event.batch, event.ids, event.attempts, consumer, event.at_us)
    flight.parcels = take_fresh(queue, event.ids, event.at_us)
    if flight.parcels:
        for parcel in flight.parcels:
            flight.size_bytes += sum(map(len, parcel.bodies))
    else:
        flight.messages = picked = dequeue(queue, event.ids, event.at_us)
        for message, attempts in zip(picked, event.attempts, strict=True):
            message.attempts, message.place = attempts, FLYING
        flight.size_bytes = sum([len(message.body) for message in picked])
    queue.flying_bytes += flight.size_bytes
    queue.flying_count += len(event.ids)
    queue.flights[event.batch] = flight
    state.batches = event.batch
    if queue.backlog_seen is None:  # the autoscaler's first look; from then on it looks when a batch ends
        queue.backlog_seen = ready_count(queue)
    touch(state, queue)
