"""GET /queues/{queue_id}/purge."""

from __future__ import annotations

from typing import Any

from emulator.server.access import READ
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import iso
from emulator.server.wire.schemas import FLAG, TEXT, Shape, object_of

_STATUS = Shape("PurgeStatus", object_of(completed=TEXT, complete=FLAG, started_at=TEXT))


def purge_status(call: Call) -> dict[str, Any]:
    """The last purge. `completed` is what the API says, `complete` what wrangler reads."""
    started_us = call.row()["purge"]
    if started_us is None:
        return {"completed": "", "complete": False, "started_at": ""}
    return {"completed": "true", "complete": True, "started_at": iso(started_us)}


OPERATION = Operation("GET", "/queues/{queue_id}/purge", purge_status, _STATUS, scope=READ)
