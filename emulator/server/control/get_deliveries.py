"""GET /emulator/deliveries."""

from __future__ import annotations

from typing import Any

from emulator.server.access import READ
from emulator.server.control.get_fates import BODY, message_of, named_queue
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.schemas import MOMENT, TEXT, Shape, list_of, object_of

_OR_NULL = {"type": ["string", "null"]}
_DELIVERY = object_of(at=MOMENT, queue=TEXT, messages=list_of(object_of(**BODY)), outcome=_OR_NULL, error=_OR_NULL)
_DELIVERIES = Shape("Deliveries", object_of(deliveries=list_of(_DELIVERY)))


def get_deliveries(call: Call) -> dict[str, Any]:
    """Every batch that a push consumer received, in order, since the last reset. The outcome is null while it runs."""
    service, queue = call.service, named_queue(call)
    shown = [
        {
            "at": each.at.isoformat(), "queue": service.directory.public(each.queue), "outcome": each.outcome,
            "error": each.error,
            "messages": [{**message_of(service, id), "attempts": attempts} for id, _, attempts in each.messages],
        }
        for each in service.account.ledger.records.deliveries()[service.forgotten.deliveries :]
    ]  # fmt: skip
    return {"deliveries": [each for each in shown if queue in {None, each["queue"]}]}


OPERATION = Operation("GET", "/emulator/deliveries", get_deliveries, _DELIVERIES, query={"queue": TEXT}, scope=READ)
