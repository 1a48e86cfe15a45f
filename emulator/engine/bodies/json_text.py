"""Content type json: what JSON.stringify makes of a value, as UTF-8, by msgspec; what msgspec does otherwise is in `stringify`.

What has no JSON form (sets, bytes, objects) raises TypeError, also where msgspec would take it.
"""

from __future__ import annotations

import json
from itertools import chain
from math import isfinite
from types import NoneType
from typing import Any, NoReturn

import msgspec

from emulator.engine.bodies.stringify import parse, stringify

_encode_lines = msgspec.json.Encoder().encode_lines
_decode, _decode_lines = msgspec.json.Decoder().decode, msgspec.json.Decoder().decode_lines
_TEXTS, _DICTS, _SEQUENCES = frozenset({str}), frozenset({dict}), frozenset({list, tuple})
_SCALARS = frozenset({str, int, float, bool, NoneType})
_MARK = b" "
"""Stands before long numbers in the bodies of version 0.1.0."""


def encode(value: object) -> bytes:
    """The JSON text of a value. Raises TypeError for what has none."""
    quickly = encode_plain([value])
    return stringify(value) if quickly is None else quickly[0]


def encode_plain(values: list[Any]) -> list[bytes] | None:
    """The JSON texts of a list (msgspec 0.22 leaks a tuple) of values at once; None where one of them is not for msgspec."""
    try:
        texts: list[bytes] = _encode_lines(values).split(b"\n")  # which copies: msgspec's own bytes have room for more
    except Exception:  # noqa: BLE001 - whatever msgspec has against a value, `stringify` decides
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


def decode_all(bodies: list[bytes]) -> list[Any]:
    """The values of several JSON texts at once, each a new one. Raises ValueError for what is not JSON."""
    try:
        values: list[Any] = _decode_lines(b"\n".join(bodies))
    except (msgspec.MsgspecError, RecursionError):
        values = []
    return values if len(values) == len(bodies) else [decode(body) for body in bodies]


def plain(body: bytes) -> bytes:
    """The JSON text itself, without the mark of version 0.1.0."""
    return body.removeprefix(_MARK)


def _is_plain(values: list[Any]) -> bool:
    """Whether values that msgspec has taken (so they have no circle) hold nothing that it takes and JavaScript does not.

    Level by level, each with a few sets of types: a turn of Python for each entry would cost more than the encoding.
    """
    level = [value for value in values if type(value) not in _SCALARS]
    while level:
        dicts, others = level, []
        if not _DICTS.issuperset(map(type, level)):
            dicts = [each for each in level if type(each) is dict]
            others = [each for each in level if type(each) is not dict]
            if not _SEQUENCES.issuperset(map(type, others)):
                return False
        if not _TEXTS.issuperset(map(type, chain.from_iterable(dicts))):
            return False
        if _SCALARS.issuperset(map(type, chain(chain.from_iterable(map(dict.values, dicts)), chain.from_iterable(others)))):
            return True
        entries = chain(chain.from_iterable(map(dict.values, dicts)), chain.from_iterable(others))
        level = [entry for entry in entries if type(entry) not in _SCALARS]
    return True
