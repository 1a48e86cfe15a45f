"""POST /queues/{queue_id}/purge."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from emulator.core import commands
from emulator.core.refusals import JSONRequestBodyInvalid
from emulator.server.wire.fields import Body
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import queue_json
from emulator.server.wire.schemas import QUEUE


class PurgeAll(Body):
    """Everything is to be deleted: it must be said."""

    delete_messages_permanently: Annotated[bool, Meta(extra_json_schema={"const": True})]


def purge_queue(call: Call) -> dict[str, Any]:
    """Delete everything that is stored, delayed or leased."""
    if not call.body.delete_messages_permanently:
        raise JSONRequestBodyInvalid("delete_messages_permanently must be true")
    service, row = call.service, call.row()
    service.execute(commands.Purge(row["core"]))
    service.directory.save(row, purge=service.now_us)
    return queue_json(service, row)


OPERATION = Operation("POST", "/queues/{queue_id}/purge", purge_queue, QUEUE, PurgeAll)
