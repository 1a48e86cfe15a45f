"""POST /queues/{queue_id}/messages/batch: up to 100 messages."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from cfq_lint.facts import limits
from emulator.core import refusals
from emulator.engine.bodies import encode_all, json_text
from emulator.server.operations.push import Push, content_type_of
from emulator.server.wire.fields import Body, Delay
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import metrics_json
from emulator.server.wire.schemas import PUSHED


class PushBatch(Body):
    """Messages, all stored or none."""

    messages: Annotated[list[Push], Meta(extra_json_schema={"minItems": 1, "maxItems": limits.SEND_BATCH_COUNT_MAX})]
    delay_seconds: Delay | None = None


def push_batch(call: Call) -> dict[str, Any]:
    """Store messages, all or none."""
    core, items, account = call.core(), call.body.messages, call.service.account
    if not 0 < len(items) <= limits.SEND_BATCH_COUNT_MAX:
        raise refusals.BatchCountOutOfBounds(
            f"batch message count of {len(items)} is not within 1..{limits.SEND_BATCH_COUNT_MAX}"
        )
    kinds = tuple(["json" if item.content_type is None else content_type_of(item) for item in items])
    values = [item.body for item in items]
    stored = json_text.encode_parsed(values) if kinds.count("json") == len(kinds) else encode_all(values, kinds)
    delays = tuple([item.delay_seconds for item in items])
    account.send(core, tuple(stored), kinds, delays, call.body.delay_seconds, many=True)
    return {"metadata": {"metrics": metrics_json(account.queue(core))}}


OPERATION = Operation(
    "POST",
    "/queues/{queue_id}/messages/batch",
    push_batch,
    PUSHED,
    PushBatch,
    data=True,
    too_large=refusals.BatchSizeOutOfBounds,
)
