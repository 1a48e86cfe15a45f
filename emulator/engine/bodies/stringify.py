"""JSON.stringify for any value, and its way back: what msgspec does not do, or does otherwise than JavaScript.

NaN and the infinities become null; keys that are numbers, booleans or None become the strings that JavaScript would make of
them; a datetime becomes `2026-01-01T00:00:00.000Z` (without a zone it is taken as UTC); a tuple is an array, an Enum its value,
a UUID a string; half a surrogate pair is escaped. Nothing here recurses: a body may be nested as deep as its size allows.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from math import isfinite
from typing import Any
from uuid import UUID

import msgspec

from emulator.engine.bodies.undefined import UNDEFINED

_WITHOUT_EXPONENT = (1e-6, 1e21)
"""From here to there JavaScript writes numbers without an exponent."""


def stringify(value: object) -> bytes:
    """The JSON text of a value. Raises TypeError for what has none, and for what contains itself."""
    text: list[str] = []
    above: set[int] = set()
    todo: list[tuple[str, Any]] = [("", value)]  # what stands before a value, and the value; or a bracket and what it closes
    while todo:
        before, each = todo.pop()
        text.append(before)
        if before in {"]", "}"}:
            above.discard(id(each))
            continue
        while isinstance(each, Enum):
            each = each.value
        if (leaf := _leaf(each)) is not None:
            text.append(leaf)
            continue
        if id(each) in above:
            raise TypeError("Converting circular structure to JSON")
        above.add(id(each))
        if isinstance(each, dict):
            members = {key_text(key): entry for key, entry in each.items() if entry is not UNDEFINED}
            inner = [(f"{_quoted(key)}:", entry) for key, entry in members.items()]
            opening, closing = "{}"
        else:
            inner = [("", None if entry is UNDEFINED else entry) for entry in each]
            opening, closing = "[]"
        text.append(opening)
        todo.append((closing, each))
        todo += [(f",{before}" if place else before, entry) for place, (before, entry) in enumerate(inner)][::-1]
    return "".join(text).encode()


def _leaf(value: Any) -> str | None:
    """The JSON text of a value that holds no other; None for one that may. Raises TypeError for what has no JSON form."""
    if isinstance(value, str):
        return _quoted(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return "null" if not isfinite(value) else _shortest(float(value))
    if isinstance(value, datetime):
        return f'"{_instant(value)}"'
    if isinstance(value, date):
        return f'"{_instant(datetime(value.year, value.month, value.day, tzinfo=UTC))}"'
    if isinstance(value, UUID):
        return f'"{value}"'
    if isinstance(value, dict | list | tuple):
        return None
    message = f'{type(value).__name__} has no JSON form; content type "v8" keeps datetime, set and bytes'
    raise TypeError(message)


def _quoted(text: str) -> str:
    """A text in quotes. Two halves of a surrogate pair are one character, and half a pair is escaped."""
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return json.encoder.encode_basestring(joined).encode("utf-8", "backslashreplace").decode()


def _instant(value: datetime) -> str:
    """What Date.toJSON gives."""
    utc = (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(UTC)
    return f"{utc.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def key_text(key: object) -> str:
    """A property's name as JavaScript makes it of a value."""
    while isinstance(key, Enum):
        key = key.value
    if isinstance(key, str):
        return str.__str__(key)
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    if isinstance(key, int):
        return int.__repr__(key)
    if isinstance(key, float):
        return _number_text(float(key))
    message = f"keys must be str, int, float, bool or None, not {type(key).__name__}"
    raise TypeError(message)


def _number_text(number: float) -> str:
    """A number as JavaScript's String() writes it."""
    if not isfinite(number):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[repr(number)]
    if not number:
        return "0"
    if _WITHOUT_EXPONENT[0] <= abs(number) < _WITHOUT_EXPONENT[1]:
        return f"{Decimal(repr(number)):f}".removesuffix(".0")
    return re.sub(r"e(?=\d)", "e+", _shortest(number))


def _shortest(number: float) -> str:
    """A finite number's shortest text, as JSON has it: 1e-7, 1.5, 100.0."""
    return msgspec.json.encode(number).decode()


_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+', re.DOTALL)


def parse(text: str) -> Any:
    """The value of a JSON text, however deep it is nested."""
    outermost: list[Any] = []
    above: list[Any] = []
    inner: Any = outermost
    keys: list[str] = []
    named = False  # whether the innermost object's next piece is a value, whose key is the last of `keys`
    for piece in _PIECE.findall(text):
        if piece in {"]", "}"}:
            inner = above.pop()
        elif piece == ":":
            named = True
        elif piece == ",":
            continue
        elif type(inner) is dict and not named:
            keys.append(json.loads(piece))
        else:
            entry: Any = [] if piece == "[" else {} if piece == "{" else json.loads(piece)
            if type(inner) is dict:
                inner[keys.pop()], named = entry, False
            else:
                inner.append(entry)
            if piece in {"[", "{"}:
                above.append(inner)
                inner = entry
    (value,) = outermost
    return value
