"""Content type v8: Python's equivalent of structured clone, written as JSON with tags.

Kept exactly: None, bool, int of any size, float (NaN and Infinity too), str, bytes, bytearray, datetime, date, time, timedelta,
list, tuple, set, frozenset and dict with any of these as keys, nested as deep as Python goes. A zone becomes its offset. Two
references to one list become two lists. Anything else, and what contains itself, cannot be cloned. Sets are written sorted, so
that equal values have equal bytes.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from datetime import date, datetime, time, timedelta
from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class DataCloneError(TypeError):
    """A value cannot be cloned: it is none of the kinds that content type v8 keeps, or it contains itself."""

    def __init__(self, value: object) -> None:
        super().__init__(f"{value!r} could not be cloned.")


def encode(value: object) -> bytes:
    """The bytes of a value. Raises DataCloneError."""
    return _text(_tagged(value, ())).encode()


def decode(body: bytes) -> Any:
    """The value again: a new one with every call."""
    return _plain(json.loads(body))


def _text(tagged: object) -> str:
    return json.dumps(tagged, separators=(",", ":"))


def _tagged(value: object, above: tuple[int, ...]) -> object:
    kind = type(value)
    if value is None or kind in {bool, int, str}:
        return value
    if kind is float:
        return value if isfinite(value) else {"float": repr(value)}  # type: ignore[arg-type]
    if id(value) in above:
        raise DataCloneError(value)
    within = (*above, id(value))
    if kind is list:
        return [_tagged(entry, within) for entry in value]  # type: ignore[attr-defined]
    if kind is dict:
        return {"dict": [[_tagged(key, within), _tagged(entry, within)] for key, entry in value.items()]}  # type: ignore[attr-defined]
    if kind is tuple:
        return {"tuple": [_tagged(entry, within) for entry in value]}  # type: ignore[attr-defined]
    if kind in {set, frozenset}:
        return {kind.__name__: sorted((_tagged(entry, within) for entry in value), key=_text)}  # type: ignore[attr-defined]
    if kind in {bytes, bytearray}:
        return {kind.__name__: b64encode(value).decode()}  # type: ignore[arg-type]
    if kind in {datetime, date, time}:
        return {kind.__name__: value.isoformat()}  # type: ignore[attr-defined]
    if kind is timedelta:
        return {"timedelta": [value.days, value.seconds, value.microseconds]}  # type: ignore[attr-defined]
    raise DataCloneError(value)


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
