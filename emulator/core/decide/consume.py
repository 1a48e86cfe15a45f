"""Push consumers: a batch leaves, a batch ends, and how many batches may be out at once.

What became of each message follows https://developers.cloudflare.com/queues/configuration/batching-retries/ and workerd's rules
of precedence: retried, else acknowledged, else ackAll, else retryAll, else as the handler ended.
Leaving, ending and the count of slots share the view of what is ready, and so they share a module.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import islice
from operator import attrgetter
from typing import TYPE_CHECKING

from cfq_lint.facts import limits as cloudflare
from emulator.core.decide.manage import dead_letter_queue
from emulator.core.events import Delivered, Event, Settled
from emulator.core.fresh import fresh_ids, ready_count
from emulator.core.limits import SECOND_US
from emulator.core.messages import FLYING, GONE, Message

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.core.commands import Deliver, Settle
    from emulator.core.limits import Limits
    from emulator.core.messages import Index
    from emulator.core.model import Consumer, Flight, QueueState, State

_ID = attrgetter("id")


def waiting(queue: QueueState, now_us: int, count: int) -> list[Message]:
    """The first `count` messages that are ready now, in order of (moment ready, entry number)."""
    index = queue.index
    if not index.ready_gone and len(index.ready) >= count:
        return list(islice(index.ready, count))
    found: list[Message] = []
    for message in index.ready:
        if len(found) == count:
            return found
        if message.place != GONE:
            found.append(message)
    if index.delayed and index.delayed[0] <= now_us:
        for message in delayed_until(index, now_us):
            if len(found) == count:
                break
            found.append(message)
    return found


def delayed_until(index: Index, until_us: int) -> Iterator[Message]:
    """Living delayed messages up to a moment, in order, without disturbing the heap of moments: walk down from its top."""
    heap = index.delayed
    edge = [(heap[0], 0)] if heap else []
    while edge and edge[0][0] <= until_us:
        moment_us, place = heappop(edge)
        there = index.delayed_until[moment_us]
        for message in (there,) if isinstance(there, Message) else there:
            if message.place != GONE:
                yield message
        for child in (2 * place + 1, 2 * place + 2):
            if child < len(heap):
                heappush(edge, (heap[child], child))


def slots(queue: QueueState, consumer: Consumer) -> int:
    """How many batches of the queue may be out at once: `max_concurrency`, else what the autoscaler found."""
    return consumer.max_concurrency or queue.slots


def departure_us(queue: QueueState, now_us: int) -> int | None:
    """When the next batch leaves if nothing else happens; None when none will."""
    consumer = queue.consumer
    if consumer is None or not queue.attached or consumer.type != "worker" or queue.config.delivery_paused:
        return None
    if len(queue.flights) >= slots(queue, consumer):
        return None
    standing = ready_count(queue)
    if standing >= consumer.max_batch_size:
        return now_us
    index = queue.opened
    delayed = index.delayed if index is not None else ()
    if index is not None and index.ready:
        oldest_us = index.ready[0].ready_us
    elif standing:
        oldest_us = queue.fresh[0].at_us
    elif delayed:
        oldest_us = delayed[0]
    else:
        return None
    deadline_us = oldest_us + round(consumer.max_batch_timeout * SECOND_US)
    if index is not None and delayed and deadline_us > now_us and deadline_us > oldest_us:
        missing = consumer.max_batch_size - standing
        for message in delayed_until(index, deadline_us):
            missing -= 1
            if missing == 0:
                return max(now_us, message.ready_us)
    return max(now_us, deadline_us)


def deliver(state: State, now_us: int, command: Deliver, _limits: Limits) -> tuple[Delivered, ...]:
    """Let a batch leave, whose moment has come. Nothing happens when nothing can leave."""
    queue = state.queues[command.queue]
    consumer = queue.consumer
    if consumer is None or not queue.attached or len(queue.flights) >= slots(queue, consumer):
        return ()
    ids = command.ids or fresh_ids(queue, consumer.max_batch_size, now_us)
    if command.ids or not ids:
        messages = [queue.messages[id] for id in ids] or waiting(queue, now_us, consumer.max_batch_size)
        ids = tuple(map(_ID, messages))
        if not ids:
            return ()
        attempts = tuple([message.attempts + 1 for message in messages])
    else:
        attempts = (1,) * len(ids)
    return (Delivered(now_us, command.queue, state.batches + 1, ids, attempts),)


def settle(state: State, now_us: int, command: Settle, _limits: Limits) -> tuple[Event, ...]:
    """What becomes of each message of a batch that has ended. Nothing, when the batch is not out (any more)."""
    queue = state.queues.get(command.queue)
    flight = queue.flights.get(command.batch) if queue is not None else None
    if queue is None or flight is None:
        return ()
    everything = command.ack_all or (command.outcome == "ok" and not command.retry_all)
    plain = everything and not command.retries and not command.lost
    messages = [] if plain and flight.messages is None else [m for m in queue.messages_of(flight) if m.place == FLYING]
    if plain and (flight.messages is None or len(messages) == len(flight.ids)):
        acked = flight.ids
        scale = _scale(queue, flight, now_us, command.outcome == "ok", 0)
        return (Settled(now_us, queue.config.name, command.batch, command.outcome, command.error, acked,
                        warnings=command.warnings, scale=scale),)  # fmt: skip
    retries = dict(command.retries)
    acks = [m for m in messages if m.id not in retries and (everything or m.id in command.acks)]
    acked_ids = {message.id for message in acks}
    failed = FailedAttempts(queue, flight.consumer, now_us)
    for message in messages:
        if message.id not in acked_ids:
            delay = retries.get(message.id)
            failed.add(message, command.retry_all_delay_seconds if delay is None else delay)
    lost = {m.id for m in acks if m.id in command.lost and failed.may_return(m)}
    created, target = dead_letter_queue(state, now_us, queue, flight.consumer, failed.dead)
    return (*created, Settled(
        now_us, queue.config.name, command.batch, command.outcome, command.error,
        tuple([message.id for message in acks if message.id not in lost]),
        tuple(failed.retried), tuple(failed.ready_us), tuple(failed.dead), target, tuple(failed.dropped), tuple(failed.expired),
        tuple([message.id for message in acks if message.id in lost]), command.warnings,
        _scale(queue, flight, now_us, command.outcome == "ok", len(failed.retried)),
    ))  # fmt: skip


class FailedAttempts:
    """Collects what becomes of messages whose attempt failed."""

    __slots__ = ("consumer", "dead", "dropped", "expired", "now_us", "queue", "ready_us", "retried")

    def __init__(self, queue: QueueState, consumer: Consumer, now_us: int) -> None:
        self.queue, self.consumer, self.now_us = queue, consumer, now_us
        self.retried: list[str] = []
        self.ready_us: list[int] = []
        self.dead: list[str] = []
        self.dropped: list[str] = []
        self.expired: list[str] = []

    def may_return(self, message: Message) -> bool:
        """Whether a message has time and attempts left."""
        return not self._is_over(message) and message.attempts <= self.consumer.max_retries

    def _is_over(self, message: Message) -> bool:
        return message.arrived_us + lifetime_us(self.queue, message.dead) <= self.now_us

    def add(self, message: Message, delay_seconds: int | None) -> None:
        """Expired if its time is over; else dead-lettered or dropped after the last attempt; else back after the delay."""
        if self._is_over(message):
            self.expired.append(message.id)
        elif message.attempts > self.consumer.max_retries:
            (self.dropped if self.consumer.dead_letter_queue is None else self.dead).append(message.id)
        else:
            delay = self.consumer.retry_delay if delay_seconds is None else delay_seconds
            self.retried.append(message.id)
            self.ready_us.append(self.now_us + delay * SECOND_US)


def lifetime_us(queue: QueueState, dead: bool) -> int:
    """How long a message lives in a queue: its retention, and as a dead letter without a consumer no more than 4 days."""
    seconds = queue.config.message_retention_period
    if dead and queue.consumer is None:
        seconds = min(seconds, cloudflare.DEAD_LETTER_UNCONSUMED_SECONDS)
    return seconds * SECOND_US


def _scale(queue: QueueState, flight: Flight, now_us: int, succeeded: bool, returned: int) -> tuple[int, int, int] | None:
    """The autoscaler, asked when a batch has ended: one slot more or less, from 1 to 250.

    Cloudflare publishes what it looks at, not the formula. Ours: the failure rate moves a quarter of the way to 0 or 1000
    permille with each batch. Above 500 the slots are halved. Else one more when at least a batch waits and either the backlog
    has grown since the last batch ended or ten batches wait for every slot; one less when less than a batch waits. Only an
    exception counts as a failure, no retry().
    """
    if flight.consumer.max_concurrency is not None:
        return None
    backlog = ready_count(queue) + returned
    index = queue.opened
    if index is not None and index.delayed and index.delayed[0] <= now_us:
        backlog += sum(1 for _ in delayed_until(index, now_us))
    known = (queue.slots, queue.backlog_seen or 0, queue.failure_permille)
    return scaled(known, backlog, flight.consumer.max_batch_size, succeeded=succeeded)


def scaled(known: tuple[int, int, int], backlog: int, batch_size: int, *, succeeded: bool) -> tuple[int, int, int]:
    """The autoscaler's rule on bare numbers: slots, backlog seen and failure rate in permille, before and after a batch."""
    count, seen, permille = known
    rate = (permille * 3 + (0 if succeeded else 1000)) // 4
    if rate > _FAILING_PERMILLE:
        count = max(1, count // 2)
    elif backlog < batch_size:
        count = max(1, count - 1)
    elif backlog > seen or backlog >= _BATCHES_PER_SLOT * count * batch_size:
        count = min(cloudflare.CONCURRENCY_MAX, count + 1)
    return count, backlog, rate


_FAILING_PERMILLE = 500
_BATCHES_PER_SLOT = 10
