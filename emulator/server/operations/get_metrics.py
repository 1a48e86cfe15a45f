"""GET /queues/{queue_id}/metrics."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

from emulator.core.refusals import Refused
from emulator.engine.bodies import json_text
from emulator.server.access import READ
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import metrics_json
from emulator.server.wire.schemas import METRICS_SCHEMA, Shape

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

_SECONDS_MAX = 10**7
EVENT_STREAM = "text/event-stream"
_KINDS = (EVENT_STREAM, "application/json", "application/*", "*/*")


def get_metrics(call: Call) -> dict[str, int] | Response:
    """The backlog now; once a second where an event stream is preferred."""
    found = _backlog(call)
    return StreamingResponse(_told(call), media_type=EVENT_STREAM) if prefers_events(call.accept) else found


def prefers_events(accept: str) -> bool:
    """Whether a header `Accept` prefers an event stream to JSON, by the weights of RFC 9110, 12.5.1."""
    weights = dict.fromkeys(_KINDS, 0.0)
    for part in accept.split(","):
        kind, *parameters = (each.strip().lower() for each in part.split(";"))
        found = next((each[2:] for each in parameters if each.startswith("q=")), "1")
        with suppress(ValueError):
            weights[kind] = float(found)
    events, plain, *wild = [weights[kind] for kind in _KINDS]
    return events > plain and events >= max(wild)


def _backlog(call: Call) -> dict[str, int]:
    return metrics_json(call.service.account.queue(call.core()))


async def _told(call: Call) -> AsyncIterator[bytes]:
    """The backlog once a second, until the queue is gone, the client has left, or the server ends."""
    for _ in range(_SECONDS_MAX):
        if call.service.stopping:
            return
        try:
            yield b"data: %b\n\n" % json_text.encode(_backlog(call))
        except Refused:
            return
        await asyncio.sleep(1)


OPERATION = Operation(
    "GET", "/queues/{queue_id}/metrics", get_metrics, Shape("Metrics", METRICS_SCHEMA), scope=READ, data=True, waits=True
)
