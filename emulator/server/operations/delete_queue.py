"""DELETE /queues/{queue_id}."""

from __future__ import annotations

from emulator.server.wire.operation import Call, Operation


def delete_queue(call: Call) -> None:
    """Delete a queue with its consumer and messages."""
    call.service.emulator.delete_queue(call.row()["core"])


OPERATION = Operation("DELETE", "/queues/{queue_id}", delete_queue)
