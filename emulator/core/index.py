"""Where the messages of a queue stand: lines, heaps and tracks, kept so that the next of each kind is found at once.

What is gone stays where it stood, marked, until it reaches the front or too much of it has gathered.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from operator import attrgetter
from typing import TYPE_CHECKING

from emulator.core.model import DELAYED, GONE, LEASED, READY, Message

_ID = attrgetter("id")

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Iterable

    from emulator.core.model import QueueState, State, Track

CLUTTER = 1_000
"""How many entries that are gone may lie in a line or heap before they are cleared."""


def enqueue(queue: QueueState, message: Message, now_us: int) -> None:
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


def dequeue(queue: QueueState, ids: tuple[str, ...], now_us: int) -> list[Message]:
    """Take messages out of the line, from its front unless a fault has chosen others."""
    if queue.delayed:
        promote(queue, now_us)
    line = queue.ready
    pop = line.popleft
    picked = [pop() for _ in ids]
    if tuple(map(_ID, picked)) != ids:
        line.extendleft(reversed(picked))
        picked = [queue.messages[id] for id in ids]
        for message in picked:
            _take_from_within(queue, message)
    return picked


def _take_from_within(queue: QueueState, wanted: Message) -> None:
    """Take one message out of order: what is gone stands in front of it, or a fault has shuffled the batch."""
    passed: list[Message] = []
    while (message := queue.ready.popleft()) is not wanted:
        if message.place == GONE:
            queue.ready_gone -= 1
        else:
            passed.append(message)
    queue.ready.extendleft(reversed(passed))


def requeue(state: State, queue: QueueState, ids: Iterable[str], ready_us: Iterable[int]) -> None:
    """Put messages back in line, each under a new entry number."""
    promote(queue, state.now_us)
    for id, moment_us in zip(ids, ready_us, strict=True):
        message = queue.messages[id]
        state.entries += 1
        message.entry, message.ready_us, message.lease = state.entries, moment_us, ""
        enqueue(queue, message, state.now_us)
        if not message.tracked:
            message.tracked = True
            track = queue.dead_track if message.dead else queue.track
            heappush(track.returned, (message.arrived_us, message.entry, message))


def remove(queue: QueueState, ids: Iterable[str]) -> None:
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


def touch(state: State, queue: QueueState) -> None:
    """Clear what is gone from the fronts, so that whoever reads finds a living message there; the agenda is to look again."""
    if queue.delayed:
        promote(queue, state.now_us)
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
    if len(ages) > CLUTTER + 2 * len(queue.messages):
        _drop_gone(ages)
    if len(dead_ages) > CLUTTER + 2 * len(queue.messages):
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
    if queue.delayed_gone > CLUTTER + 2 * len(queue.messages):
        queue.delayed, queue.delayed_until, queue.delayed_gone = [], {}, 0
        living = [message for message in queue.messages.values() if message.place == DELAYED]
        for message in sorted(living, key=lambda message: message.entry):
            enqueue(queue, message, message.ready_us - 1)


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
    if len(line) > CLUTTER + 2 * living:  # gone behind a head that lives on; without this a long run would keep them all
        _drop_gone(line)
