"""A batch leaves for a push consumer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.core.index import dequeue, touch
from emulator.core.model import FLYING, Flight

if TYPE_CHECKING:
    from emulator.core.events import Delivered
    from emulator.core.model import State


def delivered(state: State, event: Delivered) -> None:
    """Messages leave the line, each with its count of attempts, and are in flight."""
    queue = state.queues[event.queue]
    picked = dequeue(queue, event.ids, event.at_us)
    for message, attempts in zip(picked, event.attempts, strict=True):
        message.attempts, message.place = attempts, FLYING
    size_bytes = sum([len(message.body) for message in picked])
    queue.flying_bytes += size_bytes
    queue.flying_count += len(picked)
    consumer = queue.consumer
    assert consumer is not None, "a batch left for a consumer that is not there"
    queue.flights[event.batch] = Flight(event.batch, event.ids, picked, consumer, event.at_us, size_bytes)
    state.batches = event.batch
    if queue.backlog_seen is None:  # the autoscaler's first look; from then on it looks when a batch ends
        queue.backlog_seen = len(queue.ready) - queue.ready_gone
    touch(state, queue)
