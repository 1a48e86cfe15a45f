"""POST /queues/{queue_id}/messages/preview/ack: the older way to delete what was peeked."""

from __future__ import annotations

from typing import Any

from emulator.server.operations.purge_refs import delete
from emulator.server.wire.fields import Body, LeaseId
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.schemas import TEXTS, Shape, object_of

_ACKNOWLEDGED = Shape("PreviewAcknowledged", object_of(warnings=TEXTS))


class PreviewAck(Body):
    """Messages that were previewed, to be deleted; `retries` change nothing."""

    acks: list[LeaseId] | None = None
    retries: list[LeaseId] | None = None


def preview_ack(call: Call) -> dict[str, Any]:
    """The older way to delete them: `acks` go; `retries` change nothing, because nothing was leased."""
    return {"warnings": delete(call, [each.lease_id for each in call.body.acks or ()])}


OPERATION = Operation("POST", "/queues/{queue_id}/messages/preview/ack", preview_ack, _ACKNOWLEDGED, PreviewAck, data=True)
