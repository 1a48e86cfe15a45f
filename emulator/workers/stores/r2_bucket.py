"""An R2 bucket as a Python Worker has it: `put`, `get`, `head`, `delete`, `list`, multipart uploads.

https://developers.cloudflare.com/r2/api/workers/workers-api-reference/. Errors read as workerd's: the call, the text, the code.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from emulator.workers.promise import Promise
from emulator.workers.python.errors import JsException, NotEmulated
from emulator.workers.python.javascript import convert
from emulator.workers.python.javascript.forms import Blob, content_of
from emulator.workers.python.javascript.js_binary import JsBuffer
from emulator.workers.python.javascript.js_time import JsTime
from emulator.workers.python.javascript.js_values import JsDict, JsList
from emulator.workers.python.runtime_names import Partial
from emulator.workers.stores.r2 import HASHES, LIST_MAX
from emulator.workers.stores.r2_requests import NO_CONDITION, Condition, Metadata, R2Refused, Range

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.workers.stores.r2 import R2, Stored

_NO_SUCH_KEY, _PRECONDITION_FAILED = 10007, 10031
_HTTP = ("contentType", "contentLanguage", "contentDisposition", "contentEncoding", "cacheControl", "cacheExpiry")


class R2Object(Partial):
    """What `head`, `put` and `list` give: `key`, `size`, `etag`, `uploaded`, `httpMetadata`, `customMetadata`, `checksums`."""

    def __init__(self, stored: Stored, start: int = 0, length: int | None = None) -> None:
        size = len(stored.body)
        self.key, self.version, self.size, self.etag = stored.key, stored.version, size, stored.etag
        self.httpEtag = f'"{stored.etag}"'
        self.uploaded = JsTime.of_ms(stored.uploaded_ms)
        self.httpMetadata = JsDict({name: _http_value(name, value) for name, value in stored.metadata.http.items()})
        self.customMetadata = JsDict(stored.metadata.custom)
        self.storageClass = stored.metadata.storage_class
        self.checksums = JsDict({name: memoryview(bytes.fromhex(digest)) for name, digest in stored.checksums.items()})
        self.range = JsDict(offset=start, length=size if length is None else length)

    def writeHttpMetadata(self, headers: Any) -> None:  # noqa: N802 - JavaScript's name
        """Set the headers that its metadata are."""
        for name, value in self.httpMetadata.items():
            dashed = "".join(f"-{each.lower()}" if each.isupper() else each for each in name)
            header = {"cache-expiry": "expires"}.get(dashed, dashed)
            headers.set(header, value.strftime("%a, %d %b %Y %H:%M:%S GMT") if isinstance(value, datetime) else value)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(key={self.key!r}, size={self.size})"


class R2ObjectBody(R2Object):
    """What `get` gives: an R2Object whose content can be read once, as `text`, `json`, `arrayBuffer`, `bytes` or `blob`."""

    def __init__(self, stored: Stored, start: int, read: bytes) -> None:
        super().__init__(stored, start, len(read))
        self._read, self.bodyUsed = read, False

    @property
    def body(self) -> bytes:
        """The bytes of it. The runtime has a stream here."""
        return self._take()

    def _take(self) -> bytes:
        if self.bodyUsed:
            raise TypeError(
                "Body has already been used. It can only be used once. Use tee() first if you need to read it twice."
            )
        self.bodyUsed = True
        return self._read

    async def text(self) -> str:
        """Its content as UTF-8 text."""
        return self._take().decode("utf-8", "replace")

    async def json(self) -> Any:
        """Its content as JSON."""
        return convert.python_from_rpc(json.loads(self._take()))

    async def arrayBuffer(self) -> memoryview:  # noqa: N802 - JavaScript's name
        """Its content."""
        return memoryview(self._take())

    async def blob(self) -> Blob:
        """Its content as a Blob."""
        return Blob(self._take(), self.httpMetadata.get("contentType", ""))

    bytes = arrayBuffer


class R2Bucket(Partial):
    """A bucket as a Python Worker's binding."""

    def __init__(self, store: R2) -> None:
        self._store = store

    @property
    def store(self) -> R2:
        """What it stores."""
        return self._store

    def head(self, key: str) -> Promise:
        """The R2Object; None where there is none."""
        return _promise("head", key, lambda: R2Object(self._store.head(str(key))))

    def get(self, key: str, options: Any = None, **named: Any) -> Promise:
        """The R2ObjectBody; None without one, an R2Object where `onlyIf` does not hold; `range` (offset, length, suffix)."""
        given = convert.options_of(options, named)

        def work() -> R2Object:
            try:
                return R2ObjectBody(*self._store.get(str(key), _range(given.get("range")), _condition(given.get("onlyIf"))))
            except R2Refused as refused:
                if refused.code == _PRECONDITION_FAILED:
                    return R2Object(refused.object)
                raise

        return _promise("get", key, work)

    def put(self, key: str, value: Any, options: Any = None, **named: Any) -> Promise:
        """Store; the R2Object, or None where `onlyIf` does not hold. Also `httpMetadata`, `customMetadata`, `md5`, `sha256`."""
        given = convert.options_of(options, named)

        def work() -> R2Object | None:
            hashes = {name: _digest(given[name]) for name in HASHES if given.get(name) is not None}
            try:
                stored = self._store.put(str(key), _content(value), _metadata(given), hashes, _condition(given.get("onlyIf")))
            except R2Refused as refused:
                if refused.code == _PRECONDITION_FAILED:
                    return None
                raise
            return R2Object(stored)

        return _promise("put", key, work)

    def delete(self, keys: Any) -> Promise:
        """Take one key away, or a list of them."""
        listed = [str(each) for each in keys] if isinstance(keys, list) else [str(keys)]
        return _promise("delete", keys, lambda: self._store.delete(listed))

    def list(self, options: Any = None, **named: Any) -> Promise:
        """A page (`objects`, `truncated`, `cursor`, `delimitedPrefixes`) by `prefix`, `limit`, `cursor`, `delimiter`."""
        given = convert.options_of(options, named)
        asked: dict[str, Any] = {
            "limit": int(given.get("limit") or LIST_MAX), "delimiter": given.get("delimiter") or "",
            "start_after": given.get("startAfter") or "", "cursor": given.get("cursor"),
            "with_metadata": bool(given.get("include")),
        }  # fmt: skip

        def work() -> JsDict:
            page = self._store.list(given.get("prefix") or "", **asked)
            found = JsDict(objects=JsList(map(R2Object, page.objects)), truncated=page.cursor is not None)
            found["delimitedPrefixes"] = JsList(page.prefixes)
            if page.cursor is not None:
                found["cursor"] = page.cursor
            return found

        return _promise("list", given.get("prefix") or "", work)

    def createMultipartUpload(self, key: str, options: Any = None, **named: Any) -> Promise:  # noqa: N802 - JavaScript's name
        """Begin an upload in parts."""
        metadata = _metadata(convert.options_of(options, named))
        work = lambda: R2MultipartUpload(self._store, key, self._store.create_upload(key, metadata))  # noqa: E731 - see `_promise`
        return _promise("createMultipartUpload", key, work)

    def resumeMultipartUpload(self, key: str, upload_id: str) -> R2MultipartUpload:  # noqa: N802 - JavaScript's name
        """Go on with an upload. Nothing is asked before its first call."""
        return R2MultipartUpload(self._store, key, upload_id)


class R2MultipartUpload(Partial):
    """`uploadPart(number, content)`, `complete(parts)`, `abort()`; `key`, `uploadId`."""

    def __init__(self, store: R2, key: str, upload_id: str) -> None:
        self._store, self.key, self.uploadId = store, key, upload_id

    def uploadPart(self, number: int, value: Any) -> Promise:  # noqa: N802 - JavaScript's name
        """Store a part; gives its `partNumber` and `etag`."""

        def work() -> JsDict:
            etag = self._store.upload_part(self.key, self.uploadId, number, _content(value))
            return JsDict(partNumber=number, etag=etag)

        return _promise("uploadPart", self.key, work)

    def complete(self, parts: Any) -> Promise:
        """Make the object of its parts; gives the R2Object."""
        listed = [(int(each["partNumber"]), str(each["etag"])) for each in map(_members, parts)]
        work = lambda: R2Object(self._store.complete_upload(self.key, self.uploadId, listed))  # noqa: E731 - see `_promise`
        return _promise("completeMultipartUpload", self.key, work)

    def abort(self) -> Promise:
        """Give it up."""
        return _promise("abortMultipartUpload", self.key, lambda: self._store.abort_upload(self.key, self.uploadId))


def _members(part: Any) -> dict[str, Any]:
    return convert.options_of(part, {})


def _promise(call: str, key: Any, work: Callable[[], Any]) -> Promise:
    """A call whose refusal reads as workerd's; a key that is not there gives None."""

    def told() -> Any:
        try:
            return work()
        except R2Refused as refused:
            if refused.code == _NO_SUCH_KEY:
                return None
            raise JsException(f"{call}: {refused}") from None

    return Promise(told, (f"R2 {call}", key))


def _content(value: Any) -> bytes:
    if value is None:
        return b""
    if isinstance(value, str | bytes | memoryview | JsBuffer | Blob):
        return content_of(value)
    raise NotEmulated(f"R2 put() of {type(value).__name__}", "give text, bytes or a Blob")


def _digest(given: Any) -> bytes:
    return bytes.fromhex(given) if isinstance(given, str) else bytes(given)


def _metadata(given: dict[str, Any]) -> Metadata:
    http = given.get("httpMetadata")
    rows: dict[str, Any] = {}
    if http is not None and hasattr(http, "get_all"):  # Headers
        names = {"-".join(_dashed(name)): name for name in _HTTP} | {"expires": "cacheExpiry"}
        rows = {names[name]: value for name, value in http.items() if name in names}
        if "cacheExpiry" in rows:
            rows["cacheExpiry"] = parsedate_to_datetime(rows["cacheExpiry"])
    else:
        rows = {name: value for name, value in convert.options_of(http, {}).items() if name in _HTTP}
    if isinstance(rows.get("cacheExpiry"), datetime):
        rows["cacheExpiry"] = JsTime.at(rows["cacheExpiry"]).getTime()
    custom = convert.options_of(given.get("customMetadata"), {})
    return Metadata(rows, {str(name): str(value) for name, value in custom.items()}, given.get("storageClass") or "Standard")


def _dashed(name: str) -> list[str]:
    return "".join(f" {each.lower()}" if each.isupper() else each for each in name).split()


def _http_value(name: str, value: Any) -> Any:
    return JsTime.of_ms(value) if name == "cacheExpiry" else value


def _range(given: Any) -> Range | None:
    if given is None:
        return None
    if hasattr(given, "get_all"):
        return Range(header=given.get("range"))
    asked = {name: int(value) for name, value in convert.options_of(given, {}).items()}
    return Range(asked.get("offset"), asked.get("length"), asked.get("suffix"))


def _condition(given: Any) -> Condition:
    if given is None:
        return NO_CONDITION
    asked = convert.options_of(given, {})
    return Condition(
        _etags(asked.get("etagMatches")),
        _etags(asked.get("etagDoesNotMatch")),
        _ms(asked.get("uploadedBefore")),
        _ms(asked.get("uploadedAfter")),
        bool(asked.get("secondsGranularity")),
    )


def _etags(given: Any) -> tuple[tuple[str, str], ...] | None:
    if given is None:
        return None
    return tuple(("wildcard" if each == "*" else "strong", each) for each in map(str.strip, str(given).split(",")))


def _ms(given: Any) -> int | None:
    if given is None:
        return None
    moment = given if given.tzinfo is not None else given.replace(tzinfo=UTC)
    return JsTime.at(moment).getTime()
