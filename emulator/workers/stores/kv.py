"""Workers KV as a Python Worker has it: `get`, `getWithMetadata`, `put`, `delete`, `list`.

https://developers.cloudflare.com/kv/api/.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from emulator.workers.promise import Promise
from emulator.workers.python.errors import JsException, NotEmulated
from emulator.workers.python.javascript import convert
from emulator.workers.python.javascript.js_values import JsDict, JsList
from emulator.workers.python.runtime_names import Partial
from emulator.workers.stores.kv_namespace import LIST_MAX, Entry, KvRefused, Namespace

if TYPE_CHECKING:
    from collections.abc import Callable


class KV(Partial):
    """A namespace as a Python Worker's binding. `now_ms` is the clock, in milliseconds since 1970."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._namespace = Namespace(now_ms)

    @property
    def namespace(self) -> Namespace:
        """What it stores."""
        return self._namespace

    def put(self, key: str, value: Any, options: Any = None, **named: Any) -> Promise:
        """Write; `expirationTtl` (seconds, at least 60), `expiration` (seconds since 1970), `metadata`."""
        given = convert.options_of(options, named)
        return _promise(lambda: self._put(key, value, given), ("KV put", key))

    def get(self, key: Any, options: Any = None, **named: Any) -> Promise:
        """The value as `type` text (default), json or arrayBuffer; None where there is none. A list of keys gives a dict."""
        kind = _kind(options, named)
        if isinstance(key, list):
            return _promise(lambda: JsDict({each: self._read(each, kind)[0] for each in key}), ("KV get", key))
        return _promise(lambda: self._read(key, kind)[0], ("KV get", key))

    def getWithMetadata(self, key: str, options: Any = None, **named: Any) -> Promise:  # noqa: N802 - JavaScript's name
        """`{"value": …, "metadata": …}`; both None where there is none."""
        kind = _kind(options, named)
        names = ("value", "metadata", "cacheStatus")
        return _promise(lambda: JsDict(zip(names, (*self._read(key, kind), None), strict=True)), ("KV get", key))

    def delete(self, key: str) -> Promise:
        """Take a key away, if it is there."""
        return _promise(lambda: self._namespace.delete(str(key)), ("KV delete", key))

    def list(self, options: Any = None, **named: Any) -> Promise:
        """Keys in order: `prefix`, `limit` (at most 1,000), `cursor`."""
        given = convert.options_of(options, named)
        return _promise(lambda: self._list(given), ("KV list", given.get("prefix") or ""))

    def _put(self, key: str, value: Any, given: dict[str, Any]) -> None:
        ttl, expiration = given.get("expirationTtl"), given.get("expiration")
        self._namespace.put(
            str(key), _bytes(value), ttl_seconds=None if ttl is None else int(ttl),
            expiration=None if expiration is None else int(expiration),
            metadata=convert.stored(given.get("metadata"), as_json=True),
        )  # fmt: skip

    def _read(self, key: str, kind: str) -> tuple[Any, Any]:
        entry = self._namespace.get(str(key))
        if entry is None:
            return None, None
        return _read_as(entry.value, kind), convert.python_from_rpc(entry.metadata)

    def _list(self, given: dict[str, Any]) -> JsDict:
        limit = int(given.get("limit") or LIST_MAX)
        page = self._namespace.list(given.get("prefix") or "", limit, given.get("cursor") or "")
        keys = JsList(_listed(name, entry) for name, entry in page.entries.items())
        found = JsDict(keys=keys, list_complete=page.cursor is None, cacheStatus=None)
        if page.cursor is not None:
            found["cursor"] = page.cursor
        return found


def _promise(work: Callable[[], Any], what: Any) -> Promise:
    def told() -> Any:
        try:
            return work()
        except KvRefused as refused:
            raise JsException(str(refused)) from None

    return Promise(told, what)


def _listed(name: str, entry: Entry) -> JsDict:
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


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes | memoryview):
        return bytes(value)
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value).encode()
    raise TypeError("KV put() accepts only strings, ArrayBuffers, ArrayBufferViews, and ReadableStreams as values.")
