"""GET /emulator/time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.server.access import READ
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import iso
from emulator.server.wire.schemas import COUNT, MOMENT, TEXT, Shape, object_of

if TYPE_CHECKING:
    from emulator.server.service import Service

TIME = Shape("Time", object_of(now=MOMENT, now_ms=COUNT, mode=TEXT, batches_out=COUNT))


def time_json(service: Service) -> dict[str, Any]:
    """The present moment, how time runs, and how many batches are out."""
    return {
        "now": iso(service.now_us), "now_ms": service.now_us // 1_000, "mode": service.time.mode,
        "batches_out": service.time.batches_out,
    }  # fmt: skip


def get_time(call: Call) -> dict[str, Any]:
    """The present moment."""
    return time_json(call.service)


OPERATION = Operation("GET", "/emulator/time", get_time, TIME, scope=READ)
