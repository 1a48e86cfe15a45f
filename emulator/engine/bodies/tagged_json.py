"""Bodies of content type v8 as version 0.1.0 stored them: JSON with tags. They are only read; V8's start otherwise."""

from __future__ import annotations

import json
from base64 import b64decode
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def decode(body: bytes) -> Any:
    """The value of a body: a new one with every call. Raises ValueError for what is none."""
    return _plain(json.loads(body))


def _plain(tagged: Any) -> Any:
    if type(tagged) is list:
        return [_plain(entry) for entry in tagged]
    if type(tagged) is dict:
        ((tag, content),) = tagged.items()
        return _READERS[tag](content)
    return tagged


_READERS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "dict": lambda pairs: {_plain(key): _plain(entry) for key, entry in pairs},
    "tuple": lambda entries: tuple(map(_plain, entries)),
    "set": lambda entries: set(map(_plain, entries)),
    "frozenset": lambda entries: frozenset(map(_plain, entries)),
    "bytes": b64decode,
    "bytearray": lambda text: bytearray(b64decode(text)),
    "datetime": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "timedelta": lambda parts: timedelta(*parts),
}
