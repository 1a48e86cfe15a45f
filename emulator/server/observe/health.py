"""`/health`, which everybody may ask: whether the server can do its work. `/metrics`: its numbers, for a reader's token."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

from emulator.core.refusals import Refused
from emulator.engine.journal import JournalUnwritable
from emulator.server.access import READ
from emulator.server.observe import metrics

if TYPE_CHECKING:
    from starlette.requests import Request

    from emulator.server.observe.watch import Watch
    from emulator.server.service import Service


_QUEUES_INLINE = 500
"""The numbers of more queues are written in a thread."""


def health(service: Service) -> tuple[int, dict[str, Any]]:
    """The status and what is said: ok, stopping, or failing because the journal is not this server's any more."""
    status, why = 200, "ok"
    try:
        in_step = service.broker.journal.length() == service.broker.sequence
    except Exception:  # noqa: BLE001 - whatever the journal has, this server cannot store
        in_step = False
    if not in_step:
        status, why = 503, "failing: the journal cannot be continued"
    elif service.stopping:
        status, why = 503, "stopping"
    return status, {"status": why, "clock": service.engine.mode, "now_ms": service.now_us // 1_000, "control": service.control}


def routes(service: Service, watch: Watch) -> list[Route]:
    """`/health` and `/metrics`."""

    async def healthy(_request: Request) -> Response:
        status, said = health(service)
        return Response(json.dumps(said), status, {"Cache-Control": "no-store"}, "application/json")

    async def numbers(request: Request) -> Response:
        try:
            service.access.check(request.headers.get("authorization"), READ)
        except Refused as refusal:
            return Response(f"{refusal.text}\n", refusal.status, media_type="text/plain")
        with suppress(JournalUnwritable):  # then they are those of the last moment that could be kept
            service.engine.catch_up()
        many = len(service.state.queues) > _QUEUES_INLINE
        public = service.directory.public
        text = await run_in_threadpool(metrics.exposition, watch, public) if many else metrics.exposition(watch, public)
        return Response(text, headers={"Content-Type": metrics.CONTENT_TYPE, "Cache-Control": "no-store"})

    return [Route("/health", healthy, methods=["GET"]), Route("/metrics", numbers, methods=["GET"])]
