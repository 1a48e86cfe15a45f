"""GET /queues/{queue_id}/consumers/{consumer_id}."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.server.access import READ
from emulator.server.wire.operation import Call, Operation, checked_id, missing
from emulator.server.wire.resources import consumer_json
from emulator.server.wire.schemas import CONSUMER

if TYPE_CHECKING:
    from emulator.server.directory import Row


def get_consumer(call: Call) -> dict[str, Any]:
    """The queue's consumer."""
    return consumer_json(call.service, with_consumer(call))


def with_consumer(call: Call) -> Row:
    """The queue, if its consumer is the one that the path names."""
    row, id = call.row(), checked_id(call.params["consumer_id"])
    if call.service.state.queues[row["core"]].consumer is None or consumer_json(call.service, row)["consumer_id"] != id:
        raise missing("Consumer")
    return row


OPERATION = Operation("GET", "/queues/{queue_id}/consumers/{consumer_id}", get_consumer, CONSUMER, scope=READ)
