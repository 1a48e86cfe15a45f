"""Queues come, change and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.core.index import touch
from emulator.core.model import QueueConfig, QueueState, State

if TYPE_CHECKING:
    from emulator.core.events import QueueChanged, QueueCreated, QueueDeleted


def created(state: State, event: QueueCreated) -> None:
    """An empty queue."""
    config = QueueConfig(event.queue, event.delivery_delay, event.message_retention_period, event.jurisdiction)
    state.queues[event.queue] = QueueState(config)


def changed(state: State, event: QueueChanged) -> None:
    """Its settings are others; what waits is looked at anew."""
    queue = state.queues[event.queue]
    queue.config = queue.config._replace(
        delivery_delay=event.delivery_delay,
        message_retention_period=event.message_retention_period,
        delivery_paused=event.delivery_paused,
    )
    touch(state, queue)


def deleted(state: State, event: QueueDeleted) -> None:
    """The queue is gone, with all that it held."""
    del state.queues[event.queue]
