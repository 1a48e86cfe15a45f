"""POST /queues/{queue_id}/messages/pull: https://developers.cloudflare.com/queues/configuration/pull-consumers/."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Raw, Struct

from emulator.engine.bodies import CONTENT_TYPES, json_text, on_the_wire
from emulator.server.operations.peek import checked_size
from emulator.server.wire.fields import BatchSize, Body, Visibility
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import metrics_json
from emulator.server.wire.schemas import COUNT, MESSAGE, METADATA, TEXT, Shape, list_of, object_of

if TYPE_CHECKING:
    from collections.abc import Callable

_METADATA = {kind: Raw(b'{"CF-Content-Type":"%b"}' % kind.encode()) for kind in CONTENT_TYPES}
_ON_THE_WIRE: dict[str, Callable[[bytes], bytes | str]] = {
    kind: partial(on_the_wire, content_type=kind) for kind in CONTENT_TYPES
}
_ON_THE_WIRE |= {"json": json_text.plain, "bytes": bytes}  # which the answer's encoder writes in base64 itself
_PULLED = Shape(
    "Pulled",
    object_of(message_backlog_count=COUNT, metadata=METADATA, messages=list_of(object_of(**MESSAGE, lease_id=TEXT))),
)


class Pull(Body):
    """How many messages to lease, and for how long."""

    batch_size: BatchSize | None = None
    visibility_timeout_ms: Visibility | None = None


class _Pulled(Struct):
    """A message as a puller sees it. Bytes are written in base64."""

    id: str
    body: bytes | str
    attempts: int
    timestamp_ms: int
    metadata: Raw
    lease_id: str


def pull(call: Call) -> dict[str, Any]:
    """Lease what is ready. Refuses with 409 where delivery is paused."""
    core, body, account = call.core(), call.body, call.service.account
    messages = [
        _Pulled(
            m.id, _ON_THE_WIRE[m.content_type](m.body), m.attempts, m.timestamp_us // 1_000, _METADATA[m.content_type], lease
        )
        for m, lease in account.lease(core, checked_size(body.batch_size), body.visibility_timeout_ms)
    ]
    metrics = metrics_json(account.queue(core))
    return {"message_backlog_count": metrics["backlog_count"], "metadata": {"metrics": metrics}, "messages": messages}


OPERATION = Operation(
    "POST", "/queues/{queue_id}/messages/pull", pull, _PULLED, Pull, data=True,
    refusals={"405": "The queue has no http_pull consumer"},
)  # fmt: skip
