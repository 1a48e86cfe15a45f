"""The OpenAPI document is fresh, and the API keeps to it: whatever is asked, no 500, and every answer has the shape it promises."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from emulator import Emulator
from emulator.server import Transport
from emulator.server.operations import OPERATIONS
from emulator.server.wire.openapi import document, text

ROOT = Path(__file__).resolve().parents[3]
DOCUMENT = document(OPERATIONS)
COMPONENTS = DOCUMENT["components"]["schemas"]


def resolved(schema):
    """A schema with its references within reach."""
    return {**schema, "components": {"schemas": COMPONENTS}}


VALIDATORS = {
    (operation.name, status): jsonschema.Draft202012Validator(
        resolved(DOCUMENT["paths"][f"/accounts/{{account_id}}{operation.path}"][operation.method.lower()]["responses"][status][
            "content"]["application/json"]["schema"])
    )
    for operation in OPERATIONS for status in ("200", "400", "404", "409", "429")
}  # fmt: skip


def test_the_published_document_is_fresh():
    assert (ROOT / "schemas" / "openapi.json").read_text(encoding="utf-8") == text(DOCUMENT), "run python -m emulator.cli.generate"


def test_the_document_is_served_as_it_is_published():
    client = httpx.Client(transport=Transport(Emulator()), base_url="http://emulator")
    assert client.get("/openapi.json").json() == DOCUMENT
    closed = httpx.Client(transport=Transport(Emulator(), tokens=["secret"]), base_url="http://emulator")
    assert closed.get("/openapi.json").json() == DOCUMENT | {"security": [{"bearer": []}]}


def test_the_links_lead_from_what_was_made_to_every_operation_that_names_it():
    made = DOCUMENT["paths"]["/accounts/{account_id}/queues"]["post"]["responses"]["200"]["links"]
    assert {"get_queue", "delete_queue", "push", "pull", "ack", "create_consumer"} <= made.keys()
    assert "get_consumer" not in made, "no consumer is known then"
    assert made["push"] == {
        "operationId": "push", "parameters": {"account_id": "$request.path.account_id", "queue_id": "$response.body#/result/queue_id"},
    }  # fmt: skip
    made = DOCUMENT["paths"]["/accounts/{account_id}/queues/{queue_id}/consumers"]["post"]["responses"]["200"]["links"]
    assert made.keys() == {"get_consumer", "put_consumer", "delete_consumer"}
    assert made["get_consumer"]["parameters"]["queue_id"] == "$request.path.queue_id"


def test_every_schema_is_one_and_every_reference_leads_somewhere():
    for schema in COMPONENTS.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    found = json.dumps(DOCUMENT).split('"#/components/schemas/')[1:]
    assert {each.partition('"')[0] for each in found} <= COMPONENTS.keys()


def test_every_endpoint_of_the_contract_is_there():
    got = {(method.upper(), path.removeprefix("/accounts/{account_id}")) for path, row in DOCUMENT["paths"].items() for method in row}
    q, s = "/queues/{queue_id}", "/event_subscriptions/subscriptions"
    assert got >= {
        ("GET", "/queues"), ("POST", "/queues"), ("GET", q), ("PUT", q), ("PATCH", q), ("DELETE", q), ("GET", f"{q}/consumers"),
        ("POST", f"{q}/consumers"), *((method, f"{q}/consumers/{{consumer_id}}") for method in ("GET", "PUT", "DELETE")),
        *(("POST", f"{q}/messages{end}") for end in ("", "/batch", "/pull", "/ack", "/extend", "/peek", "/purge", "/preview",
                                                      "/preview/ack")),
        ("GET", f"{q}/metrics"), ("POST", f"{q}/purge"), ("GET", f"{q}/purge"), ("GET", s), ("POST", s),
        *((method, f"{s}/{{subscription_id}}") for method in ("GET", "PATCH", "DELETE")),
    }  # fmt: skip


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**6), 10**6), st.integers(), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=10), st.sampled_from(["text", "json", "worker", "http_pull", "eu", "jobs", "dlq", "queues.queue", "r2", True, 0, 5, 100]),
)  # fmt: skip
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=5)


def like(schema, depth=0):
    """Values that a schema describes, and now and then one that it does not."""
    schema = COMPONENTS[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if "anyOf" in schema:
        right = st.one_of([like(each, depth) for each in schema["anyOf"]])
    elif "enum" in schema or "const" in schema:
        right = st.sampled_from(schema.get("enum") or [schema["const"]])
    elif schema.get("type") == "object":
        properties = schema.get("properties", {})
        needed = {name: like(each, depth + 1) for name, each in properties.items() if name in schema.get("required", ())}
        optional = {name: like(each, depth + 1) for name, each in properties.items() if name not in needed}
        right = st.fixed_dictionaries(needed, optional=optional)
    elif schema.get("type") == "array":
        right = st.lists(like(schema["items"], depth + 1), min_size=1, max_size=3)
    elif schema.get("type") == "integer":
        low, high = schema.get("minimum", 0), schema.get("maximum", 100)
        right = st.integers(low, high) | st.sampled_from([low - 1, low, high, high + 1])
    elif schema.get("type") == "string":
        right = st.from_regex(schema["pattern"], fullmatch=True) if "pattern" in schema else st.text(max_size=10)
    else:
        right = {"boolean": st.booleans(), "null": st.none()}.get(schema.get("type"), JSON)
    return st.integers(0, 9).flatmap(lambda dice: JSON if dice == 0 else right)


REQUESTS = st.sampled_from(OPERATIONS).flatmap(
    lambda operation: st.tuples(
        st.just(operation),
        st.none() if operation.body is None else like({"$ref": f"#/components/schemas/{operation.body.__name__}"}),
        st.dictionaries(st.sampled_from([*operation.query, "x"]), st.text(max_size=5) | st.integers(0, 200), max_size=3),
        st.sampled_from(["known", "known", "known", "0" * 32, "x y", "é"]),
    )
)


class World:
    """A small account with something of everything in it, made again where a request has taken something away."""

    def __init__(self):
        self.emu = Emulator()
        transport = Transport(self.emu)
        self.directory = transport.service.directory
        self.client = httpx.Client(transport=transport, base_url="http://emulator/client/v4/accounts/a")

    def post(self, path, body):
        return self.client.post(path, json=body).json()["result"]

    def ids(self):
        """The ids of a queue, its consumer and a subscription."""
        row = next(iter(self.directory.queues.values()), None)
        if row is None:
            self.post("/queues", {"queue_name": "jobs"})
            row = next(iter(self.directory.queues.values()))
        if row["consumer"] is None:
            self.post(f"/queues/{row['id']}/consumers", {"type": "http_pull"})
        if not self.directory.subscriptions:
            body = {"name": "n", "source": {"type": "kv"}, "events": ["x"], "destination": {"type": "queues.queue", "queue_id": row["id"]}}
            self.post("/event_subscriptions/subscriptions", body)
        self.post(f"/queues/{row['id']}/messages", {"body": {"a": 1}})
        return {"queue_id": row["id"], "consumer_id": row["consumer"]["id"], "subscription_id": next(iter(self.directory.subscriptions))}


@pytest.mark.slow
def test_no_request_breaks_the_api_or_its_promise():
    world = World()
    statuses = set()

    @settings(max_examples=200, suppress_health_check=list(HealthCheck))
    @given(REQUESTS)
    def ask(request):
        operation, body, query, which = request
        path = operation.path.format(**{name: id if which == "known" else which for name, id in world.ids().items()})
        content = b"" if operation.body is None else json.dumps(body).encode()
        answer = world.client.request(operation.method, path, content=content, params=query)
        assert answer.status_code < 500, answer.text
        assert answer.json()["success"] is (answer.status_code == 200)
        VALIDATORS[operation.name, str(answer.status_code)].validate(answer.json())
        world.emu.advance(1)
        statuses.add(answer.status_code)

    ask()
    assert statuses >= {200, 400, 404}
    world.emu.close()
