"""POST /queues/{queue_id}/messages/peek."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cfq_lint.facts import limits
from emulator.core.refusals import BatchCountOutOfBounds
from emulator.server.wire.fields import BatchSize, Body
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import message_json
from emulator.server.wire.schemas import MESSAGE, TEXT, Shape, list_of, object_of

if TYPE_CHECKING:
    from emulator.core.messages import Message

_PEEKED = Shape("Peeked", object_of(messages=list_of(object_of(**MESSAGE, ref=TEXT))))


class Peek(Body):
    """How many messages to look at."""

    batch_size: BatchSize | None = None


def peek(call: Call) -> dict[str, Any]:
    """Look at what is ready: no lease, no attempt."""
    return {"messages": [message_json(m) | {"ref": m.id} for m in peeked(call)]}


def peeked(call: Call) -> list[Message]:
    """As many messages as the body asks for."""
    return call.service.account.peek(call.core(), checked_size(call.body.batch_size))


def checked_size(size: int | None) -> int:
    """How many messages are asked for, 5 unless it is said. Refuses with 10206."""
    size = limits.PULL_BATCH_SIZE_DEFAULT if size is None else size
    if not 0 < size <= limits.BATCH_SIZE_MAX:
        raise BatchCountOutOfBounds(f"batch_size {size} is not within 1..{limits.BATCH_SIZE_MAX}")
    return size


OPERATION = Operation("POST", "/queues/{queue_id}/messages/peek", peek, _PEEKED, Peek, data=True)
