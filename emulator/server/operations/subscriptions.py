"""Event subscriptions over REST: stored and listed. No events arise, because there is nothing here to subscribe to.

https://developers.cloudflare.com/queues/event-subscriptions/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.core.refusals import JSONRequestBodyInvalid, QueueUnknown
from emulator.server.access import READ
from emulator.server.operations.operation import Call, Operation, Page, checked_id, missing, page_of
from emulator.server.service import iso
from emulator.server.wire import bodies

if TYPE_CHECKING:
    from emulator.server.directory import Row

_PER_PAGE = 20
_ORDERS = {"created_at": "created_us", "name": "name", "enabled": "enabled"}


def subscription_json(row: Row) -> dict[str, Any]:
    """A subscription as the API shows it."""
    shown = {name: row[name] for name in ("id", "name", "enabled", "source", "destination", "events")}
    return shown | {"created_at": iso(row["created_us"]), "modified_at": iso(row["modified_us"])}


def list_subscriptions(call: Call) -> Page:
    """Subscriptions, of one queue or of all; by default the newest first."""
    wanted = call.query.get("queue_id", [""])[-1]
    order = call.query.get("order", ["created_at"])[-1]
    direction = call.query.get("direction", ["desc"])[-1]
    if order not in _ORDERS or direction not in {"asc", "desc"}:
        raise JSONRequestBodyInvalid(f"order is one of {', '.join(_ORDERS)}, direction asc or desc")
    rows = [row for row in call.service.directory.subscriptions.values() if wanted in ("", row["destination"]["queue_id"])]
    rows.sort(key=lambda row: (row[_ORDERS[order]], row["id"]), reverse=direction == "desc")
    page = page_of(call, rows, _PER_PAGE)
    return page._replace(result=[subscription_json(row) for row in page.result])


def create_subscription(call: Call) -> dict[str, Any]:
    """Store a subscription for a queue that exists."""
    body, service = call.body, call.service
    if body.source.type not in bodies.SOURCES:
        raise JSONRequestBodyInvalid(f"source type {body.source.type[:100]!r} is none of {', '.join(bodies.SOURCES)}")
    _check_queue(call, body.destination)
    row = {
        "name": body.name, "enabled": body.enabled, "source": body.source.model_dump(), "events": body.events,
        "destination": body.destination.model_dump(), "created_us": service.now_us, "modified_us": service.now_us,
    }  # fmt: skip
    return subscription_json(service.directory.save_subscription(row))


def _check_queue(call: Call, destination: bodies.Destination) -> None:
    if destination.queue_id not in call.service.directory.queues:
        raise QueueUnknown(f"Queue not found: {destination.queue_id[:100]!r}")


def _found(call: Call) -> Row:
    row = call.service.directory.subscriptions.get(checked_id(call.params["subscription_id"]))
    if row is None:
        raise missing("Subscription")
    return row


def get_subscription(call: Call) -> dict[str, Any]:
    """One subscription."""
    return subscription_json(_found(call))


def patch_subscription(call: Call) -> dict[str, Any]:
    """Change what is given."""
    row, given = _found(call), call.body.model_dump(exclude_none=True)
    if call.body.destination is not None:
        _check_queue(call, call.body.destination)
    changed = row | given | {"modified_us": call.service.now_us}
    return subscription_json(call.service.directory.save_subscription(changed))


def delete_subscription(call: Call) -> dict[str, Any]:
    """Drop a subscription; the answer shows it once more."""
    return subscription_json(call.service.directory.drop_subscription(_found(call)["id"]))


SUBSCRIPTIONS = "/event_subscriptions/subscriptions"
SUBSCRIPTION = f"{SUBSCRIPTIONS}/{{subscription_id}}"
_QUERY = ("page", "per_page", "queue_id", "order", "direction")
OPERATIONS = (
    Operation("GET", SUBSCRIPTIONS, "list_subscriptions", list_subscriptions, "SubscriptionList", scope=READ, query=_QUERY),
    Operation("POST", SUBSCRIPTIONS, "create_subscription", create_subscription, "Subscription", bodies.CreateSubscription),
    Operation("GET", SUBSCRIPTION, "get_subscription", get_subscription, "Subscription", scope=READ),
    Operation("PATCH", SUBSCRIPTION, "patch_subscription", patch_subscription, "Subscription", bodies.PatchSubscription),
    Operation("DELETE", SUBSCRIPTION, "delete_subscription", delete_subscription, "Subscription"),
)
