"""GET /emulator/events."""

from __future__ import annotations

from itertools import islice
from typing import Any

from emulator.core.events import to_json
from emulator.server.access import READ
from emulator.server.wire.operation import Call, Operation, number_of
from emulator.server.wire.schemas import COUNT, PER_PAGE, Shape, list_of, object_of

_EVENTS_MAX = 1_000
_EVENTS = Shape("Events", object_of(events=list_of({}), last=COUNT, total=COUNT))


def events(call: Call) -> dict[str, Any]:
    """Events behind number `after`, at most `limit` of them; `last` is the number to go on from."""
    account = call.service.account
    after = number_of(call, "after", 0, 0, 10**9 - 1)
    limit = number_of(call, "limit", _EVENTS_MAX, 1, _EVENTS_MAX)
    found = [to_json(event) for event in islice(account.events(after), limit)]
    return {"events": found, "last": after + len(found), "total": account.sequence}


OPERATION = Operation("GET", "/emulator/events", events, _EVENTS, query={"after": COUNT, "limit": PER_PAGE}, scope=READ)
