"""GET /health, which everybody may ask: whether the server can do its work."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.engine.bodies import json_text
from emulator.server.access import OPEN
from emulator.server.wire.answers import UNCACHED, Answer
from emulator.server.wire.operation import Operation

if TYPE_CHECKING:
    from emulator.server.wire.operation import Call


def health(call: Call) -> Answer:
    """ok, stopping, or failing because the journal is not this server's any more."""
    service, status, why = call.service, 200, "ok"
    try:
        in_step = service.account.journal.length() == service.account.sequence
    except Exception:  # noqa: BLE001 - whatever the journal has, this server cannot store
        in_step = False
    if not in_step:
        status, why = 503, "failing: the journal cannot be continued"
    elif service.stopping:
        status, why = 503, "stopping"
    said = {"status": why, "clock": service.time.mode, "now_ms": service.now_us // 1_000, "control": service.control}
    if service.role:
        said["role"] = service.role
    return Answer(json_text.encode(said), status, UNCACHED)


OPERATION = Operation("GET", "/health", health, scope=OPEN, always=True)
