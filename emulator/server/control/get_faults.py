"""GET /emulator/faults."""

from __future__ import annotations

from typing import Any

from emulator.server.access import READ
from emulator.server.control.put_faults import FAULTS
from emulator.server.wire.operation import Call, Operation


def get_faults(call: Call) -> dict[str, Any]:
    """The chances of faults."""
    return dict(call.service.dice.faults._asdict())


OPERATION = Operation("GET", "/emulator/faults", get_faults, FAULTS, scope=READ)
