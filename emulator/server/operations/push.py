"""POST /queues/{queue_id}/messages: a message."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from emulator.core import refusals
from emulator.engine.bodies import encode, typeof
from emulator.server.wire.fields import Body, Delay
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import metrics_json
from emulator.server.wire.schemas import PUSHED

CONTENT_TYPES = ("json", "text")


class Push(Body):
    """A message; as text only a text can be sent."""

    schema: ClassVar[dict[str, Any]] = {
        "anyOf": [{"properties": {"content_type": {"enum": ["json", None]}}}, {"properties": {"body": {"type": "string"}}}]
    }

    body: Any
    content_type: Annotated[str, Meta(extra_json_schema={"enum": ["text", "json"]})] | None = None
    delay_seconds: Delay | None = None


def push(call: Call) -> dict[str, Any]:
    """Store a message."""
    core, item, account = call.core(), call.body, call.service.account
    kind = content_type_of(item)
    account.send(core, (encode(item.body, kind),), (kind,), (item.delay_seconds,), many=False)
    return {"metadata": {"metrics": metrics_json(account.queue(core))}}


def content_type_of(item: Push) -> str:
    """The content type of a message: json unless it says text. Refuses with 10203, and 10207 for a text that is none."""
    kind = item.content_type
    if kind is None:
        return "json"
    if kind not in CONTENT_TYPES:
        raise refusals.MessageMetadataInvalid(f"content_type {kind[:100]!r} is none of {', '.join(CONTENT_TYPES)}")
    if kind == "text" and not isinstance(item.body, str):
        raise refusals.JSONRequestBodyInvalid(f"content_type text needs a text, not {typeof(item.body)}")
    return kind


OPERATION = Operation(
    "POST", "/queues/{queue_id}/messages", push, PUSHED, Push, data=True, too_large=refusals.MessageSizeOutOfBounds
)
