"""How workerd's binding speaks to a KV namespace over HTTP: https://github.com/cloudflare/workerd, `src/workerd/api/kv.c++`.

GET and PUT of `/key`, DELETE, GET of `/` for a listing, POST of `/bulk/get`. Metadata travel as JSON in CF-KV-Metadata, a
refusal's text in the status line.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from emulator.workers.stores.kv_namespace import LIST_MAX, KvRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emulator.workers.stores.kv_namespace import Entry, Namespace

BULK_MAX = 100
"""So many keys at most are read together."""


class Answer(NamedTuple):
    """An HTTP response; `reason` stands in its status line."""

    status: int
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    reason: str = ""


def answer(
    namespace: Namespace, method: str, path: str, query: Mapping[str, str], *, headers: Mapping[str, str], body: bytes
) -> Answer:
    """Do what a request of workerd asks for. `path` is decoded; names of headers are in lower case."""
    try:
        if method == "GET" and not path:
            return _list(namespace, query)
        if method == "GET":
            return _get(namespace.get(path))
        if method == "PUT":
            _put(namespace, path, query, headers, body)
        elif method == "DELETE":
            namespace.delete(path)
        elif path == "bulk/get":
            return _bulk(namespace, msgspec.json.decode(body))
        elif path == "bulk/delete":
            for key in msgspec.json.decode(body):
                namespace.delete(key)
        else:
            return Answer(405, reason=f"{method} {path} is not known")
    except KvRefused as refused:
        return Answer(refused.status, reason=refused.text)
    except (TypeError, ValueError) as error:
        return Answer(400, reason=str(error))
    return Answer(200)


def _get(entry: Entry | None) -> Answer:
    if entry is None:
        return Answer(404, reason="Not Found")
    told = () if entry.metadata is None else (("CF-KV-Metadata", _ascii(entry.metadata)),)
    return Answer(200, told, entry.value)


def _put(namespace: Namespace, key: str, query: Mapping[str, str], headers: Mapping[str, str], body: bytes) -> None:
    ttl, expiration, metadata = query.get("expiration_ttl"), query.get("expiration"), headers.get("cf-kv-metadata")
    namespace.put(
        key, body, ttl_seconds=None if ttl is None else int(ttl), expiration=None if expiration is None else int(expiration),
        metadata=None if metadata is None else msgspec.json.decode(metadata),
    )  # fmt: skip


def _list(namespace: Namespace, query: Mapping[str, str]) -> Answer:
    page = namespace.list(query.get("prefix", ""), int(query.get("key_count_limit", LIST_MAX)), query.get("cursor", ""))
    keys = []
    for name, entry in page.entries.items():
        row: dict[str, Any] = {"name": name}
        if entry.expiration is not None:
            row["expiration"] = entry.expiration
        if entry.metadata is not None:
            row["metadata"] = _ascii(entry.metadata)
        keys.append(row)
    told: dict[str, Any] = {"keys": keys, "list_complete": page.cursor is None}
    if page.cursor is not None:
        told["cursor"] = page.cursor
    return Answer(200, body=msgspec.json.encode(told))


def _bulk(namespace: Namespace, asked: dict[str, Any]) -> Answer:
    if len(asked["keys"]) > BULK_MAX:
        raise KvRefused("GET_BULK", 400, f"You can request a maximum of {BULK_MAX} keys")
    found: dict[str, Any] = {}
    for key in asked["keys"]:
        entry = namespace.get(key)
        value: Any = None
        if entry is not None:
            value = msgspec.json.decode(entry.value) if asked.get("type") == "json" else entry.value.decode("utf-8", "replace")
        if asked.get("withMetadata"):
            value = {"value": value, "metadata": None if entry is None else entry.metadata}
        found[key] = value
    return Answer(200, body=msgspec.json.encode(found))


def _ascii(value: Any) -> str:
    """JSON that a header may hold."""
    return json.dumps(value, separators=(",", ":"))
