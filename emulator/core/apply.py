"""(state, event) → state: the only writer. It decides nothing; what it cannot find is a broken journal and raises KeyError.

Longer than a module should be, because everything that writes stands in one place.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any

from emulator.core import events as happened
from emulator.core.limits import SECOND_US
from emulator.core.model import DELAYED, FLYING, GONE, LEASED, READY, Flight, Message, QueueConfig, QueueState, State, Track

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Callable, Iterable

_CLUTTER = 1_000
"""How many messages that are gone may lie in a line before they are cleared."""


def apply(state: State, event: happened.Event) -> None:
    """Write one event into the state."""
    state.now_us = event.at_us
    _WRITERS[type(event)](state, event)


def _queue_created(state: State, event: happened.QueueCreated) -> None:
    config = QueueConfig(event.queue, event.delivery_delay, event.message_retention_period, event.jurisdiction)
    state.queues[event.queue] = QueueState(config)


def _queue_changed(state: State, event: happened.QueueChanged) -> None:
    queue = state.queues[event.queue]
    queue.config = queue.config._replace(
        delivery_delay=event.delivery_delay,
        message_retention_period=event.message_retention_period,
        delivery_paused=event.delivery_paused,
    )
    _touch(state, queue, event.at_us)


def _queue_deleted(state: State, event: happened.QueueDeleted) -> None:
    del state.queues[event.queue]


def _consumer_set(state: State, event: happened.ConsumerSet) -> None:
    queue = state.queues[event.queue]
    queue.consumer, queue.attached = event.consumer, event.attached
    _touch(state, queue, event.at_us)


def _consumer_removed(state: State, event: happened.ConsumerRemoved) -> None:
    queue = state.queues[event.queue]
    queue.consumer, queue.attached = None, False
    _touch(state, queue, event.at_us)


def _handler_attached(state: State, event: happened.HandlerAttached) -> None:
    queue = state.queues[event.queue]
    queue.attached = event.attached
    _touch(state, queue, event.at_us)


def _sent(state: State, event: happened.Sent) -> None:
    queue, at_us = state.queues[event.queue], event.at_us
    if queue.delayed:
        promote(queue, at_us)
    entered = [
        Message(id, body, content_type, at_us, at_us, ready_us, entry)
        for entry, id, body, content_type, ready_us in zip(
            count(state.entries + 1), event.ids, event.bodies, event.content_types, event.ready_us
        )
    ]
    queue.messages.update(zip(event.ids, entered, strict=True))
    queue.track.line.extend(entered)
    queue.ages.extend(entered)
    if max(event.ready_us) <= at_us:
        queue.ready.extend(entered)
    else:
        for message in entered:
            stand(queue, message, at_us)
    state.entries += len(entered)
    queue.backlog_bytes += sum(map(len, event.bodies))
    queue.counts.sent += len(event.ids)
    window = queue.window
    while window and window[0][0] <= at_us - SECOND_US:
        window.popleft()
    if window and window[-1][0] == at_us:
        window[-1] = (at_us, window[-1][1] + len(event.ids))
    else:
        window.append((at_us, len(event.ids)))
    state.dirty.add(event.queue)


def _delivered(state: State, event: happened.Delivered) -> None:
    queue = state.queues[event.queue]
    picked = _take(queue, event, FLYING)
    queue.flying_bytes += sum([len(message.body) for message in picked])
    queue.flying_count += len(picked)
    consumer = queue.consumer
    assert consumer is not None, "a batch left for a consumer that is not there"
    queue.flights[event.batch] = Flight(event.batch, event.ids, picked, consumer, event.at_us)
    state.batches = event.batch
    if queue.backlog_seen is None:  # the autoscaler's first look; from then on it looks when a batch ends
        queue.backlog_seen = len(queue.ready) - queue.ready_gone
    _touch(state, queue, event.at_us)


def _take(queue: QueueState, event: happened.Delivered | happened.Pulled, place: int) -> list[Message]:
    """Take messages from the front of the line, each with its new place and count of attempts."""
    if queue.delayed:
        promote(queue, event.at_us)
    line, ids = queue.ready, event.ids
    pop = line.popleft
    picked = [pop() for _ in ids]
    if [message.id for message in picked] != list(ids):
        line.extendleft(reversed(picked))
        picked = [queue.messages[id] for id in ids]
        for message in picked:
            _take_from_within(queue, message)
    for message, attempts in zip(picked, event.attempts, strict=True):
        message.attempts, message.place = attempts, place
    queue.counts.delivered += len(picked)
    return picked


def _take_from_within(queue: QueueState, wanted: Message) -> None:
    """Take one message out of order: what is gone stands in front of it, or chaos has shuffled the batch."""
    passed: list[Message] = []
    while (message := queue.ready.popleft()) is not wanted:
        if message.place == GONE:
            queue.ready_gone -= 1
        else:
            passed.append(message)
    queue.ready.extendleft(reversed(passed))


def _settled(state: State, event: happened.Settled) -> None:
    queue = state.queues[event.queue]
    flying = [message for message in queue.flights.pop(event.batch).messages if message.place == FLYING]
    flying_bytes = sum([len(message.body) for message in flying])
    queue.flying_count -= len(flying)
    queue.flying_bytes -= flying_bytes
    queue.counts.acked += len(event.acked)
    if len(event.acked) == len(flying):
        remove = queue.messages.__delitem__
        for message in flying:
            message.place = GONE
            remove(message.id)
        queue.backlog_bytes -= flying_bytes
    else:
        _remove(queue, event.acked)
    if event.repeated:
        promote(queue, event.at_us)
        _return(state, queue, event.repeated, [event.at_us] * len(event.repeated))
        queue.counts.repeated += len(event.repeated)
    _fail(state, queue, event)
    if event.scale is not None:
        queue.slots, queue.backlog_seen, queue.failure_permille = event.scale
    _touch(state, queue, event.at_us)


def _leases_settled(state: State, event: happened.LeasesSettled) -> None:
    queue = state.queues[event.queue]
    for id in event.acked if queue.flying_count else ():
        if queue.messages[id].place == FLYING:  # a late acknowledgement of what a push consumer has in hand by now
            queue.flying_count -= 1
            queue.flying_bytes -= len(queue.messages[id].body)
    _remove(queue, event.acked)
    queue.counts.acked += len(event.acked)
    _fail(state, queue, event)
    _touch(state, queue, event.at_us)


def _leases_lapsed(state: State, event: happened.LeasesLapsed) -> None:
    queue = state.queues[event.queue]
    _fail(state, queue, event)
    _touch(state, queue, event.at_us)


def _fail(state: State, queue: QueueState, event: happened.Settled | happened.LeasesSettled | happened.LeasesLapsed) -> None:
    """What became of the messages whose attempt failed."""
    counts = queue.counts
    if event.retried:
        promote(queue, event.at_us)
        _return(state, queue, event.retried, event.ready_us)
        counts.retried += len(event.retried)
    if event.dead:
        counts.dead_lettered += len(event.dead)
        _bury(state, queue, event.dead, state.queues[str(event.target)], event.at_us)
    if event.dropped:
        counts.dropped += len(event.dropped)
        _remove(queue, event.dropped)
    if event.expired:
        counts.expired += len(event.expired)
        _remove(queue, event.expired)


def _return(state: State, queue: QueueState, ids: Iterable[str], ready_us: Iterable[int]) -> None:
    """Put messages back in line, each under a new entry number."""
    for id, moment_us in zip(ids, ready_us, strict=True):
        message = queue.messages[id]
        state.entries += 1
        message.entry, message.ready_us, message.lease = state.entries, moment_us, ""
        stand(queue, message, state.now_us)
        if not message.tracked:
            message.tracked = True
            track = queue.dead_track if message.dead else queue.track
            heappush(track.returned, (message.arrived_us, message.entry, message))


def stand(queue: QueueState, message: Message, now_us: int) -> None:
    """Put a message where it waits: in line, or with those that are delayed until the same moment."""
    ready_us = message.ready_us
    if ready_us <= now_us:
        message.place = READY
        queue.ready.append(message)
        return
    message.place = DELAYED
    there = queue.delayed_until.get(ready_us)
    if there is None:
        queue.delayed_until[ready_us] = message
        heappush(queue.delayed, ready_us)
    elif isinstance(there, Message):
        queue.delayed_until[ready_us] = [there, message]
    else:
        there.append(message)


def _bury(state: State, queue: QueueState, ids: tuple[str, ...], target: QueueState, at_us: int) -> None:
    """Move messages to a dead-letter queue: id, timestamp, body and content type stay, everything else starts anew."""
    promote(target, at_us)
    ready_us = at_us + target.config.delivery_delay * SECOND_US
    for id in ids:
        old = queue.messages[id]
        state.entries += 1
        message = Message(id, old.body, old.content_type, old.timestamp_us, at_us, ready_us, state.entries)
        message.dead = True
        target.messages[id] = message
        target.backlog_bytes += len(message.body)
        target.dead_track.line.append(message)
        heappush(target.dead_ages, (message.timestamp_us, message.entry, message))
        stand(target, message, at_us)
    target.counts.received += len(ids)
    _remove(queue, ids)
    _touch(state, target, at_us)


def _remove(queue: QueueState, ids: Iterable[str]) -> None:
    """Take messages out of the queue. Those in line stay there as gone, and are cleared when they reach the front."""
    pop, size_bytes = queue.messages.pop, 0
    for id in ids:
        message = pop(id)
        size_bytes += len(message.body)
        if message.place == READY:
            queue.ready_gone += 1
        elif message.place == DELAYED:
            queue.delayed_gone += 1
        message.place = GONE
    queue.backlog_bytes -= size_bytes


def _pulled(state: State, event: happened.Pulled) -> None:
    queue = state.queues[event.queue]
    _lease(state, queue, _take(queue, event, LEASED), event.leases, event.until_us)
    _touch(state, queue, event.at_us)


def _leases_extended(state: State, event: happened.LeasesExtended) -> None:
    queue = state.queues[event.queue]
    _lease(state, queue, [queue.messages[id] for id in event.ids], event.leases, event.until_us)
    _touch(state, queue, event.at_us)


def _lease(state: State, queue: QueueState, messages: list[Message], leases: tuple[str, ...], until_us: int) -> None:
    for message, lease in zip(messages, leases, strict=True):
        state.entries += 1
        message.place, message.lease, message.lease_until_us = LEASED, lease, until_us
        heappush(queue.leases, (until_us, state.entries, lease, message))


def _expired(state: State, event: happened.Expired) -> None:
    queue = state.queues[event.queue]
    _remove(queue, event.ids)
    queue.counts.expired += len(event.ids)
    _touch(state, queue, event.at_us)


def _purged(state: State, event: happened.Purged) -> None:
    queue = state.queues[event.queue]
    _remove(queue, event.ids)
    queue.counts.purged += len(event.ids)
    _touch(state, queue, event.at_us)


def _clock_stopped(state: State, event: happened.ClockStopped) -> None:
    """Nothing but the time has changed."""


def promote(queue: QueueState, now_us: int) -> None:
    """Let delayed messages whose moment has come stand in line."""
    delayed = queue.delayed
    while delayed and delayed[0] <= now_us:
        there = queue.delayed_until.pop(heappop(delayed))
        for message in (there,) if isinstance(there, Message) else there:
            if message.place == GONE:
                queue.delayed_gone -= 1
            else:
                message.place = READY
                queue.ready.append(message)


def _touch(state: State, queue: QueueState, at_us: int) -> None:
    """Clear what is gone from the fronts, so that whoever reads finds a living message there."""
    if queue.delayed:
        promote(queue, at_us)
        if queue.delayed_gone:
            _clear_delayed(queue)
    if queue.ready_gone:
        _clear_ready(queue)
    if queue.leases:
        _clear_leases(queue)
    _clear_track(queue.track, len(queue.messages))
    if queue.dead_track.line or queue.dead_track.returned:
        _clear_track(queue.dead_track, len(queue.messages))
    _clear_ages(queue)
    state.dirty.add(queue.config.name)


def _clear_ages(queue: QueueState) -> None:
    ages, dead_ages = queue.ages, queue.dead_ages
    while ages and ages[0].place == GONE:
        ages.popleft()
    while dead_ages and dead_ages[0][2].place == GONE:
        heappop(dead_ages)
    if len(ages) > _CLUTTER + 2 * len(queue.messages):
        _drop_gone(ages)
    if len(dead_ages) > _CLUTTER + 2 * len(queue.messages):
        dead_ages[:] = [entry for entry in dead_ages if entry[2].place != GONE]
        heapify(dead_ages)


def _drop_gone(line: deque[Message]) -> None:
    kept = [message for message in line if message.place != GONE]
    line.clear()
    line.extend(kept)


def _clear_ready(queue: QueueState) -> None:
    line = queue.ready
    while line and line[0].place == GONE:
        line.popleft()
        queue.ready_gone -= 1
    if queue.ready_gone * 2 > len(line):
        _drop_gone(line)
        queue.ready_gone = 0


def _clear_delayed(queue: QueueState) -> None:
    """The first moment keeps a living message, its last one; so taking from the end is enough, and cheap."""
    heap, until = queue.delayed, queue.delayed_until
    while heap:
        there = until[heap[0]]
        together = [there] if isinstance(there, Message) else there
        while together and together[-1].place == GONE:
            together.pop()
            queue.delayed_gone -= 1
        if together:
            break
        del until[heappop(heap)]
    if queue.delayed_gone > _CLUTTER + 2 * len(queue.messages):
        queue.delayed, queue.delayed_until, queue.delayed_gone = [], {}, 0
        living = [message for message in queue.messages.values() if message.place == DELAYED]
        for message in sorted(living, key=lambda message: message.entry):
            stand(queue, message, message.ready_us - 1)


def _clear_leases(queue: QueueState) -> None:
    heap = queue.leases
    while heap and (heap[0][3].lease != heap[0][2] or heap[0][3].place != LEASED):
        heappop(heap)


def _clear_track(track: Track, living: int) -> None:
    line, returned = track.line, track.returned
    while line and line[0].place > DELAYED:
        line.popleft().tracked = False
    while returned and returned[0][2].place > DELAYED:
        heappop(returned)[2].tracked = False
    if len(line) > _CLUTTER + 2 * living:  # gone behind a head that lives on; without this a long run would keep them all
        _drop_gone(line)


_WRITERS: dict[type, Callable[[State, Any], None]] = {
    happened.QueueCreated: _queue_created,
    happened.QueueChanged: _queue_changed,
    happened.QueueDeleted: _queue_deleted,
    happened.ConsumerSet: _consumer_set,
    happened.ConsumerRemoved: _consumer_removed,
    happened.HandlerAttached: _handler_attached,
    happened.Sent: _sent,
    happened.Delivered: _delivered,
    happened.Settled: _settled,
    happened.Pulled: _pulled,
    happened.LeasesSettled: _leases_settled,
    happened.LeasesLapsed: _leases_lapsed,
    happened.LeasesExtended: _leases_extended,
    happened.Expired: _expired,
    happened.Purged: _purged,
    happened.ClockStopped: _clock_stopped,
}
