"""POST /queues/{queue_id}/messages/ack: acknowledge and retry what was pulled."""

from __future__ import annotations

from typing import Any

from emulator.server.wire.fields import Body, Delay, LeaseId
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.schemas import COUNT, TEXTS, Shape, object_of

_ACKNOWLEDGED = Shape("Acknowledged", object_of(ackCount=COUNT, retryCount=COUNT, warnings=TEXTS))


class Retry(LeaseId):
    """A lease to give back, and how long the message shall wait."""

    delay_seconds: Delay | None = None


class Ack(Body):
    """Leases to settle."""

    acks: list[LeaseId] | None = None
    retries: list[Retry] | None = None


def ack(call: Call) -> dict[str, Any]:
    """Settle leases."""
    done = call.service.account.ack(
        call.core(),
        tuple([each.lease_id for each in call.body.acks or ()]),
        tuple([(each.lease_id, each.delay_seconds) for each in call.body.retries or ()]),
    )
    return {"ackCount": done.ack_count, "retryCount": done.retry_count, "warnings": done.warnings}


OPERATION = Operation("POST", "/queues/{queue_id}/messages/ack", ack, _ACKNOWLEDGED, Ack, data=True)
