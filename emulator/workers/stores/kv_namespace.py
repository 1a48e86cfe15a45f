"""A KV namespace in memory: keys, values, metadata; what has a time to live expires on virtual time.

https://developers.cloudflare.com/kv/api/. Reads see the last write at once: eventual consistency is not emulated. Whoever
speaks to a Worker (a Python Worker's binding, workerd's wire) stands before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

TTL_MIN_SECONDS = 60
"""The shortest time to live; likewise the nearest expiration."""
KEY_BYTES_MAX = 512
VALUE_BYTES_MAX = 25 * 1024 * 1024
LIST_MAX = 1_000
"""How many keys one `list()` gives at most."""


class KvRefused(Exception):  # noqa: N818 - what happened to the call
    """A call is refused, with the HTTP status and the text that production has."""

    def __init__(self, verb: str, status: int, text: str) -> None:
        super().__init__(f"KV {verb} failed: {status} {text}")
        self.status, self.text = status, text


class Entry(NamedTuple):
    """A value, when it expires (seconds since 1970), and what was said of it."""

    value: bytes
    expiration: int | None
    metadata: Any


class Page(NamedTuple):
    """One page of a listing, in order of key. `cursor` is None on the last."""

    entries: dict[str, Entry]
    cursor: str | None


class Namespace:
    """A namespace. `now_ms` is the clock, in milliseconds since 1970."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self._now_ms = now_ms
        self._entries: dict[str, Entry] = {}

    def put(
        self, key: str, value: bytes, *, ttl_seconds: int | None = None, expiration: int | None = None, metadata: Any = None
    ) -> None:
        """Write. Raises KvRefused for a key, a value or an expiration that is not allowed."""
        if len(value) > VALUE_BYTES_MAX:
            raise KvRefused("PUT", 413, f"Value length of {len(value)} exceeds limit of {VALUE_BYTES_MAX}.")
        now = self._now_ms() // 1_000
        if ttl_seconds is not None:
            if ttl_seconds < TTL_MIN_SECONDS:
                text = f"Invalid expiration_ttl of {ttl_seconds}. Expiration TTL must be at least {TTL_MIN_SECONDS}."
                raise KvRefused("PUT", 400, text)
            expiration = now + ttl_seconds
        elif expiration is not None and expiration < now + TTL_MIN_SECONDS:
            at_least = f"Expiration times must be at least {TTL_MIN_SECONDS} seconds in the future."
            raise KvRefused("PUT", 400, f"Invalid expiration of {expiration}. {at_least}")
        self._entries[checked(key, "PUT")] = Entry(value, expiration, metadata)

    def held(self) -> list[tuple[Any, ...]]:
        """All of it, as plain values."""
        return [(key, *entry) for key, entry in self._entries.items()]

    def get(self, key: str) -> Entry | None:
        """What stands under a key; None where there is nothing. Raises KvRefused."""
        return self._alive(checked(key, "GET"))

    def delete(self, key: str) -> None:
        """Take a key away, if it is there. Raises KvRefused."""
        self._entries.pop(checked(key, "DELETE"), None)

    def list(self, prefix: str = "", limit: int = LIST_MAX, cursor: str = "") -> Page:
        """Keys in order, a page of them."""
        names = sorted(name for name in list(self._entries) if name.startswith(prefix) and name > cursor and self._alive(name))
        page = names[: min(limit, LIST_MAX)]
        return Page({name: self._entries[name] for name in page}, page[-1] if len(page) < len(names) and page else None)

    def _alive(self, key: str) -> Entry | None:
        entry = self._entries.get(key)
        if entry is not None and entry.expiration is not None and entry.expiration * 1_000 <= self._now_ms():
            del self._entries[key]
            return None
        return entry


def checked(key: str, verb: str) -> str:
    """A key that may be one. Raises KvRefused, and TypeError in the runtime's words."""
    if not key:
        raise TypeError("Key name cannot be empty.")
    if key in {".", ".."}:
        message = f'"{key}" is not allowed as a key name.'
        raise TypeError(message)
    if len(key.encode()) > KEY_BYTES_MAX:
        text = f"UTF-8 encoded length of {len(key.encode())} exceeds key length limit of {KEY_BYTES_MAX}."
        raise KvRefused(verb, 414, text)
    return key
