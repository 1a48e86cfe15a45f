"""PUT /queues/{queue_id}."""

from __future__ import annotations

from typing import Any

from emulator.core.limits import retention_seconds
from emulator.server.operations.patch_queue import PatchQueue, change
from emulator.server.wire.fields import QueueSettings
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.schemas import QUEUE


class PutQueue(PatchQueue):
    """A queue, overwritten: what is left out takes its default."""


def put_queue(call: Call) -> dict[str, Any]:
    """Overwrite: what is left out takes its default. A queue keeps its name where none is given."""
    given = call.body.settings or QueueSettings()
    retention = given.message_retention_period
    retention = retention_seconds(call.service.state.plan) if retention is None else retention
    return change(call, QueueSettings(given.delivery_delay or 0, bool(given.delivery_paused), retention))


OPERATION = Operation("PUT", "/queues/{queue_id}", put_queue, QUEUE, PutQueue)
