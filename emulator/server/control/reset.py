"""POST /emulator/reset."""

from __future__ import annotations

from typing import Any

from emulator.server.control.get_time import TIME, time_json
from emulator.server.wire.operation import Call, Operation


def reset(call: Call) -> dict[str, Any]:
    """Delete every queue, subscription and fault; load Workers anew, with empty stores. Time stays."""
    call.service.reset()
    return time_json(call.service)


OPERATION = Operation("POST", "/emulator/reset", reset, TIME)
