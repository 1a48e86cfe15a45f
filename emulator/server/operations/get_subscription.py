"""GET /event_subscriptions/subscriptions/{subscription_id}."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.server.access import READ
from emulator.server.wire.operation import Call, Operation, checked_id, missing
from emulator.server.wire.resources import subscription_json
from emulator.server.wire.schemas import SUBSCRIPTION

if TYPE_CHECKING:
    from emulator.server.directory import Row


def get_subscription(call: Call) -> dict[str, Any]:
    """One subscription."""
    return subscription_json(found(call))


def found(call: Call) -> Row:
    """The subscription that the path names."""
    row = call.service.directory.subscriptions.get(checked_id(call.params["subscription_id"]))
    if row is None:
        raise missing("Subscription")
    return row


OPERATION = Operation("GET", "/event_subscriptions/subscriptions/{subscription_id}", get_subscription, SUBSCRIPTION, scope=READ)
