"""Content type v8: a value as V8's own ValueSerializer writes it in workerd, byte for byte, so that its size is the real one.

None is null; int, float and bool are numbers and booleans, and an int beyond 2**53 a BigInt; str has one byte a character, or
two where one of them is beyond Latin-1; bytes, bytearray, memoryview and array are typed arrays; datetime and date are Dates in
milliseconds (without a zone: UTC); list and tuple are arrays; a dict is an object, or a Map where a key is no str; set and
frozenset are Sets, a compiled pattern is a RegExp, an exception an Error. What stands in two places, or in itself, is written
once. Nothing here recurses: a body may be nested as deep as its size allows.
"""

from __future__ import annotations

import re
from array import array
from datetime import UTC, date, datetime, timedelta
from math import copysign
from struct import pack
from typing import TYPE_CHECKING, Any

from emulator.engine.bodies.undefined import UNDEFINED
from emulator.engine.bodies.v8_values import (
    ERROR_TAGS,
    HEADER,
    REGEXP_FLAGS,
    SAFE_MAX,
    SMI_MAX,
    SMI_MIN,
    BigInt,
    ClonedError,
    ClonedMap,
    DataCloneError,
)  # fmt: skip
from emulator.engine.error_text import error_message, error_name

if TYPE_CHECKING:
    from collections.abc import Iterator

_MILLISECOND = timedelta(milliseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_INDEX_MAX = 2**32 - 2
"""Text of whole numbers up to here are an object's integer keys: they come first, in order, as numbers."""
_TAGS_BY_FORMAT = {
    "b": "b", "h": "w", "i": "d", "l": "q", "q": "q", "B": "B", "H": "W", "I": "D", "L": "Q", "Q": "Q", "c": "B", "e": "h",
    "f": "f", "d": "F",
}  # fmt: skip


def encode(value: object) -> bytes:
    """The bytes of a value. Raises DataCloneError for what cannot be cloned."""
    writer = _Writer()
    inner: list[Iterator[Any]] = [iter((value,))]  # what is being written, each with what is still to be written of it
    while inner:
        for each in inner[-1]:
            entries = writer.begin(each)
            if entries is not None:
                inner.append(entries)
                break
        else:
            inner.pop()
    return bytes(writer.out)


class _Writer:
    def __init__(self) -> None:
        self.out = bytearray(HEADER)
        self._places: dict[int, int] = {}
        self._count = 0

    def begin(self, value: Any) -> Iterator[Any] | None:
        """Write a value; of one that holds others, what comes before them: what is returned yields them and writes the rest."""
        if value is None or value is UNDEFINED or isinstance(value, bool):
            self.out += {None: b"0", UNDEFINED: b"_", True: b"T", False: b"F"}[value]
        elif isinstance(value, int | float):
            self._number(value)
        elif isinstance(value, str):
            self._string(value)
        elif id(value) in self._places:
            self.out += b"^" + _varint(self._places[id(value)])
        else:
            return self._object(value)
        return None

    def _object(self, value: Any) -> Iterator[Any] | None:
        if isinstance(value, bytes | bytearray | memoryview | array):
            self._view(value)
            return None
        self._take_place(value)
        if isinstance(value, dict):
            plain = not isinstance(value, ClonedMap) and all(isinstance(key, str) for key in value)
            return self._members(value) if plain else self._map(value)
        if isinstance(value, list | tuple):
            return self._array(value)
        if isinstance(value, set | frozenset):
            return self._set(value)
        if isinstance(value, BaseException):
            return self._error(value)
        if isinstance(value, date):
            self._date(value)
        elif isinstance(value, re.Pattern):
            self._regexp(value)
        else:
            raise DataCloneError(value)
        return None

    def _take_place(self, value: object) -> None:
        self._places[id(value)] = self._count
        self._count += 1

    def _number(self, value: float) -> None:
        if isinstance(value, BigInt) or (isinstance(value, int) and abs(value) > SAFE_MAX):
            size_bytes = (value.bit_length() + 63) // 64 * 8
            self.out += b"Z" + _varint(size_bytes << 1 | (value < 0)) + abs(value).to_bytes(size_bytes, "little")
        elif _is_smi(value):
            whole = int(value)
            self.out += b"I" + _varint(whole << 1 if whole >= 0 else ~(whole << 1))
        else:
            self.out += pack("<cd", b"N", value)

    def _string(self, value: str) -> None:
        try:
            text = value.encode("latin-1")
            self.out += b'"' + _varint(len(text)) + text
        except UnicodeEncodeError:
            text = value.encode("utf-16-le", "surrogatepass")
            size = _varint(len(text))
            if (len(self.out) + 1 + len(size)) % 2:
                self.out += b"\0"  # two-byte characters begin at even places
            self.out += b"c" + size + text

    def _view(self, value: bytes | bytearray | memoryview | array[Any]) -> None:
        view = memoryview(value)
        tag = _TAGS_BY_FORMAT.get(view.format.lstrip("<=@"))
        if tag is None:
            raise DataCloneError(value)
        if view.format[-1] in "lL" and view.itemsize == 4:  # noqa: PLR2004 - as on Windows
            tag = {"q": "d", "Q": "D"}[tag]
        self._count += 1  # its buffer, which stands before it
        self._take_place(value)
        size = _varint(view.nbytes)
        self.out += b"B" + size + view.tobytes() + b"V" + tag.encode() + b"\0" + size + b"\0"

    def _date(self, value: date) -> None:
        moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day, tzinfo=UTC)
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
        self.out += pack("<cd", b"D", since // _MILLISECOND)

    def _regexp(self, value: re.Pattern[Any]) -> None:
        if not isinstance(value.pattern, str) or value.flags & re.VERBOSE:
            raise DataCloneError(value)
        self.out += b"R"
        self._string(_JAVASCRIPT_GROUPS.sub(_in_javascript, value.pattern))
        self.out += _varint(sum(bit for flag, bit in REGEXP_FLAGS.items() if value.flags & flag))

    def _members(self, value: dict[str, Any]) -> Iterator[Any]:
        self.out += b"o"
        indices = sorted(index for index in map(_index, value) if index is not None)
        for index in indices:
            self._number(index)
            yield value[str(index)]
        for key, entry in value.items():
            if _index(key) is None:
                self._string(key)
                yield entry
        self.out += b"{" + _varint(len(value))

    def _map(self, value: dict[Any, Any]) -> Iterator[Any]:
        self.out += b";"
        for pair in value.items():
            yield from pair
        self.out += b":" + _varint(2 * len(value))

    def _set(self, value: set[Any] | frozenset[Any]) -> Iterator[Any]:
        self.out += b"'"
        yield from sorted(value, key=encode)  # equal sets have equal bytes, whatever this process hashes them by
        self.out += b"," + _varint(len(value))

    def _array(self, value: list[Any] | tuple[Any, ...]) -> Iterator[Any]:
        size = _varint(len(value))
        self.out += b"A" + size
        if _are_doubles(value):
            self.out += b"".join([pack("<cd", b"N", entry) for entry in value])
        else:
            yield from value
        self.out += b"$\0" + size

    def _error(self, error: BaseException) -> Iterator[Any]:
        message, name = error_message(error), error_name(error)
        stack = f"{name}: {message}" if message else name
        cause: Any = BaseException.__getattribute__(error, "__cause__") or UNDEFINED
        if isinstance(error, ClonedError):
            name, stack, cause = error.name, error.stack, error.cause
        self.out += b"r" + ERROR_TAGS.get(name, b"")
        if message:
            self.out += b"m"
            self._string(message)
        self.out += b"s"
        self._string(stack)
        if cause is not UNDEFINED:
            self.out += b"c"
            yield cause
        self.out += b"."


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first."""
    digits = bytearray()
    while number > 0x7F:  # noqa: PLR2004 - seven bits
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    digits.append(number)
    return bytes(digits)


def _is_smi(value: float) -> bool:
    return SMI_MIN <= value <= SMI_MAX and value == int(value) and (value != 0 or copysign(1, value) > 0)


def _are_doubles(values: list[Any] | tuple[Any, ...]) -> bool:
    """Whether V8 keeps an array as doubles: numbers alone, one of them with a fraction or large. Then all are written so."""
    if not all(type(each) is float or (type(each) is int and abs(each) <= SAFE_MAX) for each in values):
        return False
    return not all(map(_is_smi, values))


def _index(key: str) -> int | None:
    """The number that a key is the plain text of, if it is an array's index."""
    if key.isascii() and key.isdigit() and len(key) <= len(str(_INDEX_MAX)) and (key == "0" or key[0] != "0"):
        return index if (index := int(key)) <= _INDEX_MAX else None
    return None


_JAVASCRIPT_GROUPS = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?P<|\(\?P=(\w+)\)", re.DOTALL)


def _in_javascript(found: re.Match[str]) -> str:
    """Named groups as JavaScript spells them; what is escaped or stands in a class stays."""
    if found[1] is not None:
        return f"\\k<{found[1]}>"
    return "(?<" if found[0] == "(?P<" else found[0]
