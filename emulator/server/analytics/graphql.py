"""POST /client/v4/graphql."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import field

from emulator.engine.bodies import json_text
from emulator.engine.clock import moment
from emulator.server.access import READ
from emulator.server.analytics.figures import Figures
from emulator.server.wire.answers import Answer
from emulator.server.wire.fields import Body
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.schemas import Shape, object_of

if TYPE_CHECKING:
    from emulator.server.analytics.query import Answered
    from emulator.server.service import Service

_DATA = Shape("GraphQL", object_of(data={}, errors={}))


class Query(Body):
    """A query with its variables."""

    query: str
    variables: dict[str, Any] | None = field(default_factory=dict)


def graphql(call: Call) -> Answer:
    """What Cloudflare's analytics tell of queues, from this server's journal. Errors stand in the answer, with status 200."""
    from graphql import GraphQLError  # a quarter of a server's start, and few ask

    from emulator.server.analytics.query import errors_of

    service = call.service
    try:
        said: dict[str, Any] = {"data": _answered(service).answer(call.body.query, call.body.variables or {}), "errors": None}
    except GraphQLError as error:
        said = {"data": None, "errors": errors_of(error, moment(service.now_us).isoformat())}
    return Answer(json_text.encode(said))


def _answered(service: Service) -> Answered:
    from emulator.server.analytics.query import Answered

    queues = service.directory.queues.values()
    ids = {row["core"]: row["id"] for row in queues}
    scripts = {row["core"]: (row.get("consumer") or {}).get("script") or "" for row in queues}

    def measure(start_us: int, end_us: int) -> Figures:
        return Figures(start_us, end_us, service.now_us).follow(service.account.events())

    return Answered(service.account_id, measure, ids, scripts)


OPERATION = Operation("POST", "/client/v4/graphql", graphql, _DATA, Query, scope=READ)
