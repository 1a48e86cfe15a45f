"""Pull consumers: leases are taken, settled, prolonged.

https://developers.cloudflare.com/queues/configuration/pull-consumers/. A lease id is the message's id, a dot and a nonce.
"""

from __future__ import annotations

from cfq_lint.facts import limits as cloudflare
from emulator.core import commands, refusals
from emulator.core.decide.consume import FailedAttempts, waiting
from emulator.core.decide.manage import dead_letter_queue, find
from emulator.core.decide.produce import check_delay
from emulator.core.events import Event, LeasesExtended, LeasesSettled, Pulled
from emulator.core.limits import Limits, within
from emulator.core.messages import LEASED, Message
from emulator.core.model import DEFAULT_CONSUMER, QueueState, State

MILLISECOND_US = 1_000
GONE_TEXT = "the message is no longer in the queue"
LATE_TEXT = "the lease has lapsed, so the retry was ignored"


def pull(state: State, now_us: int, command: commands.Pull, limits: Limits) -> tuple[Pulled, ...]:
    """Lease what is ready, at once. Refuses a paused queue with 409, and a queue without an http_pull consumer."""
    queue = find(state, command.queue)
    consumer = queue.consumer
    if consumer is None or consumer.type != "http_pull":
        raise refusals.PullNotEnabled
    if queue.config.delivery_paused:
        raise refusals.DeliveryPaused
    if not within(command.batch_size, 0, limits.pull_batch_size):
        raise refusals.BatchCountOutOfBounds(f"batch_size {command.batch_size} is not within 0..{limits.pull_batch_size}")
    chosen = [queue.messages[id] for id in command.ids]
    messages = chosen or waiting(queue, now_us, command.batch_size)
    until_us = _until_us(queue, now_us, command.visibility_timeout_ms, limits)
    if not messages:
        return ()
    ids = tuple([message.id for message in messages])
    attempts = tuple([message.attempts + 1 for message in messages])
    leases = tuple([f"{id}.{nonce}" for id, nonce in zip(ids, command.nonces, strict=False)])
    return (Pulled(now_us, command.queue, ids, attempts, leases, until_us),)


def _until_us(queue: QueueState, now_us: int, timeout_ms: int | None, limits: Limits) -> int:
    if timeout_ms is None:
        consumer = queue.consumer or DEFAULT_CONSUMER
        timeout_ms = consumer.visibility_timeout_ms
    if not within(timeout_ms, cloudflare.VISIBILITY_TIMEOUT_MS_MIN, limits.visibility_timeout_ms):
        top_ms = limits.visibility_timeout_ms
        raise refusals.JSONRequestBodyInvalid(f"visibility_timeout_ms {timeout_ms} is not within 0..{top_ms}")
    return now_us + round(timeout_ms * MILLISECOND_US)


def ack(state: State, now_us: int, command: commands.Ack, limits: Limits) -> tuple[Event, ...]:
    """Settle leases. An acknowledgement holds whenever the message is still there; a retry only under the current lease."""
    queue = find(state, command.queue)
    for _lease, delay in command.retries:
        if delay is not None:
            check_delay(delay, limits)
    consumer = queue.consumer or DEFAULT_CONSUMER
    failed, living, done = FailedAttempts(queue, consumer, now_us), queue.messages, set[str]()
    acked: list[str] = []
    warnings: list[tuple[str, str]] = []
    for lease in command.acks:
        id = lease.partition(".")[0]
        if id in living and id not in done:
            done.add(id)
            acked.append(id)
        else:
            warnings.append((lease, GONE_TEXT))
    for lease, delay in command.retries:
        message = holder(queue, lease)
        if message is None or message.id in done:
            warnings.append((lease, GONE_TEXT))
        elif message.place != LEASED or message.lease != lease:
            warnings.append((lease, LATE_TEXT))
        else:
            done.add(message.id)
            failed.add(message, delay)
    if not done and not warnings:
        return ()
    created, target = dead_letter_queue(state, now_us, queue, consumer, failed.dead)
    return (*created, LeasesSettled(
        now_us, command.queue, tuple(acked), tuple(failed.retried), tuple(failed.ready_us), tuple(failed.dead), target,
        tuple(failed.dropped), tuple(failed.expired), tuple(warnings),
    ))  # fmt: skip


def extend(state: State, now_us: int, command: commands.Extend, limits: Limits) -> tuple[LeasesExtended, ...]:
    """Prolong the leases that still hold, from now on, each under a new id. The others are left out."""
    queue = find(state, command.queue)
    until_us = _until_us(queue, now_us, command.visibility_timeout_ms, limits)
    held: dict[str, Message] = {}
    for lease in command.leases:
        message = holder(queue, lease)
        if message is not None and message.place == LEASED and message.lease == lease:
            held[message.id] = message
    if not held:
        return ()
    leases = tuple([f"{id}.{nonce}" for id, nonce in zip(held, command.nonces, strict=False)])
    return (LeasesExtended(now_us, command.queue, tuple(held), leases, until_us),)


def holder(queue: QueueState, lease: str) -> Message | None:
    """The living message for which a lease was given out, whoever holds it now."""
    return queue.messages.get(lease.partition(".")[0])
