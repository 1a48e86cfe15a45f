"""DELETE /event_subscriptions/subscriptions/{subscription_id}."""

from __future__ import annotations

from typing import Any

from emulator.server.operations.get_subscription import found
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import subscription_json
from emulator.server.wire.schemas import SUBSCRIPTION


def delete_subscription(call: Call) -> dict[str, Any]:
    """Drop a subscription; the answer shows it once more."""
    return subscription_json(call.service.directory.drop_subscription(found(call)["id"]))


OPERATION = Operation("DELETE", "/event_subscriptions/subscriptions/{subscription_id}", delete_subscription, SUBSCRIPTION)
