"""POST /emulator/time/run-until-idle."""

from __future__ import annotations

from typing import Any

from emulator.server.control.get_time import TIME, time_json
from emulator.server.wire.operation import Call, Operation


async def run_until_idle(call: Call) -> dict[str, Any]:
    """Move the clock until nothing is left to deliver."""
    await call.service.time.run_until_idle()
    return time_json(call.service)


OPERATION = Operation("POST", "/emulator/time/run-until-idle", run_until_idle, TIME, waits=True)
