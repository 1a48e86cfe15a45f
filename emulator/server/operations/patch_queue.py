"""PATCH /queues/{queue_id}."""

from __future__ import annotations

from typing import Any

from emulator.core import commands
from emulator.server.operations.create_queue import check_name
from emulator.server.wire.fields import Body, Name, QueueSettings
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import queue_json
from emulator.server.wire.schemas import QUEUE


class PatchQueue(Body):
    """What to change of a queue."""

    queue_name: Name | None = None
    settings: QueueSettings | None = None


def patch_queue(call: Call) -> dict[str, Any]:
    """Change: what is left out stays."""
    return change(call, call.body.settings or QueueSettings())


def change(call: Call, settings: QueueSettings) -> dict[str, Any]:
    """Give a queue these settings, and the name that the body has."""
    service, row, name = call.service, call.row(), call.body.queue_name
    renames = name is not None and name != row["public"]
    if renames:
        check_name(service, name)
    service.execute(
        commands.ChangeQueue(row["core"], settings.delivery_delay, settings.message_retention_period, settings.delivery_paused)
    )
    if renames:
        service.directory.rename(row, name)
    service.directory.save(row, modified_us=service.now_us)
    return queue_json(service, row)


OPERATION = Operation("PATCH", "/queues/{queue_id}", patch_queue, QUEUE, PatchQueue)
