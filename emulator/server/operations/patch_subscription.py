"""PATCH /event_subscriptions/subscriptions/{subscription_id}."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from emulator.server.operations.create_subscription import Destination, check_queue
from emulator.server.operations.get_subscription import found
from emulator.server.wire.fields import Body, Title, Titles
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import subscription_json
from emulator.server.wire.schemas import SUBSCRIPTION


class PatchSubscription(Body):
    """A subscription, changed."""

    name: Title | None = None
    enabled: bool | None = None
    destination: Destination | None = None
    events: Titles | None = None


def patch_subscription(call: Call) -> dict[str, Any]:
    """Change what is given."""
    row = found(call)
    if call.body.destination is not None:
        check_queue(call, call.body.destination)
    given = {name: value for name, value in to_builtins(call.body).items() if value is not None}
    return subscription_json(call.service.directory.save_subscription(row | given | {"modified_us": call.service.now_us}))


OPERATION = Operation(
    "PATCH", "/event_subscriptions/subscriptions/{subscription_id}", patch_subscription, SUBSCRIPTION, PatchSubscription
)
