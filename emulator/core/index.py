"""Where the messages of a queue stand: lines, heaps and tracks, kept so that the next of each kind is found at once.

What is gone stays where it stood, marked, until it reaches the front or too much of it has gathered.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from operator import attrgetter
from typing import TYPE_CHECKING

from emulator.core.messages import DELAYED, GONE, LEASED, READY, Message

_ID = attrgetter("id")

if TYPE_CHECKING:
    from collections import deque
    from collections.abc import Iterable

    from emulator.core.messages import Index, Track
    from emulator.core.model import QueueState, State

CLUTTER = 1_000
"""How many entries that are gone may lie in a line or heap before they are cleared."""


def enqueue(index: Index, message: Message, now_us: int) -> None:
    """Put a message where it waits: in line, or with those that are delayed until the same moment."""
    ready_us = message.ready_us
    if ready_us <= now_us:
        message.place = READY
        index.ready.append(message)
        return
    message.place = DELAYED
    there = index.delayed_until.get(ready_us)
    if there is None:
        index.delayed_until[ready_us] = message
        heappush(index.delayed, ready_us)
    elif isinstance(there, Message):
        index.delayed_until[ready_us] = [there, message]
    else:
        there.append(message)


def promote(queue: QueueState, now_us: int) -> None:
    """Let delayed messages whose moment has come stand in line."""
    index = queue.opened
    if index is None or not index.delayed or index.delayed[0] > now_us:
        return
    index = queue.index  # what stands in line as it was sent stands before them
    delayed = index.delayed
    while delayed and delayed[0] <= now_us:
        there = index.delayed_until.pop(heappop(delayed))
        for message in (there,) if isinstance(there, Message) else there:
            if message.place == GONE:
                index.delayed_gone -= 1
            else:
                message.place = READY
                index.ready.append(message)


def dequeue(queue: QueueState, ids: tuple[str, ...], now_us: int) -> list[Message]:
    """Take messages out of the line, from its front unless a fault has chosen others."""
    index = queue.index
    promote(queue, now_us)
    line = index.ready
    pop = line.popleft
    picked = [pop() for _ in ids]
    if tuple(map(_ID, picked)) != ids:
        line.extendleft(reversed(picked))
        picked = [index.messages[id] for id in ids]
        for message in picked:
            _take_from_within(index, message)
    return picked


def _take_from_within(index: Index, wanted: Message) -> None:
    """Take one message out of order: what is gone stands in front of it, or a fault has shuffled the batch."""
    passed: list[Message] = []
    while (message := index.ready.popleft()) is not wanted:
        if message.place == GONE:
            index.ready_gone -= 1
        else:
            passed.append(message)
    index.ready.extendleft(reversed(passed))


def requeue(state: State, queue: QueueState, ids: Iterable[str], ready_us: Iterable[int]) -> None:
    """Put messages back in line, each under a new entry number."""
    index = queue.index
    promote(queue, state.now_us)
    for id, moment_us in zip(ids, ready_us, strict=True):
        message = index.messages[id]
        state.entries += 1
        message.entry, message.ready_us, message.lease = state.entries, moment_us, ""
        enqueue(index, message, state.now_us)
        if not message.tracked:
            message.tracked = True
            track = index.dead_track if message.dead else index.track
            heappush(track.returned, (message.arrived_us, message.entry, message))


def remove(queue: QueueState, ids: tuple[str, ...]) -> None:
    """Take messages out of the queue. Those in line stay there as gone, and are cleared when they reach the front."""
    index, size_bytes = queue.index, 0
    pop = index.messages.pop
    for id in ids:
        message = pop(id)
        size_bytes += len(message.body)
        if message.place == READY:
            index.ready_gone += 1
        elif message.place == DELAYED:
            index.delayed_gone += 1
        message.place = GONE
    queue.count -= len(ids)
    queue.backlog_bytes -= size_bytes


def touch(state: State, queue: QueueState) -> None:
    """Clear what is gone from the fronts, so that whoever reads finds a living message there; the agenda is to look again."""
    state.dirty.add(queue.config.name)
    if queue.opened is None:
        return
    promote(queue, state.now_us)
    index = queue.opened
    living = len(index.messages)
    if not living:
        queue.opened = None
        return
    if index.delayed_gone:
        _clear_delayed(index)
    if index.ready_gone:
        _clear_ready(index)
    if index.leases:
        _clear_leases(index)
    _clear_track(index.track, living)
    if index.dead_track.line or index.dead_track.returned:
        _clear_track(index.dead_track, living)
    _clear_ages(index)


def _clear_ages(index: Index) -> None:
    ages, dead_ages = index.ages, index.dead_ages
    while ages and ages[0].place == GONE:
        ages.popleft()
    while dead_ages and dead_ages[0][2].place == GONE:
        heappop(dead_ages)
    if len(ages) > CLUTTER + 2 * len(index.messages):
        _drop_gone(ages)
    if len(dead_ages) > CLUTTER + 2 * len(index.messages):
        dead_ages[:] = [entry for entry in dead_ages if entry[2].place != GONE]
        heapify(dead_ages)


def _drop_gone(line: deque[Message]) -> None:
    kept = [message for message in line if message.place != GONE]
    line.clear()
    line.extend(kept)


def _clear_ready(index: Index) -> None:
    line = index.ready
    while line and line[0].place == GONE:
        line.popleft()
        index.ready_gone -= 1
    if index.ready_gone * 2 > len(line):
        _drop_gone(line)
        index.ready_gone = 0


def _clear_delayed(index: Index) -> None:
    """The first moment keeps a living message, its last one; so taking from the end is enough, and cheap."""
    heap, until = index.delayed, index.delayed_until
    while heap:
        there = until[heap[0]]
        together = [there] if isinstance(there, Message) else there
        while together and together[-1].place == GONE:
            together.pop()
            index.delayed_gone -= 1
        if together:
            break
        del until[heappop(heap)]
    if index.delayed_gone > CLUTTER + 2 * len(index.messages):
        index.delayed, index.delayed_until, index.delayed_gone = [], {}, 0
        living = [message for message in index.messages.values() if message.place == DELAYED]
        for message in sorted(living, key=lambda message: message.entry):
            enqueue(index, message, message.ready_us - 1)


def _clear_leases(index: Index) -> None:
    heap = index.leases
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
