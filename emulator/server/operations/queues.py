"""Queues over REST: list, create, get, overwrite, change, delete, metrics, purge.

https://developers.cloudflare.com/api/resources/queues/. DELETE and purge answer as the clients need it.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from starlette.responses import Response, StreamingResponse

from cfq_lint.facts import limits
from emulator.core import commands, refusals
from emulator.core.limits import QUEUE_NAME, retention_seconds
from emulator.engine.journal import JournalUnwritable
from emulator.server.access import READ
from emulator.server.operations.consumers import consumer_json
from emulator.server.operations.operation import Call, Operation, Page, page_of
from emulator.server.service import Service, iso
from emulator.server.wire import bodies

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from emulator.engine.metrics import Metrics
    from emulator.server.directory import Row

_PER_PAGE = 100
_SECONDS_MAX = 10**7
EVENT_STREAM = "text/event-stream"


def queue_json(service: Service, row: Row) -> dict[str, Any]:
    """A queue as the API shows it."""
    state = service.state.queues[row["core"]]
    config = state.config
    consumers = [] if state.consumer is None else [consumer_json(service, row)]
    shown: dict[str, Any] = {
        "queue_id": row["id"],
        "queue_name": row["public"],
        "created_on": iso(row["created_us"]),
        "modified_on": iso(row["modified_us"]),
        "settings": {
            "delivery_delay": config.delivery_delay,
            "delivery_paused": config.delivery_paused,
            "message_retention_period": config.message_retention_period,
        },
        "producers": row["producers"],
        "producers_total_count": len(row["producers"]),
        "consumers": consumers,
        "consumers_total_count": len(consumers),
    }
    if config.jurisdiction is not None:
        shown["jurisdiction"] = config.jurisdiction
    return shown


def metrics_json(metrics: Metrics) -> dict[str, int]:
    """A backlog as the API shows it."""
    return {
        "backlog_bytes": metrics.backlog_bytes,
        "backlog_count": metrics.backlog_count,
        "oldest_message_timestamp_ms": metrics.oldest_message_timestamp_ms,
    }


def list_queues(call: Call) -> Page:
    """Every queue, or those of the given names; in order of name."""
    directory, names = call.service.directory, call.query.get("name")
    public = sorted(directory.by_public) if names is None else [n for n in dict.fromkeys(names) if n in directory.by_public]
    page = page_of(call, public, _PER_PAGE)
    return page._replace(result=[queue_json(call.service, directory.by_public[name]) for name in page.result])


def create_queue(call: Call) -> dict[str, Any]:
    """A new queue. Refuses with 11003, 11009 or 100128."""
    service, body = call.service, call.body
    _check_name(service, body.queue_name)
    settings = body.settings or bodies.QueueSettings()
    row = service.directory.prepare(body.queue_name, service.now_us)
    try:
        service.execute(
            commands.CreateQueue(row["core"], settings.delivery_delay, settings.message_retention_period, body.jurisdiction)
        )
    except (refusals.Refused, JournalUnwritable):
        service.directory.forget(row["core"])
        raise
    if settings.delivery_paused:
        service.execute(commands.ChangeQueue(row["core"], delivery_paused=True))
    return queue_json(service, row)


def _check_name(service: Service, name: str) -> None:
    if not QUEUE_NAME.fullmatch(name):
        raise refusals.InvalidQueueName(f"Invalid queue name {name[:100]!r}: it must match {limits.QUEUE_NAME_PATTERN}")
    if name in service.directory.by_public:
        raise refusals.QueueNameTaken(f"Queue name '{name}' is already taken. Please use a different name and try again.")


def get_queue(call: Call) -> dict[str, Any]:
    """One queue."""
    return queue_json(call.service, call.row())


def put_queue(call: Call) -> dict[str, Any]:
    """Overwrite: what is left out takes its default. A queue keeps its name where none is given."""
    given = call.body.settings or bodies.QueueSettings()
    retention = given.message_retention_period
    settings = bodies.QueueSettings(
        delivery_delay=given.delivery_delay or 0,
        delivery_paused=bool(given.delivery_paused),
        message_retention_period=retention_seconds(call.service.state.plan) if retention is None else retention,
    )
    return _change(call, settings)


def patch_queue(call: Call) -> dict[str, Any]:
    """Change: what is left out stays."""
    return _change(call, call.body.settings or bodies.QueueSettings())


def _change(call: Call, settings: bodies.QueueSettings) -> dict[str, Any]:
    service, row, name = call.service, call.row(), call.body.queue_name
    renames = name is not None and name != row["public"]
    if renames:
        _check_name(service, name)
    change = commands.ChangeQueue(
        row["core"], settings.delivery_delay, settings.message_retention_period, settings.delivery_paused
    )
    service.execute(change)
    if renames:
        service.directory.rename(row, name)
    service.directory.save(row, modified_us=service.now_us)
    return queue_json(service, row)


def delete_queue(call: Call) -> None:
    """Delete a queue with its consumer and messages."""
    call.service.emulator.delete_queue(call.row()["core"])


def get_metrics(call: Call) -> dict[str, int] | Response:
    """The backlog now, or with `Accept: text/event-stream` once a second."""
    found = metrics_json(call.queue().metrics())
    return StreamingResponse(_told(call), media_type=EVENT_STREAM) if EVENT_STREAM in call.accept else found


async def _told(call: Call) -> AsyncIterator[str]:
    """The backlog once a second, until the queue is gone, the client has left, or the server ends."""
    for _ in range(_SECONDS_MAX):
        if call.service.stopping:
            return
        try:
            yield f"data: {json.dumps(metrics_json(call.queue().metrics()))}\n\n"
        except refusals.Refused:
            return
        await asyncio.sleep(1)


def purge_queue(call: Call) -> dict[str, Any]:
    """Delete everything that is stored, delayed or leased."""
    service, row = call.service, call.row()
    service.execute(commands.Purge(row["core"]))
    service.directory.save(row, purge=service.now_us)
    return queue_json(service, row)


def purge_status(call: Call) -> dict[str, Any]:
    """The last purge. `completed` is what the API says, `complete` what wrangler reads."""
    started_us = call.row()["purge"]
    if started_us is None:
        return {"completed": "", "complete": False, "started_at": ""}
    return {"completed": "true", "complete": True, "started_at": iso(started_us)}


QUEUES, QUEUE = "/queues", "/queues/{queue_id}"
OPERATIONS = (
    Operation("GET", QUEUES, "list_queues", list_queues, "QueueList", scope=READ, query=("page", "per_page", "name")),
    Operation("POST", QUEUES, "create_queue", create_queue, "Queue", bodies.CreateQueue),
    Operation("GET", QUEUE, "get_queue", get_queue, "Queue", scope=READ),
    Operation("PUT", QUEUE, "put_queue", put_queue, "Queue", bodies.PutQueue),
    Operation("PATCH", QUEUE, "patch_queue", patch_queue, "Queue", bodies.PatchQueue),
    Operation("DELETE", QUEUE, "delete_queue", delete_queue),
    Operation("GET", f"{QUEUE}/metrics", "get_metrics", get_metrics, "Metrics", scope=READ, data=True),
    Operation("POST", f"{QUEUE}/purge", "purge_queue", purge_queue, "Queue", bodies.PurgeAll),
    Operation("GET", f"{QUEUE}/purge", "purge_status", purge_status, "PurgeStatus", scope=READ),
)
