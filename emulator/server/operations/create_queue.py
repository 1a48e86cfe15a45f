"""POST /queues. wrangler sends settings, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cfq_lint.facts import limits
from emulator.core import commands, refusals
from emulator.core.limits import QUEUE_NAME
from emulator.engine.journal import JournalUnwritable
from emulator.server.wire.fields import Body, Jurisdiction, Name, QueueSettings
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import queue_json
from emulator.server.wire.schemas import QUEUE

if TYPE_CHECKING:
    from emulator.server.service import Service


class CreateQueue(Body):
    """A new queue."""

    queue_name: Name
    jurisdiction: Jurisdiction | None = None
    settings: QueueSettings | None = None


def create_queue(call: Call) -> dict[str, Any]:
    """A new queue. Refuses with 11003, 11009 or 100128."""
    service, body = call.service, call.body
    check_name(service, body.queue_name)
    settings = body.settings or QueueSettings()
    row = service.directory.prepare(body.queue_name, service.now_us)
    try:
        service.execute(
            commands.CreateQueue(row["core"], settings.delivery_delay, settings.message_retention_period, body.jurisdiction)
        )
    except (refusals.Refused, JournalUnwritable):
        service.directory.forget(row["core"])
        raise
    if settings.delivery_paused:
        service.execute(commands.ChangeQueue(row["core"], delivery_paused=True))
    return queue_json(service, row)


def check_name(service: Service, name: str) -> None:
    """Refuse a name that is none (11003), or that a queue has (11009)."""
    if not QUEUE_NAME.fullmatch(name):
        raise refusals.InvalidQueueName(f"Invalid queue name {name[:100]!r}: it must match {limits.QUEUE_NAME_PATTERN}")
    if name in service.directory.by_public:
        raise refusals.QueueNameTaken(f"Queue name '{name}' is already taken. Please use a different name and try again.")


OPERATION = Operation("POST", "/queues", create_queue, QUEUE, CreateQueue, made=("queue_id", "queue_id"))
