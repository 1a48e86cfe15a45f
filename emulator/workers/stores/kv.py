"""Workers KV in memory: `get`, `getWithMetadata`, `put`, `delete`, `list`; what has a time to live expires on virtual time.

https://developers.cloudflare.com/kv/api/. Reads see the last write at once: eventual consistency is not emulated.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.workers.promise import Promise
from emulator.workers.python.errors import JsException, NotEmulated
from emulator.workers.python.javascript import convert
from emulator.workers.python.javascript.js_values import JsDict, JsList
from emulator.workers.python.runtime_names import Partial

if TYPE_CHECKING:
    from collections.abc import Callable

TTL_MIN_SECONDS = 60
"""The shortest time to live; likewise the nearest expiration."""
KEY_BYTES_MAX = 512
VALUE_BYTES_MAX = 25 * 1024 * 1024
LIST_MAX = 1_000
"""How many keys one `list()` gives at most."""


class _Entry(NamedTuple):
    value: bytes
    expiration: int | None
    metadata: Any


class KV(Partial):
    """A namespace. `now_ms` is the clock, in milliseconds since 1970."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._entries: dict[str, _Entry] = {}

    def put(self, key: str, value: Any, options: Any = None, **named: Any) -> Promise:
        """Write; `expirationTtl` (seconds, at least 60), `expiration` (seconds since 1970), `metadata`."""
        given = convert.options_of(options, named)
        return Promise(lambda: self._put(key, value, given), ("KV put", key))

    def get(self, key: Any, options: Any = None, **named: Any) -> Promise:
        """The value as `type` text (default), json or arrayBuffer; None where there is none. A list of keys gives a dict."""
        kind = _kind(options, named)
        if isinstance(key, list):
            return Promise(lambda: JsDict({each: self._read(each, kind)[0] for each in key}), ("KV get", key))
        return Promise(lambda: self._read(key, kind)[0], ("KV get", key))

    def getWithMetadata(self, key: str, options: Any = None, **named: Any) -> Promise:  # noqa: N802 - JavaScript's name
        """`{"value": …, "metadata": …}`; both None where there is none."""
        kind = _kind(options, named)
        names = ("value", "metadata", "cacheStatus")
        return Promise(lambda: JsDict(zip(names, (*self._read(key, kind), None), strict=True)), ("KV get", key))

    def delete(self, key: str) -> Promise:
        """Take a key away, if it is there."""
        return Promise(lambda: self._entries.pop(_key(key, "DELETE"), None) and None, ("KV delete", key))

    def list(self, options: Any = None, **named: Any) -> Promise:
        """Keys in order: `prefix`, `limit` (at most 1,000), `cursor`."""
        given = convert.options_of(options, named)
        return Promise(lambda: self._list(given), ("KV list", given.get("prefix") or ""))

    def _put(self, key: str, value: Any, given: dict[str, Any]) -> None:
        content = _bytes(value)
        if len(content) > VALUE_BYTES_MAX:
            message = f"Value length of {len(content)} exceeds limit of {VALUE_BYTES_MAX}."
            raise JsException(f"KV PUT failed: 413 {message}")
        now, expiration = self._now_ms() // 1_000, given.get("expiration")
        if given.get("expirationTtl") is not None:
            ttl = int(given["expirationTtl"])
            if ttl < TTL_MIN_SECONDS:
                text = f"Invalid expiration_ttl of {ttl}. Expiration TTL must be at least {TTL_MIN_SECONDS}."
                raise JsException(f"KV PUT failed: 400 {text}")
            expiration = now + ttl
        elif expiration is not None and int(expiration) < now + TTL_MIN_SECONDS:
            at_least = f"Expiration times must be at least {TTL_MIN_SECONDS} seconds in the future."
            text = f"Invalid expiration of {expiration}. {at_least}"
            raise JsException(f"KV PUT failed: 400 {text}")
        metadata = convert.stored(given.get("metadata"), as_json=True)
        self._entries[_key(key, "PUT")] = _Entry(content, None if expiration is None else int(expiration), metadata)

    def _alive(self, key: str) -> _Entry | None:
        entry = self._entries.get(key)
        if entry is not None and entry.expiration is not None and entry.expiration * 1_000 <= self._now_ms():
            del self._entries[key]
            return None
        return entry

    def _read(self, key: str, kind: str) -> tuple[Any, Any]:
        entry = self._alive(_key(key, "GET"))
        if entry is None:
            return None, None
        return _read_as(entry.value, kind), convert.python_from_rpc(entry.metadata)

    def _list(self, given: dict[str, Any]) -> JsDict:
        prefix, after = given.get("prefix") or "", given.get("cursor") or ""
        limit = min(int(given.get("limit") or LIST_MAX), LIST_MAX)
        names = sorted(name for name in list(self._entries) if name.startswith(prefix) and name > after and self._alive(name))
        page = names[:limit]
        keys = JsList(self._listed(name) for name in page)
        found = JsDict(keys=keys, list_complete=len(page) == len(names), cacheStatus=None)
        if not found.list_complete:
            found["cursor"] = page[-1]
        return found

    def _listed(self, name: str) -> JsDict:
        entry = self._entries[name]
        row = JsDict(name=name)
        if entry.expiration is not None:
            row["expiration"] = entry.expiration
        if entry.metadata is not None:
            row["metadata"] = convert.python_from_rpc(entry.metadata)
        return row


def _kind(options: Any, named: dict[str, Any]) -> str:
    if isinstance(options, str):
        return options
    return str(convert.options_of(options, named).get("type") or "text")


def _read_as(value: bytes, kind: str) -> Any:
    if kind == "text":
        return value.decode("utf-8", "replace")
    if kind == "json":
        return convert.python_from_rpc(json.loads(value))
    if kind == "arrayBuffer":
        return memoryview(value)
    if kind == "stream":
        raise NotEmulated("KV values as streams", "read them as text or arrayBuffer")
    message = 'Unknown response type. Possible types are "text", "arrayBuffer", "json", and "stream".'
    raise TypeError(message)


def _key(key: Any, verb: str) -> str:
    name = str(key)
    if not name:
        raise TypeError("Key name cannot be empty.")
    if name in {".", ".."}:
        message = f'"{name}" is not allowed as a key name.'
        raise TypeError(message)
    if len(name.encode()) > KEY_BYTES_MAX:
        text = f"UTF-8 encoded length of {len(name.encode())} exceeds key length limit of {KEY_BYTES_MAX}."
        raise JsException(f"KV {verb} failed: 414 {text}")
    return name


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes | memoryview):
        return bytes(value)
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value).encode()
    raise TypeError("KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values.")
