"""The control API, only with `--control`: time, faults, events, reset. No part of Cloudflare's API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.core.events import to_json
from emulator.core.refusals import JSONRequestBodyInvalid
from emulator.engine.clock import moment, span_us
from emulator.engine.faults import Faults
from emulator.server.access import READ
from emulator.server.operations.operation import Call, Operation, number_of
from emulator.server.service import iso
from emulator.server.wire import bodies

if TYPE_CHECKING:
    from emulator.server.service import Service

_EVENTS_MAX = 1_000


def time_json(service: Service) -> dict[str, Any]:
    """The present moment, how time runs, and how many batches are out."""
    return {
        "now": iso(service.now_us), "now_ms": service.now_us // 1_000, "mode": service.engine.mode,
        "batches_out": service.engine.batches_out,
    }  # fmt: skip


def get_time(call: Call) -> dict[str, Any]:
    """The present moment."""
    return time_json(call.service)


async def advance(call: Call) -> dict[str, Any]:
    """Move the clock; everything due happens."""
    service = call.service
    target_us = service.now_us + span_us(call.body.seconds)[0]
    try:
        moment(target_us)
    except OverflowError:
        raise JSONRequestBodyInvalid("that is too far") from None
    await service.engine.advance_to(target_us)
    return time_json(service)


async def run_until_idle(call: Call) -> dict[str, Any]:
    """Move the clock until nothing is left to deliver."""
    await call.service.engine.run_until_idle()
    return time_json(call.service)


def reset(call: Call) -> dict[str, Any]:
    """Delete every queue, subscription and fault. Time stays."""
    service = call.service
    for name in service.emulator.queues:
        service.emulator.delete_queue(name)
    service.broker.use_faults(Faults())
    return time_json(service)


def events(call: Call) -> dict[str, Any]:
    """Events behind number `after`, at most `limit` of them; `last` is the number to go on from."""
    after = number_of(call, "after", 0, 0, 10**9 - 1)
    limit = number_of(call, "limit", _EVENTS_MAX, 1, _EVENTS_MAX)
    found: list[Any] = []
    for event in call.service.broker.journal.read(after):
        if len(found) == limit:
            break
        found.append(to_json(event))
    return {"events": found, "last": after + len(found), "total": call.service.broker.sequence}


def get_faults(call: Call) -> dict[str, Any]:
    """The chances of faults."""
    return call.service.broker.faults.as_dict()


def put_faults(call: Call) -> dict[str, Any]:
    """Set the chances of faults."""
    try:
        call.service.broker.use_faults(Faults(**call.body.model_dump()))
    except (TypeError, ValueError) as error:
        raise JSONRequestBodyInvalid(str(error)) from None
    return get_faults(call)


OPERATIONS = (
    Operation("GET", "/emulator/time", "get_time", get_time, "Time", scope=READ, bare=True),
    Operation("POST", "/emulator/time/advance", "advance", advance, "Time", bodies.Advance, bare=True),
    Operation("POST", "/emulator/time/run-until-idle", "run_until_idle", run_until_idle, "Time", bare=True),
    Operation("POST", "/emulator/reset", "reset", reset, "Time", bare=True),
    Operation("GET", "/emulator/events", "events", events, "Events", scope=READ, query=("after", "limit"), bare=True),
    Operation("GET", "/emulator/faults", "get_faults", get_faults, "Faults", scope=READ, bare=True),
    Operation("PUT", "/emulator/faults", "put_faults", put_faults, "Faults", bodies.FaultChances, bare=True),
)
