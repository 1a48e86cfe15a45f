"""GET /event_subscriptions/subscriptions."""

from __future__ import annotations

from typing import Any

from emulator.core.refusals import JSONRequestBodyInvalid
from emulator.server.access import READ
from emulator.server.wire.operation import Call, Operation, Page, page_of
from emulator.server.wire.resources import subscription_json
from emulator.server.wire.schemas import PAGE, PER_PAGE, SUBSCRIPTION, TEXT

_PER_PAGE = 20
_ORDERS = {"created_at": "created_us", "name": "name", "enabled": "enabled"}
_DIRECTIONS = ("asc", "desc")
_QUERY: dict[str, dict[str, Any]] = {
    "page": PAGE, "per_page": PER_PAGE, "queue_id": TEXT, "order": {"type": "string", "enum": list(_ORDERS)},
    "direction": {"type": "string", "enum": list(_DIRECTIONS)},
}  # fmt: skip


def list_subscriptions(call: Call) -> Page:
    """Subscriptions, of one queue or of all; by default the newest first."""
    wanted = call.query.get("queue_id", [""])[-1]
    order = call.query.get("order", ["created_at"])[-1]
    direction = call.query.get("direction", ["desc"])[-1]
    if order not in _ORDERS or direction not in _DIRECTIONS:
        raise JSONRequestBodyInvalid(f"order is one of {', '.join(_ORDERS)}, direction asc or desc")
    rows = [row for row in call.service.directory.subscriptions.values() if wanted in ("", row["destination"]["queue_id"])]
    rows.sort(key=lambda row: (row[_ORDERS[order]], row["id"]), reverse=direction == "desc")
    page = page_of(call, rows, _PER_PAGE)
    return page._replace(result=[subscription_json(row) for row in page.result])


OPERATION = Operation(
    "GET", "/event_subscriptions/subscriptions", list_subscriptions, SUBSCRIPTION._replace(many=True, pages=True), scope=READ,
    query=_QUERY,
)  # fmt: skip
