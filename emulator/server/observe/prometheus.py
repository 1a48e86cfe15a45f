"""GET /metrics, for a reader's token: the server's numbers for Prometheus."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool

from emulator.server.access import READ
from emulator.server.observe import metrics
from emulator.server.wire.answers import UNCACHED, Answer
from emulator.server.wire.operation import Operation

if TYPE_CHECKING:
    from emulator.server.wire.operation import Call

_QUEUES_INLINE = 500
"""The numbers of more queues are written in a thread."""


async def prometheus(call: Call) -> Answer:
    """Everything in Prometheus' text format."""
    watch, public = call.service.watch, call.service.directory.public
    many = len(call.service.state.queues) > _QUEUES_INLINE
    text = await run_in_threadpool(metrics.exposition, watch, public) if many else metrics.exposition(watch, public)
    return Answer(text, headers=UNCACHED, media_type=metrics.CONTENT_TYPE)


OPERATION = Operation("GET", "/metrics", prometheus, scope=READ, waits=True, always=True)
