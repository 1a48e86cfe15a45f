"""GET /queues/{queue_id}."""

from __future__ import annotations

from typing import Any

from emulator.server.access import READ
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import queue_json
from emulator.server.wire.schemas import QUEUE


def get_queue(call: Call) -> dict[str, Any]:
    """One queue."""
    return queue_json(call.service, call.row())


OPERATION = Operation("GET", "/queues/{queue_id}", get_queue, QUEUE, scope=READ)
