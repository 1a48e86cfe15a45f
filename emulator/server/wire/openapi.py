"""The OpenAPI document, made from the table of operations: served at `/openapi.json`, published in `schemas/openapi.json`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from emulator.server.access import OPEN
from emulator.server.wire.answers import Answer
from emulator.server.wire.fields import Body
from emulator.server.wire.operation import Operation
from emulator.server.wire.schemas import REFUSAL, answer_name, components

if TYPE_CHECKING:
    from collections.abc import Iterable

_REFUSALS = {
    "400": "What was asked for is not allowed", "401": "No token, or an unknown one", "403": "The token may only read",
    "404": "No such queue, consumer or subscription", "409": "It exists already, or delivery is paused",
    "429": "Too many messages a second, or too many stored",
}  # fmt: skip
_ACCOUNT = "/accounts/{account_id}"
_ID = {"type": "string", "pattern": "^[0-9a-zA-Z]{1,32}$"}


def document(operations: Iterable[Operation], *, closed: bool = False, prefix: str = _ACCOUNT) -> dict[str, Any]:
    """The document for operations below a `prefix`; `closed`: a token is asked for."""
    known = list(operations)
    paths: dict[str, Any] = {}
    shapes: dict[str, Any] = {}
    for each in known:
        paths.setdefault(prefix + each.path, {})[each.method.lower()] = _operation(each, prefix)
        shapes |= components(each.result)
    _link(known, paths, prefix)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Cloudflare Queues, emulated", "version": "4"},
        "servers": [{"url": "/client/v4" if prefix else "/"}],
        "security": [{"bearer": []}] if closed else [{"bearer": []}, {}],
        "paths": paths,
        "components": {
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
            "schemas": _bodies(known) | shapes | {"Refusal": REFUSAL},
        },
    }


def _bodies(operations: list[Operation]) -> dict[str, Any]:
    """The schemas of what requests hold, by name, with those that they name."""
    models = sorted({each.body for each in operations if each.body is not None}, key=lambda model: model.__name__)
    _, found = msgspec.json.schema_components(
        models, schema_hook=lambda _integral: {"type": "integer"}, ref_template="#/components/schemas/{name}"
    )
    more = {each.__name__: each.schema for each in _all(Body)}
    return {name: schema | more[name] for name, schema in found.items()}


def _all(model: type[Body]) -> Iterable[type[Body]]:
    for each in model.__subclasses__():
        yield each
        yield from _all(each)


def _operation(each: Operation, prefix: str) -> dict[str, Any]:
    ids = re.findall(r"{(\w+)}", each.path)
    named = [("account_id", {"type": "string"})] if prefix else []
    described: dict[str, Any] = {
        "operationId": each.name,
        "summary": (each.act.__doc__ or each.name).split("\n")[0],
        "parameters": [
            *(_parameter(name, "path", schema) for name, schema in [*named, *((name, _ID) for name in ids)]),
            *(_parameter(name, "query", schema) for name, schema in each.query.items()),
        ],
        "responses": {
            "200": _answer("Done", answer_name(each.result)),
            **{status: _answer(why, "Refusal") for status, why in {**_REFUSALS, **each.refusals}.items()},
        },
    }
    if each.body is not None:
        schema = {"$ref": f"#/components/schemas/{each.body.__name__}"}
        needed = any(field.required for field in msgspec.structs.fields(each.body))
        described["requestBody"] = {"required": needed, "content": {"application/json": {"schema": schema}}}
    return described


def _parameter(name: str, place: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": schema}


def _link(operations: list[Operation], paths: dict[str, Any], prefix: str) -> None:
    """Say where the id of what was made leads: to every operation whose path names it, and nothing that is not known then."""
    named = {each.name: re.findall(r"{(\w+)}", each.path) for each in operations}
    for each in operations:
        if each.made is None:
            continue
        name, member = each.made
        given = {known: f"$request.path.{known}" for known in ("account_id", *named[each.name])}
        given[name] = f"$response.body#/result/{member}"
        made = paths[prefix + each.path][each.method.lower()]["responses"]["200"]
        made["links"] = {
            other: {"operationId": other, "parameters": given}
            for other, names in named.items() if name in names and set(names) <= given.keys()
        }  # fmt: skip


def _answer(why: str, schema: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    return {"description": why, "content": content}


def text(described: dict[str, Any]) -> str:
    """A document as it stands in the repository."""
    return msgspec.json.format(msgspec.json.encode(described, order="sorted"), indent=2).decode() + "\n"


def document_operation(path: str, described: dict[str, Any]) -> Operation:
    """The endpoint that serves a document, outside the envelope."""
    content = text(described).encode()

    def openapi(_call: object) -> Answer:
        """The OpenAPI document."""
        return Answer(content)

    return Operation("GET", path, openapi, scope=OPEN, always=True)
