"""POST /emulator/time/advance."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from emulator.core.refusals import JSONRequestBodyInvalid
from emulator.engine.clock import moment, span_us
from emulator.server.control.get_time import TIME, time_json
from emulator.server.wire.fields import Body
from emulator.server.wire.operation import Call, Operation

_SECONDS_MAX = 10.0**10


class Advance(Body):
    """How far to move the clock."""

    seconds: Annotated[float, Meta(ge=0, le=_SECONDS_MAX)]


async def advance(call: Call) -> dict[str, Any]:
    """Move the clock; everything due happens."""
    service = call.service
    target_us = service.now_us + span_us(call.body.seconds)[0]
    try:
        moment(target_us)
    except OverflowError:
        raise JSONRequestBodyInvalid("that is too far") from None
    await service.time.advance_to(target_us)
    return time_json(service)


OPERATION = Operation("POST", "/emulator/time/advance", advance, TIME, Advance, waits=True)
