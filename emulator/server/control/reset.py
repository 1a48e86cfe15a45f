"""POST /emulator/reset."""

from __future__ import annotations

from typing import Any

from emulator.engine.faults import CALM
from emulator.server.control.get_time import TIME, time_json
from emulator.server.wire.operation import Call, Operation


def reset(call: Call) -> dict[str, Any]:
    """Delete every queue, subscription and fault. Time stays."""
    service = call.service
    for name in service.emulator.queues:
        service.emulator.delete_queue(name)
    service.account.use_faults(CALM)
    return time_json(service)


OPERATION = Operation("POST", "/emulator/reset", reset, TIME)
