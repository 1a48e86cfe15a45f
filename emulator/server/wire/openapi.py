"""The OpenAPI document, made from the table of operations: served at `/openapi.json`, published in `schemas/openapi.json`."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import models_json_schema

from emulator.server.access import OPEN
from emulator.server.operations.operation import Operation
from emulator.server.wire.schemas import QUERY, RESULTS

if TYPE_CHECKING:
    from collections.abc import Iterable

_REFUSALS = {
    "400": "What was asked for is not allowed", "401": "No token, or an unknown one", "403": "The token may only read",
    "404": "No such queue, consumer or subscription", "409": "It exists already, or delivery is paused",
    "429": "Too many messages a second, or too many stored",
}  # fmt: skip
_MADE = {
    "create_queue": ("queue_id", "queue_id"), "create_consumer": ("consumer_id", "consumer_id"),
    "create_subscription": ("subscription_id", "id"),
}  # fmt: skip
"""Which operation makes what a path may name, and the member of its result that has the id."""
_ID = {"type": "string", "pattern": "^[0-9a-zA-Z]{1,32}$"}


def document(operations: Iterable[Operation], *, closed: bool = False) -> dict[str, Any]:
    """The document for operations below `/accounts/{account_id}`; `closed`: a token is asked for."""
    known = list(operations)
    models = sorted({each.body for each in known if each.body is not None}, key=lambda model: model.__name__)
    _, definitions = models_json_schema(
        [(model, "validation") for model in models], ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, Any] = {}
    for each in known:
        paths.setdefault(f"/accounts/{{account_id}}{each.path}", {})[each.method.lower()] = _operation(each)
    _link(known, paths)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Cloudflare Queues, emulated", "version": "4"},
        "servers": [{"url": "/client/v4"}],
        "security": [{"bearer": []}] if closed else [{"bearer": []}, {}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": definitions.get("$defs", {}) | RESULTS,
        },
    }


def _operation(each: Operation) -> dict[str, Any]:
    names = re.findall(r"{(\w+)}", each.path)
    described: dict[str, Any] = {
        "operationId": each.name,
        "summary": (each.act.__doc__ or each.name).split("\n")[0],
        "parameters": [
            {"name": "account_id", "in": "path", "required": True, "schema": {"type": "string"}},
            *({"name": name, "in": "path", "required": True, "schema": _ID} for name in names),
            *({"name": name, "in": "query", "required": False, "schema": QUERY[name]} for name in each.query),
        ],
        "responses": {
            str(each.status): _answer("Done", f"{each.result}Answer"),
            **{status: _answer(why, "Refusal") for status, why in _REFUSALS.items()},
        },
    }
    if each.name == "pull":
        described["responses"]["405"] = _answer("The queue has no http_pull consumer", "Refusal")
    if each.body is not None:
        schema = {"$ref": f"#/components/schemas/{each.body.__name__}"}
        needed = any(field.is_required() for field in each.body.model_fields.values())
        described["requestBody"] = {"required": needed, "content": {"application/json": {"schema": schema}}}
    return described


def _link(operations: list[Operation], paths: dict[str, Any]) -> None:
    """Say where the id of what was made leads: to every operation whose path names it, and nothing that is not known then."""
    named = {each.name: re.findall(r"{(\w+)}", each.path) for each in operations}
    for each in operations:
        if each.name not in _MADE:
            continue
        name, member = _MADE[each.name]
        given = {known: f"$request.path.{known}" for known in ("account_id", *named[each.name])}
        given[name] = f"$response.body#/result/{member}"
        made = paths[f"/accounts/{{account_id}}{each.path}"][each.method.lower()]["responses"][str(each.status)]
        made["links"] = {
            other: {"operationId": other, "parameters": given}
            for other, names in named.items() if name in names and set(names) <= given.keys()
        }  # fmt: skip


def _answer(why: str, schema: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return {"description": why, "content": content}


def text(operations: Iterable[Operation], *, closed: bool = False) -> str:
    """The document as it stands in the repository."""
    return json.dumps(document(operations, closed=closed), indent=2, sort_keys=True) + "\n"


def document_operation(operations: Iterable[Operation], *, closed: bool) -> Operation:
    """The endpoint that serves the document, outside the envelope."""
    content = text(operations, closed=closed).encode()

    def serve(_call: Any) -> Any:
        """The OpenAPI document."""
        from starlette.responses import Response

        return Response(content, media_type="application/json")

    return Operation("GET", "/openapi.json", "openapi", serve, scope=OPEN, bare=True)
