"""PUT /queues/{queue_id}/consumers/{consumer_id}: overwrites, and what is left out takes its default."""

from __future__ import annotations

from typing import Any

from emulator.core.refusals import ConsumerExists
from emulator.server.operations.create_consumer import SetConsumer, set_consumer
from emulator.server.wire.operation import Call, Operation, checked_id
from emulator.server.wire.resources import consumer_json
from emulator.server.wire.schemas import CONSUMER


def put_consumer(call: Call) -> dict[str, Any]:
    """Overwrite a consumer, or make it if the queue has none. Refuses with 11004 where it has another one."""
    row, id = call.row(), checked_id(call.params["consumer_id"])
    if call.service.state.queues[row["core"]].consumer is None:
        return set_consumer(call, row, replace=False, id=id)
    if consumer_json(call.service, row)["consumer_id"] != id:
        raise ConsumerExists(f"Queue '{row['public']}' has another consumer already: {ConsumerExists.cause}")
    return set_consumer(call, row, replace=True, id=id)


OPERATION = Operation("PUT", "/queues/{queue_id}/consumers/{consumer_id}", put_consumer, CONSUMER, SetConsumer)
