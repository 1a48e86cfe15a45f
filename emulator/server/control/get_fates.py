"""GET /emulator/fates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.engine.bodies import on_the_wire
from emulator.server.access import READ
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.schemas import COUNT, ID, MOMENT, TEXT, Shape, list_of, object_of

if TYPE_CHECKING:
    from emulator.server.service import Service

BODY = {"id": ID, "body": TEXT, "content_type": TEXT, "attempts": COUNT}
"""A message as the control operations show it: its body as it is pulled."""
_FATE = object_of(**BODY, queue=TEXT, state=TEXT, at=MOMENT)
_FATES = Shape("Fates", object_of(fates=list_of(_FATE)))


def get_fates(call: Call) -> dict[str, Any]:
    """What became of each message in each queue that it entered, in order of entry, since the last reset."""
    service, queue = call.service, named_queue(call)
    fates = service.account.ledger.records.fates()[service.forgotten.fates :]
    shown = [
        {**message_of(service, each.id), "attempts": each.attempts, "queue": service.directory.public(each.queue),
         "state": each.state, "at": each.at.isoformat()}
        for each in fates
    ]  # fmt: skip
    return {"fates": [each for each in shown if queue in {None, each["queue"]}]}


def named_queue(call: Call) -> str | None:
    """The queue that the query names; None where it names none."""
    given = call.query.get("queue")
    return given[-1] if given else None


def message_of(service: Service, id: str) -> dict[str, Any]:
    """A message's id and body."""
    history = service.account.ledger.records.histories[id]
    return {"id": id, "body": on_the_wire(history.body, history.content_type), "content_type": history.content_type}


OPERATION = Operation("GET", "/emulator/fates", get_fates, _FATES, query={"queue": TEXT}, scope=READ)
