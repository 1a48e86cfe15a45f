"""Sending: limits first, then one event for all messages of a call.

https://developers.cloudflare.com/queues/configuration/javascript-apis/ and .../platform/limits/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.core import refusals
from emulator.core.events import Sent
from emulator.core.limits import SECOND_US, Limits

if TYPE_CHECKING:
    from emulator.core.commands import Send
    from emulator.core.model import QueueState, State


def send(state: State, now_us: int, command: Send, limits: Limits) -> tuple[Sent, ...]:
    """Store messages, or refuse them all: 10104, 10202 to 10206, 10250 or 10251."""
    queue = state.queues.get(command.queue)
    if queue is None:
        raise refusals.QueueNotFound
    count, size_bytes, delays = len(command.bodies), sum(map(len, command.bodies)), command.delays_seconds
    _check_sizes(command, count, size_bytes, limits)
    plain = delays.count(None) == count
    if not plain:
        for delay in delays:
            if delay is not None:
                check_delay(delay, limits)
    if command.batch_delay_seconds is not None:
        check_delay(command.batch_delay_seconds, limits, refusals.BatchDelayInvalid)
    default_seconds = queue.config.delivery_delay if command.batch_delay_seconds is None else command.batch_delay_seconds
    default_us = now_us + default_seconds * SECOND_US
    if plain:
        ready_us = (default_us,) * count
    else:
        ready_us = tuple(default_us if delay is None else now_us + delay * SECOND_US for delay in delays)
    _check_load(queue, now_us, count, size_bytes, limits)
    return (Sent(now_us, command.queue, command.ids, command.bodies, command.content_types, ready_us),)


def _check_sizes(command: Send, count: int, size_bytes: int, limits: Limits) -> None:
    """A message's size is checked before the batch's, as the service names the first thing that is wrong."""
    if limits.batch_count is not None and count > limits.batch_count:
        raise refusals.BatchCountOutOfBounds(f"batch message count of {count} exceeds limit of {limits.batch_count}")
    if limits.message_size_bytes is not None and size_bytes > limits.message_size_bytes:
        for body in command.bodies:
            if len(body) > limits.message_size_bytes:
                start = "message in batch has length" if command.many else "message length of"
                rest = "which exceeds single message size limit of" if command.many else "exceeds limit of"
                raise refusals.MessageSizeOutOfBounds(f"{start} {len(body)} bytes {rest} {limits.message_size_bytes}")
    if limits.batch_size_bytes is not None and command.many and size_bytes > limits.batch_size_bytes:
        raise refusals.BatchSizeOutOfBounds(f"batch size of {size_bytes} bytes exceeds limit of {limits.batch_size_bytes}")


def check_delay(delay_seconds: int, limits: Limits, refusal: type[refusals.Refused] = refusals.MessageMetadataInvalid) -> None:
    """Refuse a delay that is negative or longer than a day."""
    if delay_seconds < 0 or (limits.delay_seconds is not None and delay_seconds > limits.delay_seconds):
        top = "" if limits.delay_seconds is None else f" and {limits.delay_seconds}"
        raise refusal(f"delay of {delay_seconds} seconds is not between 0{top}")


def _check_load(queue: QueueState, now_us: int, count: int, size_bytes: int, limits: Limits) -> None:
    """Throughput is counted over the second that ends now; the backlog over what is not acknowledged."""
    if limits.throughput_per_second is not None:
        excess = queue.lately + count - limits.throughput_per_second
        for at_us, sent in queue.window:  # what has left the second by now: no more entries than the command has messages
            if excess <= 0 or at_us > now_us - SECOND_US:
                break
            excess -= sent
        if excess > 0:
            raise refusals.QueueOverloaded
    if limits.backlog_size_bytes is not None and queue.backlog_bytes + size_bytes > limits.backlog_size_bytes:
        raise refusals.QueueStorageLimitExceeded
