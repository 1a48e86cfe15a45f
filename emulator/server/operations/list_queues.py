"""GET /queues."""

from __future__ import annotations

from emulator.server.access import READ
from emulator.server.wire.operation import Call, Operation, Page, page_of
from emulator.server.wire.resources import queue_json
from emulator.server.wire.schemas import PAGE, PER_PAGE, QUEUE, TEXT

_PER_PAGE = 100
_NAMES = {"type": "array", "items": TEXT, "maxItems": 100}


def list_queues(call: Call) -> Page:
    """Every queue, or those of the given names; in order of name."""
    directory, names = call.service.directory, call.query.get("name")
    public = sorted(directory.by_public) if names is None else [n for n in dict.fromkeys(names) if n in directory.by_public]
    page = page_of(call, public, _PER_PAGE)
    return page._replace(result=[queue_json(call.service, directory.by_public[name]) for name in page.result])


OPERATION = Operation(
    "GET", "/queues", list_queues, QUEUE._replace(many=True, pages=True), scope=READ,
    query={"page": PAGE, "per_page": PER_PAGE, "name": _NAMES},
)  # fmt: skip
