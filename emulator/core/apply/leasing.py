"""Leases are taken and prolonged."""

from __future__ import annotations

from heapq import heappush
from typing import TYPE_CHECKING

from emulator.core.index import dequeue, touch
from emulator.core.messages import LEASED, Message

if TYPE_CHECKING:
    from emulator.core.events import LeasesExtended, Pulled
    from emulator.core.model import QueueState, State


def pulled(state: State, event: Pulled) -> None:
    """Messages leave the line, each with its count of attempts, and are leased."""
    queue = state.queues[event.queue]
    picked = dequeue(queue, event.ids, event.at_us)
    for message, attempts in zip(picked, event.attempts, strict=True):
        message.attempts = attempts
    _lease(state, queue, picked, event.leases, event.until_us)
    touch(state, queue)


def extended(state: State, event: LeasesExtended) -> None:
    """Leases hold longer, each under a new id."""
    queue = state.queues[event.queue]
    _lease(state, queue, list(map(queue.messages.__getitem__, event.ids)), event.leases, event.until_us)
    touch(state, queue)


def _lease(state: State, queue: QueueState, messages: list[Message], leases: tuple[str, ...], until_us: int) -> None:
    held = queue.index.leases
    for message, lease in zip(messages, leases, strict=True):
        state.entries += 1
        message.place, message.lease, message.lease_until_us = LEASED, lease, until_us
        heappush(held, (until_us, state.entries, lease, message))
