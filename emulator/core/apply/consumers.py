"""Consumers are set and removed, and their handlers come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.core.index import touch

if TYPE_CHECKING:
    from emulator.core.events import ConsumerRemoved, ConsumerSet, HandlerAttached
    from emulator.core.model import State


def consumer_set(state: State, event: ConsumerSet) -> None:
    """The queue has this consumer."""
    queue = state.queues[event.queue]
    queue.consumer, queue.attached = event.consumer, event.attached
    touch(state, queue)


def removed(state: State, event: ConsumerRemoved) -> None:
    """The queue has none."""
    queue = state.queues[event.queue]
    queue.consumer, queue.attached = None, False
    touch(state, queue)


def attached(state: State, event: HandlerAttached) -> None:
    """Its handler is there, or is not."""
    queue = state.queues[event.queue]
    queue.attached = event.attached
    touch(state, queue)
