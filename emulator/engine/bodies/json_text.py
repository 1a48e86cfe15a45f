"""Content type json: what JSON.stringify makes of a value, as UTF-8, by msgspec; what msgspec does otherwise is in `stringify`.

What has no JSON form (sets, bytes, objects) raises TypeError, also where msgspec would take it.
"""

from __future__ import annotations

import json
from itertools import chain
from math import isfinite
from types import NoneType
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from emulator.engine.bodies.stringify import parse, stringify

if TYPE_CHECKING:
    from collections.abc import Sequence

_encode_lines = msgspec.json.Encoder().encode_lines
_decode, _decode_lines = msgspec.json.Decoder().decode, msgspec.json.Decoder().decode_lines
_SCALARS = frozenset({str, int, float, bool, NoneType})
_PLAIN, _DICT, _TEXT = _SCALARS | {dict, list, tuple}, frozenset({dict}), frozenset({str})
_flat = chain.from_iterable
_MARK = b" "
"""Stands before long numbers in the bodies of version 0.1.0."""


def encode(value: object) -> bytes:
    """The JSON text of a value. Raises TypeError for what has none."""
    try:
        text: bytes = _encode_lines([value])[:-1]  # a copy: msgspec's own bytes have room for more
    except Exception:  # noqa: BLE001 - whatever msgspec has against a value, `stringify` decides
        return stringify(value)
    return text if _is_flat(value) or _is_plain([value]) else stringify(value)


def encode_plain(values: list[Any]) -> list[bytes] | None:
    """The JSON texts of a list (msgspec 0.22 leaks a tuple) of values at once; None where one of them is not for msgspec."""
    try:
        texts: list[bytes] = _encode_lines(values).split(b"\n")
    except Exception:  # noqa: BLE001 - as above
        return None
    texts.pop()
    return texts if _is_plain(values) else None


def encode_parsed(values: list[Any]) -> list[bytes]:
    """The JSON texts of values that JSON was parsed to, so that nothing is among them that has none."""
    try:
        texts: list[bytes] = _encode_lines(values).split(b"\n")
    except (ValueError, RecursionError):  # half a surrogate pair, or nested deeper than msgspec goes
        return [stringify(value) for value in values]
    texts.pop()
    return texts


def parse_strictly(raw: bytes, *, finite: bool = False) -> Any:
    """The value of what somebody sends, where msgspec takes less than JavaScript does. Raises ValueError, RecursionError.

    `finite` refuses a number such as 1e999, too, which is Infinity to JavaScript, and null when it writes it.
    """
    return json.loads(raw.decode(), parse_constant=_refuse, parse_float=_finite if finite else None)


def _finite(text: str) -> float:
    return float(text) if isfinite(float(text)) else _refuse(text)


def _refuse(constant: str) -> NoReturn:
    message = f"{constant} is no JSON"
    raise ValueError(message)


def told(value: object, *, indent: int | None = None, ascii_only: bool = False) -> str:
    """A text of any value for people: JSON where it has such a form, else what `str` makes of it. Not to be read back."""
    return json.dumps(value, default=str, indent=indent, ensure_ascii=ascii_only)


def decode(body: bytes) -> Any:
    """The value of a JSON text: a new one with every call. Raises ValueError for what is not JSON."""
    try:
        return _decode(body)
    except (msgspec.MsgspecError, RecursionError):  # half a surrogate pair, or nested deeper than msgspec goes
        text = body.decode()
    try:
        return json.loads(text)
    except RecursionError:
        return parse(text)


def decode_all(bodies: Sequence[bytes]) -> list[Any]:
    """The values of several JSON texts at once, each a new one. Raises ValueError for what is not JSON."""
    try:
        values: list[Any] = _decode_lines(b"\n".join(bodies))
    except (msgspec.MsgspecError, RecursionError):
        values = []
    return values if len(values) == len(bodies) else [decode(body) for body in bodies]


def plain(body: bytes) -> bytes:
    """The JSON text itself, without the mark of version 0.1.0."""
    return body.removeprefix(_MARK)


def _is_flat(value: object) -> bool:
    """Whether a value is a scalar or an object of scalars: the quick answer for most that are sent alone."""
    if type(value) is not dict:
        return type(value) in _SCALARS
    return _TEXT.issuperset(map(type, value)) and _SCALARS.issuperset(map(type, value.values()))


def _is_plain(values: list[Any]) -> bool:
    """Whether values that msgspec has taken (so they have no circle) hold nothing that it takes and JavaScript does not.

    Level by level, each with a few calls for all of it: a turn of Python for each entry would cost more than the encoding.
    """
    level, kinds = values, set(map(type, values))
    while not kinds <= _SCALARS:
        if not kinds <= _PLAIN:
            return False
        dicts = level if kinds == _DICT else [each for each in level if type(each) is dict]
        others = [each for each in level if type(each) is list or type(each) is tuple] if len(dicts) < len(level) else []
        try:
            "".join(_flat(dicts))
        except TypeError:  # a key that is no text
            return False
        kinds = set(map(type, _flat(map(dict.values, dicts)))).union(map(type, _flat(others)))
        if not kinds <= _SCALARS:
            level = [each for each in chain(_flat(map(dict.values, dicts)), _flat(others)) if type(each) not in _SCALARS]
            kinds -= _SCALARS
    return True
