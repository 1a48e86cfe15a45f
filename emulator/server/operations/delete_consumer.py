"""DELETE /queues/{queue_id}/consumers/{consumer_id}."""

from __future__ import annotations

from emulator.core import commands
from emulator.server.operations.get_consumer import with_consumer
from emulator.server.wire.operation import Call, Operation


def delete_consumer(call: Call) -> None:
    """Take the consumer away; the queue goes on storing."""
    row = with_consumer(call)
    call.service.execute(commands.RemoveConsumer(row["core"]))
    call.service.directory.save(row, consumer=None)


OPERATION = Operation("DELETE", "/queues/{queue_id}/consumers/{consumer_id}", delete_consumer)
