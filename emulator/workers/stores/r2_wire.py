"""How workerd's binding speaks to an R2 bucket over HTTP, and what it is answered.

A read is a GET whose header CF-R2-Request is JSON; a write is a PUT whose body begins with JSON of CF-R2-Metadata-Size bytes.
An answer begins with JSON of as many bytes as that header says; a refusal stands in CF-R2-Error. The shapes are those of
workerd's `src/workerd/api/r2-api.capnp`: 64-bit numbers may come as texts, checksums have numbers for names.
"""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from emulator.workers.stores.r2 import HASHES, LIST_MAX
from emulator.workers.stores.r2_requests import NO_CONDITION, Condition, Metadata, R2Refused, Range

if TYPE_CHECKING:
    from collections.abc import Mapping

    from emulator.workers.stores.r2 import R2, Stored

_HTTP, _CUSTOM = 0, 1
"""What a listing includes beside keys."""


class Answer(NamedTuple):
    """An HTTP response."""

    status: int
    headers: dict[str, str]
    body: bytes


def answer(bucket: R2, headers: Mapping[str, str], body: bytes) -> Answer:
    """Do what a request of workerd asks for. Header names are in lower case."""
    try:
        size = int(headers["cf-r2-metadata-size"]) if "cf-r2-request" not in headers else 0
        asked = msgspec.json.decode(headers["cf-r2-request"] if size == 0 else body[:size])
        told, content = (_no_keys if "ssec" in asked else _METHODS[asked["method"]])(bucket, asked, body[size:])
    except R2Refused as refused:
        error = {"version": 1, "v4code": refused.code, "message": refused.message}
        named = {"CF-R2-Error": msgspec.json.encode(error).decode()}
        if refused.object is None:
            return Answer(refused.status, named, b"")
        told = msgspec.json.encode(_head(refused.object, 0, len(refused.object.body)))
        return Answer(refused.status, {**named, "CF-R2-Metadata-Size": str(len(told))}, told)
    return Answer(200, {"CF-R2-Metadata-Size": str(len(told)), "Content-Type": "application/json"}, told + content)


def _head(
    stored: Stored, start: int | None = None, length: int | None = None, *, http: bool = True, custom: bool = True
) -> Any:
    told = {
        "name": stored.key, "version": stored.version, "size": len(stored.body), "etag": stored.etag,
        "uploaded": stored.uploaded_ms, "storageClass": stored.metadata.storage_class,
        "httpFields": dict(stored.metadata.http) if http else {},
        "customFields": [{"k": k, "v": v} for k, v in stored.metadata.custom.items()] if custom else [],
        "checksums": {str(HASHES.index(name)): digest for name, digest in stored.checksums.items()},
    }  # fmt: skip
    return told if start is None else {**told, "range": {"offset": start, "length": length}}


def _do_head(bucket: R2, asked: dict[str, Any], _: bytes) -> tuple[bytes, bytes]:
    found = bucket.head(asked["object"])
    return msgspec.json.encode(_head(found, 0, len(found.body))), b""


def _do_get(bucket: R2, asked: dict[str, Any], _: bytes) -> tuple[bytes, bytes]:
    part = None
    if "rangeHeader" in asked or "range" in asked:
        part = Range(header=asked.get("rangeHeader"), **{name: int(value) for name, value in asked.get("range", {}).items()})
    found, start, read = bucket.get(asked["object"], part, _condition(asked))
    return msgspec.json.encode(_head(found, start, len(read))), read


def _do_put(bucket: R2, asked: dict[str, Any], body: bytes) -> tuple[bytes, bytes]:
    hashes = {name: b64decode(asked[name]) if name == "md5" else bytes.fromhex(asked[name]) for name in HASHES if name in asked}
    stored = bucket.put(asked["object"], body, _metadata(asked), hashes, _condition(asked))
    return msgspec.json.encode(_head(stored)), b""


def _do_delete(bucket: R2, asked: dict[str, Any], _: bytes) -> tuple[bytes, bytes]:
    bucket.delete(asked["objects"] if "objects" in asked else [asked["object"]])
    return b"", b""


def _do_list(bucket: R2, asked: dict[str, Any], _: bytes) -> tuple[bytes, bytes]:
    include = asked.get("include") or []
    page = bucket.list(
        asked.get("prefix") or "", limit=int(asked.get("limit", LIST_MAX)), delimiter=asked.get("delimiter") or "",
        start_after=asked.get("startAfter") or "", cursor=asked.get("cursor") or None, with_metadata=bool(include),
    )  # fmt: skip
    told: dict[str, Any] = {
        "objects": [_head(each, http=_HTTP in include, custom=_CUSTOM in include) for each in page.objects],
        "truncated": page.cursor is not None, "delimitedPrefixes": list(page.prefixes),
    }  # fmt: skip
    return msgspec.json.encode(told if page.cursor is None else {**told, "cursor": page.cursor}), b""


def _do_create(bucket: R2, asked: dict[str, Any], _: bytes) -> tuple[bytes, bytes]:
    return msgspec.json.encode({"uploadId": bucket.create_upload(asked["object"], _metadata(asked))}), b""


def _do_part(bucket: R2, asked: dict[str, Any], body: bytes) -> tuple[bytes, bytes]:
    etag = bucket.upload_part(asked["object"], asked["uploadId"], int(asked["partNumber"]), body)
    return msgspec.json.encode({"etag": etag}), b""


def _do_complete(bucket: R2, asked: dict[str, Any], _: bytes) -> tuple[bytes, bytes]:
    parts = [(int(each["part"]), each["etag"]) for each in asked.get("parts", ())]
    return msgspec.json.encode(_head(bucket.complete_upload(asked["object"], asked["uploadId"], parts))), b""


def _do_abort(bucket: R2, asked: dict[str, Any], _: bytes) -> tuple[bytes, bytes]:
    bucket.abort_upload(asked["object"], asked["uploadId"])
    return b"", b""


def _no_keys(_: R2, __: dict[str, Any], ___: bytes) -> tuple[bytes, bytes]:
    raise R2Refused(501, 10001, "not emulated: R2 with keys of one's own (SSE-C)")


_METHODS = {
    "head": _do_head, "get": _do_get, "put": _do_put, "delete": _do_delete, "list": _do_list,
    "createMultipartUpload": _do_create, "uploadPart": _do_part, "completeMultipartUpload": _do_complete,
    "abortMultipartUpload": _do_abort,
}  # fmt: skip


def _metadata(asked: dict[str, Any]) -> Metadata:
    custom = {each["k"]: each["v"] for each in asked.get("customFields", ())}
    http = dict(asked.get("httpFields", {}))
    if "cacheExpiry" in http:
        http["cacheExpiry"] = int(http["cacheExpiry"])
    return Metadata(http, custom, asked.get("storageClass") or "Standard")


def _condition(asked: dict[str, Any]) -> Condition:
    given = asked.get("onlyIf")
    if not given:
        return NO_CONDITION

    def etags(name: str) -> tuple[tuple[str, str], ...] | None:
        listed = given.get(name)
        return tuple((each["type"], each.get("value", "")) for each in listed) if listed else None

    before, after = (int(given[name]) if name in given else None for name in ("uploadedBefore", "uploadedAfter"))
    return Condition(etags("etagMatches"), etags("etagDoesNotMatch"), before, after, bool(given.get("secondsGranularity")))
