r"""One event as the bytes of its row and back: JSON, its kind first, then its fields; bodies that are UTF-8 stand as text.

`["Sent",1767225600000000,"jobs",["…id…"],["{\"n\":1}"],["json"],[1767225600000000]]`. An event that takes up the ids of
another one, in the same order, names its number instead: a batch of 100 would carry 3.5 KB of them three times.
msgspec writes and reads. What it refuses and an event may hold all the same (half a surrogate pair in the text of an error or
in a lease id) the standard library writes and reads, the half as the three bytes that UTF-8 would have for it: nothing that is
accepted is unreadable.
"""

from __future__ import annotations

import json
from base64 import b64decode
from typing import TYPE_CHECKING, Any, get_type_hints

import msgspec

from emulator.core.events import KINDS, Delivered, Event, LeasesSettled, Pulled, Sent, Settled, to_json

if TYPE_CHECKING:
    from collections.abc import Callable

_IDS: dict[type, int] = {Sent: 2, Delivered: 3, Settled: 5, Pulled: 2, LeasesSettled: 2}
"""Which field has the ids, of events that come in threes: sent, delivered or leased, acknowledged."""
_ORIGINS = (Sent, Delivered, Pulled)
"""The events whose ids another may name."""
_IDS_MIN = 4
_ORIGINS_MAX = 4_000


def _row_type(kind: type[Any]) -> Any:
    """What msgspec reads a row of that kind as, its name taken off."""
    if kind not in _IDS:
        return kind
    types = get_type_hints(kind)
    types[kind.__struct_fields__[_IDS[kind]]] |= int
    if kind is Sent:
        types["bodies"] = tuple[str | tuple[str], ...]
    defaults = dict(zip(reversed(kind.__struct_fields__), reversed(kind.__struct_defaults__), strict=False))
    fields = [(name, types[name], defaults.get(name, msgspec.NODEFAULT)) for name in kind.__struct_fields__]
    return msgspec.defstruct(kind.__name__, fields, bases=(), array_like=True, forbid_unknown_fields=True)


_ROWS = {name: _row_type(kind) for name, kind in KINDS.items()}
_READERS = {name: msgspec.json.Decoder(row) for name, row in _ROWS.items()}
_encode = msgspec.json.Encoder().encode


class RowWriter:
    """Makes rows in order, and remembers whose ids the next ones may name."""

    __slots__ = ("_origins",)

    def __init__(self) -> None:
        self._origins: dict[tuple[str, ...], int] = {}

    def forget(self) -> None:
        """What was made last was not written, and may not be named."""
        self._origins.clear()

    def row(self, seq: int, event: Event) -> bytes:
        """The bytes of event number `seq`. Raises TypeError for what no event holds."""
        row = to_json(event)
        at = _IDS.get(type(event))
        if at is not None and len(row[at + 1]) >= _IDS_MIN:
            self._shorten(row, at, seq, event)
        try:
            return _encode(row)
        except (TypeError, UnicodeEncodeError):
            text = json.dumps(row, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
            return text.encode("utf-8", "surrogatepass")  # and not as escapes, of which two halves would become one character

    def _shorten(self, row: list[Any], at: int, seq: int, event: Event) -> None:
        ids: tuple[str, ...] = row[at + 1]
        origin = self._origins.get(ids)
        if origin is not None and type(event) is not Sent:
            row[at + 1] = origin
        elif isinstance(event, _ORIGINS):
            if len(self._origins) >= _ORIGINS_MAX:
                self._origins.clear()
            self._origins[ids] = seq


class RowReader:
    """Reads rows in order. `fetch` gives the bytes of an earlier row, for ids that are named and were not met."""

    __slots__ = ("_fetch", "_ids")

    def __init__(self, fetch: Callable[[int], bytes]) -> None:
        self._fetch = fetch
        self._ids: dict[int, tuple[str, ...]] = {}

    def event(self, seq: int, data: bytes) -> Event:
        """Event number `seq`. Raises ValueError or LookupError for bytes that no event has."""
        kind, row = _parsed(data)
        at = _IDS.get(kind)
        if at is not None:
            fields = list(msgspec.structs.astuple(row))
            if type(fields[at]) is int:
                fields[at] = self._ids_of(fields[at])
            if kind is Sent:
                fields[3] = tuple(map(_body, fields[3]))
            row = kind(*fields)
        event: Event = row
        if isinstance(event, _ORIGINS):
            if len(self._ids) >= _ORIGINS_MAX:
                self._ids.clear()
            self._ids[seq] = event.ids
        return event

    def _ids_of(self, seq: int) -> tuple[str, ...]:
        if seq in self._ids:
            return self._ids[seq]
        kind, row = _parsed(self._fetch(seq))
        ids: tuple[str, ...] = msgspec.structs.astuple(row)[_IDS[kind]]
        return ids


def _parsed(data: bytes) -> tuple[type, Any]:
    name = data[2 : data.index(b'"', 2)].decode()
    fields = b"[" + data[len(name) + 4 :]
    try:
        return KINDS[name], _READERS[name].decode(fields)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return KINDS[name], msgspec.convert(json.loads(fields.decode("utf-8", "surrogatepass")), _ROWS[name])


def _body(text: str | tuple[str]) -> bytes:
    return text.encode() if type(text) is str else b64decode(text[0])
