"""GET /emulator/trace."""

from __future__ import annotations

from typing import Any

from emulator.engine.ledger.trace import Trace
from emulator.server.access import READ
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.schemas import COUNT, ID, MOMENT, TEXT, Shape, list_of, object_of

_LINE = object_of(at=MOMENT, queue=TEXT, id=ID, attempt=COUNT, what=TEXT)
_TRACE = Shape("Trace", object_of(lines=list_of(_LINE), text=TEXT))


def get_trace(call: Call) -> dict[str, Any]:
    """What happened to a message (`message`: its id, or the start of it), or to all since the last reset; `text` for people."""
    service, given = call.service, call.query.get("message")
    trace = Trace(service.account.ledger, given[-1] if given else None, service.forgotten.lines)
    return {"lines": trace.as_dict()["lines"], "text": str(trace)}


OPERATION = Operation("GET", "/emulator/trace", get_trace, _TRACE, query={"message": TEXT}, scope=READ)
