"""GET /queues/{queue_id}/consumers."""

from __future__ import annotations

from typing import Any

from emulator.server.access import READ
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import consumer_json
from emulator.server.wire.schemas import CONSUMER


def list_consumers(call: Call) -> list[dict[str, Any]]:
    """The queue's consumer, if it has one."""
    row = call.row()
    return [] if call.service.state.queues[row["core"]].consumer is None else [consumer_json(call.service, row)]


OPERATION = Operation("GET", "/queues/{queue_id}/consumers", list_consumers, CONSUMER._replace(many=True), scope=READ)
