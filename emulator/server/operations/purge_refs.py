"""POST /queues/{queue_id}/messages/purge: delete what was peeked."""

from __future__ import annotations

from typing import Any

from emulator.core.commands import Purge
from emulator.server.wire.fields import Body, Short
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.schemas import TEXTS, Shape, list_of, object_of

GONE_TEXT = "the message is no longer in the queue"
_PURGED = Shape("PurgedRefs", object_of(errors=list_of({"type": "object"}), warnings=TEXTS))


class Ref(Body):
    """A message that was looked at."""

    ref: Short


class PurgeRefs(Body):
    """Messages to delete."""

    refs: list[Ref]


def purge_refs(call: Call) -> dict[str, Any]:
    """Delete messages that were looked at."""
    return {"errors": [], "warnings": delete(call, [each.ref for each in call.body.refs])}


def delete(call: Call, refs: list[str]) -> dict[str, str]:
    """Delete messages by their ids; a warning for each that is not there."""
    account, core = call.service.account, call.core()
    held = account.queue(core).messages
    warnings = {ref: GONE_TEXT for ref in refs if ref not in held}
    account.execute(Purge(core, tuple([ref for ref in refs if ref in held])))
    return warnings


OPERATION = Operation("POST", "/queues/{queue_id}/messages/purge", purge_refs, _PURGED, PurgeRefs, data=True)
