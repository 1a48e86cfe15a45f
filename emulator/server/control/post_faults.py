"""POST /emulator/faults."""

from __future__ import annotations

from typing import Any

from emulator.server.control.get_faults import SHOWN
from emulator.server.control.put_faults import FaultChances, use
from emulator.server.wire.operation import Call, Operation


def post_faults(call: Call) -> dict[str, Any]:
    """Change the chances of faults; what is left out stays."""
    return use(call, call.service.account.faults.as_dict())


OPERATION = Operation("POST", "/emulator/faults", post_faults, SHOWN, FaultChances)
