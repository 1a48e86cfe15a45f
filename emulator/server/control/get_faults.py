"""GET /emulator/faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.engine.faults import FAULTS
from emulator.server.access import READ
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.schemas import COUNT, Shape, list_of, object_of

if TYPE_CHECKING:
    from emulator.server.service import Service

_CHANCES = {
    name: {"type": "number", "minimum": row.bounds[0], "maximum": row.bounds[1], "description": row.doc}
    for name, row in FAULTS.items()
}
SHOWN = Shape(
    "Faults",
    object_of(**_CHANCES, slow_seconds=list_of(COUNT), acted=object_of(**dict.fromkeys(FAULTS, COUNT))),
)


def faults_json(service: Service) -> dict[str, Any]:
    """The chance of each fault of the table, and by name how often it `acted`."""
    account = service.account
    return account.faults.as_dict() | {"acted": {name: account.chance.drawn.get(name, 0) for name in FAULTS}}


def get_faults(call: Call) -> dict[str, Any]:
    """The chances of faults, and how often each acted."""
    return faults_json(call.service)


OPERATION = Operation("GET", "/emulator/faults", get_faults, SHOWN, scope=READ)
