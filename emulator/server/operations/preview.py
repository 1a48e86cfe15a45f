"""POST /queues/{queue_id}/messages/preview: the older peek."""

from __future__ import annotations

from typing import Any

from emulator.server.operations.peek import Peek, peeked
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import message_json
from emulator.server.wire.schemas import MESSAGE, TEXT, Shape, list_of, object_of

_PREVIEWED = Shape("Previewed", object_of(messages=list_of(object_of(**MESSAGE, lease_id=TEXT))))


def preview(call: Call) -> dict[str, Any]:
    """The older peek: what names a message stands where a lease would."""
    return {"messages": [message_json(m) | {"lease_id": m.id} for m in peeked(call)]}


OPERATION = Operation("POST", "/queues/{queue_id}/messages/preview", preview, _PREVIEWED, Peek, data=True)
