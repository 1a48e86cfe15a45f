"""Content type json: what JSON.stringify makes of a value, as UTF-8. orjson does the common case when it is installed.

NaN and the infinities become null; keys that are numbers, booleans or None become the strings that JavaScript would make of
them; a datetime becomes `2026-01-01T00:00:00.000Z` (without a zone it is taken as UTC); a tuple is an array, an Enum its value,
a UUID a string. What has no JSON form (sets, bytes, objects) raises TypeError. With orjson or without, the values are the same:
what orjson does not do, or does otherwise, takes the slow path. A leading space marks numbers that orjson cannot read exactly.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime
from enum import Enum
from math import isfinite
from typing import TYPE_CHECKING, Any
from uuid import UUID

if TYPE_CHECKING:
    from collections.abc import Callable

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]

_EXACT = b" "  # the first byte of a body that only the standard library reads exactly
_LONG_NUMBER = re.compile(r"\d{19}")
_stringify = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def _encode_with_standard_library(value: object) -> bytes:
    text = _stringify(value)
    return text.encode() if _LONG_NUMBER.search(text) is None else _marked(text.encode(), value)


def _marked(body: bytes, value: object) -> bytes:
    """The text, with the mark if there is a number in it that orjson does not read exactly."""
    return _EXACT + body if _has_big_number(value) else body


def _has_big_number(value: object) -> bool:
    if isinstance(value, dict):
        return any(_has_big_number(entry) for entry in value.values())
    if isinstance(value, list | tuple):
        return any(_has_big_number(entry) for entry in value)
    return isinstance(value, int) and not -(2**63) <= value < 2**64


def _encoder() -> Callable[[object], bytes]:
    if orjson is None:
        return _encode_with_standard_library
    options = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS
    dumps = orjson.dumps
    return lambda value: b"%b" % dumps(value, None, options)  # a copy: what orjson gives holds on to a page of 4 KB


_encode_fast = _encoder()
_decode_fast: Callable[[bytes], Any] = json.loads if orjson is None else orjson.loads


def encode(value: object) -> bytes:
    """The JSON text of a value. Raises TypeError for what has none."""
    try:
        return _encode_fast(value)
    except (TypeError, ValueError, RecursionError):
        return _encode_slowly(value)


def encode_all(values: list[Any]) -> list[bytes]:
    """The JSON texts of several values. Raises TypeError for one that has none."""
    fast = _encode_fast
    try:
        return [fast(value) for value in values]
    except (TypeError, ValueError, RecursionError):
        return [encode(value) for value in values]


def decode(body: bytes) -> Any:
    """The value of a JSON text: a new one with every call. Raises ValueError for what is not JSON."""
    if body[0] == _EXACT[0]:
        return json.loads(body)
    try:
        return _decode_fast(body)
    except (ValueError, RecursionError):
        return json.loads(body)


def _encode_slowly(value: object) -> bytes:
    try:
        tree = _plain(value, ())
        text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        raise TypeError("Converting circular structure to JSON") from None
    try:
        body = text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair: JSON.stringify escapes it
        body = json.dumps(tree, separators=(",", ":")).encode()
    return _marked(body, tree)


def plain(body: bytes) -> bytes:
    """The JSON text itself, without the mark."""
    return body[1:] if body[0] == _EXACT[0] else body


def _plain(value: Any, above: tuple[int, ...]) -> Any:
    """Nothing but dict, list, str, int, finite float, bool and None."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Enum):
        return _plain(value.value, above)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if isfinite(value) else None
    if isinstance(value, datetime):
        return _instant(value)
    if isinstance(value, date):
        return _instant(datetime(value.year, value.month, value.day, tzinfo=UTC))
    if isinstance(value, UUID):
        return str(value)
    if id(value) in above:
        raise TypeError("Converting circular structure to JSON")
    within = (*above, id(value))
    if isinstance(value, dict):
        return {_key(key): _plain(entry, within) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry, within) for entry in value]
    message = f'{type(value).__name__} has no JSON form; content type "v8" keeps datetime, set and bytes'
    raise TypeError(message)


def _instant(value: datetime) -> str:
    """What Date.toJSON gives."""
    utc = (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


def _key(key: object) -> str:
    """A property's name as JavaScript makes it of a value."""
    if isinstance(key, Enum):
        key = key.value
    if isinstance(key, str):
        return str(key)
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, int):
        return int.__repr__(key)
    if isinstance(key, float):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}.get(repr(key), float.__repr__(key))
    message = f"keys must be str, int, float, bool or None, not {type(key).__name__}"
    raise TypeError(message)
