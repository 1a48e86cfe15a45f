"""Messages are stored, and counted in the second that they came in."""

from __future__ import annotations

from itertools import count, repeat
from typing import TYPE_CHECKING

from emulator.core.events import Sent
from emulator.core.index import enqueue, promote, remove, touch
from emulator.core.limits import SECOND_US
from emulator.core.messages import Message, Parcel

if TYPE_CHECKING:
    from emulator.core.events import Redriven
    from emulator.core.model import QueueState, State


def sent(state: State, event: Sent) -> None:
    """New messages, in line or delayed. They stand in line as they came, unless one of them has to wait."""
    queue, at_us = state.queues[event.queue], event.at_us
    if queue.opened is not None:
        promote(queue, at_us)
    sent_count = len(event.ids)
    if max(event.ready_us) <= at_us:
        queue.fresh.append(Parcel(at_us, state.entries + 1, event.ids, event.bodies, event.content_types))
        queue.fresh_count += sent_count
        queue.packed = True
    else:
        index, now, entries = queue.index, repeat(at_us), count(state.entries + 1)
        entered = list(map(Message, event.ids, event.bodies, event.content_types, now, now, event.ready_us, entries))
        index.messages.update(zip(event.ids, entered, strict=True))
        index.track.line.extend(entered)
        index.ages.extend(entered)
        for message in entered:
            enqueue(index, message, at_us)
    state.entries += sent_count
    queue.count += sent_count
    queue.backlog_bytes += sum(map(len, event.bodies))
    _count_lately(queue, at_us, sent_count)
    state.dirty.add(event.queue)


def redriven(state: State, event: Redriven) -> None:
    """Messages are sent to another queue, and gone from theirs: ids, bodies and content types stay, all else starts anew."""
    queue, ids = state.queues[event.queue], event.ids
    moved = [queue.messages[id] for id in ids]
    bodies, kinds = tuple([message.body for message in moved]), tuple([message.content_type for message in moved])
    remove(queue, ids)
    sent(state, Sent(event.at_us, event.target, ids, bodies, kinds, (event.ready_us,) * len(ids)))
    touch(state, queue)


def _count_lately(queue: QueueState, at_us: int, sent: int) -> None:
    """The window has what came within a second of the last message; `lately` is its sum."""
    window = queue.window
    while window and window[0][0] <= at_us - SECOND_US:
        queue.lately -= window.popleft()[1]
    if window and window[-1][0] == at_us:
        window[-1] = (at_us, window[-1][1] + sent)
    else:
        window.append((at_us, sent))
    queue.lately += sent
