"""The front of a line in which messages stand as they were sent: who is next, and taking them without looking at each.

With `QueueState.index`, which makes messages of them, this is all that knows how they are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from emulator.core.messages import Parcel
    from emulator.core.model import QueueState


def ready_count(queue: QueueState) -> int:
    """How many messages stand in line."""
    opened = queue.opened
    return queue.fresh_count if opened is None else queue.fresh_count + len(opened.ready) - opened.ready_gone


def fresh_ids(queue: QueueState, count: int, now_us: int) -> tuple[str, ...]:
    """The ids of the next messages in line, up to `count`, where all of them stand there as they were sent; else none."""
    opened = queue.opened
    if opened is not None and (opened.ready or (opened.delayed and opened.delayed[0] <= now_us)):
        return ()
    start = queue.fresh_start
    ids: tuple[str, ...] = ()
    for parcel in queue.fresh:
        ids += parcel.ids[start : start + count - len(ids)]
        if len(ids) == count:
            break
        start = 0
    return ids


def take_fresh(queue: QueueState, ids: tuple[str, ...], now_us: int) -> tuple[Parcel, ...]:
    """Take messages out of the line as they were sent, if those stand at its front."""
    if queue.opened is None and not queue.fresh_start and queue.fresh and queue.fresh[0].ids == ids:
        queue.fresh_count -= len(ids)
        return (queue.fresh.popleft(),)
    if fresh_ids(queue, len(ids), now_us) != ids:
        return ()
    taken, missing = [], len(ids)
    queue.fresh_count -= missing
    while missing:
        parcel, start = queue.fresh[0], queue.fresh_start
        left = len(parcel.ids) - start
        taken.append(parcel if missing >= left and not start else parcel.part(start, start + missing))
        if missing < left:
            queue.fresh_start += missing
            break
        queue.fresh.popleft()
        queue.fresh_start = 0
        missing -= left
    return tuple(taken)
