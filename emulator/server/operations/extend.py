"""POST /queues/{queue_id}/messages/extend.

Cloudflare does not document what it answers; here it is the new lease of each message that still had one.
"""

from __future__ import annotations

from typing import Any

from emulator.server.wire.fields import Body, LeaseId, Visibility
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.schemas import COUNT, TEXT, TEXTS, Shape, list_of, object_of

_EXTENDED = Shape(
    "Extended",
    object_of(messages=list_of(object_of(lease_id=TEXT, previous_lease_id=TEXT)), extendCount=COUNT, warnings=TEXTS),
)


class Extend(Body):
    """Leases to prolong."""

    extend: list[LeaseId]
    visibility_timeout_ms: Visibility | None = None


def extend(call: Call) -> dict[str, Any]:
    """Prolong leases; each gets a new id, and attempts stay."""
    leases = tuple([each.lease_id for each in call.body.extend])
    new = call.service.account.extend(call.core(), leases, call.body.visibility_timeout_ms)
    warnings = {lease: "the lease has lapsed, or is none" for lease in leases if lease not in new}
    return {
        "messages": [{"lease_id": lease, "previous_lease_id": old} for old, lease in new.items()],
        "extendCount": len(new),
        "warnings": warnings,
    }


OPERATION = Operation("POST", "/queues/{queue_id}/messages/extend", extend, _EXTENDED, Extend, data=True)
