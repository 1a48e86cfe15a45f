"""POST /event_subscriptions/subscriptions: stored and listed. No events arise: there is nothing here to subscribe to.

https://developers.cloudflare.com/queues/event-subscriptions/.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, structs

from emulator.core.refusals import JSONRequestBodyInvalid, QueueUnknown
from emulator.server.wire.fields import Body, Short, Title, Titles
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import subscription_json
from emulator.server.wire.schemas import SUBSCRIPTION

SOURCES = (
    "access", "aiSearch", "artifacts", "artifacts.repo", "browserRun", "email.sending", "images", "kv", "r2", "stream",
    "superSlurper", "vectorize", "workers", "workersAi.model", "workersBuilds.worker", "workflows.workflow",
)  # fmt: skip
"""The sources of events that Cloudflare has."""
_SOURCE = {"required": ["type"], "properties": {"type": {"type": "string", "enum": list(SOURCES)}}}


class Destination(Body):
    """Which queue the events are for."""

    type: Literal["queues.queue"]
    queue_id: Short


class CreateSubscription(Body):
    """A new subscription to events. A source has a type, and what narrows it down."""

    name: Title
    source: Annotated[dict[str, Any], Meta(extra_json_schema=_SOURCE)]
    destination: Destination
    events: Titles
    enabled: bool = True


def create_subscription(call: Call) -> dict[str, Any]:
    """Store a subscription for a queue that exists."""
    body, service = call.body, call.service
    kind = body.source.get("type")
    if kind not in SOURCES:
        raise JSONRequestBodyInvalid(f"source type {kind!r:.100} is none of {', '.join(SOURCES)}")
    check_queue(call, body.destination)
    row = {
        "name": body.name, "enabled": body.enabled, "source": body.source, "events": body.events,
        "destination": structs.asdict(body.destination), "created_us": service.now_us, "modified_us": service.now_us,
    }  # fmt: skip
    return subscription_json(service.directory.save_subscription(row))


def check_queue(call: Call, destination: Destination) -> None:
    """Refuse a queue that is not there (11000)."""
    if destination.queue_id not in call.service.directory.queues:
        raise QueueUnknown(f"Queue not found: {destination.queue_id[:100]!r}")


OPERATION = Operation(
    "POST", "/event_subscriptions/subscriptions", create_subscription, SUBSCRIPTION, CreateSubscription,
    made=("subscription_id", "id"),
)  # fmt: skip
