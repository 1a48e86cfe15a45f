"""Content type v8: the value of what V8's ValueSerializer wrote, in workerd or in Node, or `v8_write` here.

Whole numbers up to 2**53 are int, all others float; a BigInt is int; a typed array of bytes, a buffer and a DataView are bytes,
other typed arrays array.array; a Date is an aware datetime (beyond Python's years its number of milliseconds); an object is a
dict, and so is a Map; a Set is a set. What cannot be hashed in Python is: an array in a Set or a key is a tuple; a Set with
anything else of the kind is a list, and a Map a list of pairs. A RegExp that Python cannot compile is its text, an Error a
ClonedError. A hole in an array is UNDEFINED. Each reference is the very object. Nothing here recurses.
Longer than most modules: it is one table of tags, and a function for each.
"""

from __future__ import annotations

import re
import warnings
from array import array
from datetime import UTC, datetime, timedelta
from struct import error as struct_error
from struct import unpack_from
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from emulator.engine.bodies.undefined import UNDEFINED
from emulator.engine.bodies.v8_bytes import Bytes
from emulator.engine.bodies.v8_values import ERROR_TAGS, REGEXP_FLAGS, VIEW_TYPECODES, ClonedError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    Reading = Generator[None, Any, Any]
    """Reads a value that holds others: each yield is sent the next of them, and what is returned is the value."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SPARSE_MAX = 10_000_000
_VIEWS_HAVE_FLAGS = 14
"""The first version of the format whose views have flags."""
_NODE_VIEWS = "bBCwWdDfF?BqQ"
"""The kinds of views by the numbers that Node's v8.serialize() gives them; the eleventh is its Buffer."""
_ERROR_NAMES = {tag: name for name, tag in ERROR_TAGS.items()}


def decode(body: bytes) -> Any:
    """The value of a body: a new one with every call. Raises ValueError for what is none."""
    try:
        return _Reader(body).value()
    except (IndexError, KeyError, TypeError, struct_error) as error:
        message = f"not in V8's format: {error!r}"
        raise ValueError(message) from error


class _Reader(Bytes):
    def __init__(self, body: bytes) -> None:
        super().__init__(body, 1)
        self._version = self.varint()
        self.objects: list[Any] = []

    def value(self) -> Any:
        """The next value, with all that it holds."""
        inner: list[Reading] = []
        while True:
            found = self.begin()
            if isinstance(found, GeneratorType):
                inner.append(found)
                found = None
            elif not inner:
                return found
            while True:  # tell it to what it belongs, and that to what it belongs where it was the last
                try:
                    inner[-1].send(found)
                    break
                except StopIteration as end:
                    inner.pop()
                    found = end.value
                    if not inner:
                        return found

    def begin(self) -> Any:
        """A value that holds no other, or the reading of one that does."""
        tag = self.tag()
        found = _READ[tag](self)
        if tag in b"B~^" and type(found) is bytes and self.next_tag() == ord("V"):
            self.tag()
            found = self.view(found)
        return found

    # --- values that hold no others

    def string(self) -> str:
        text: str = _READ[self.tag()](self)
        return text

    def kept(self, value: Any) -> Any:
        """A value to which there may be references."""
        self.objects.append(value)
        return value

    def buffer(self) -> bytes:
        kept: bytes = self.kept(self.take(self.varint()))
        return kept

    def resizable_buffer(self) -> bytes:
        size_bytes, _size_bytes_max = self.varint(), self.varint()
        kept: bytes = self.kept(self.take(size_bytes))
        return kept

    def view(self, buffer: bytes) -> Any:
        tag, start, size_bytes = chr(self.tag()), self.varint(), self.varint()
        if self._version >= _VIEWS_HAVE_FLAGS:
            self.varint()
        return self.kept(_typed_array(tag, buffer[start : start + size_bytes]))

    def node_view(self) -> Any:
        tag = _NODE_VIEWS[self.varint()]
        return self.kept(_typed_array(tag, self.take(self.varint())))

    def date(self) -> datetime | float:
        milliseconds = self.double()
        try:
            moment: datetime | float = _EPOCH + timedelta(milliseconds=milliseconds)
        except (OverflowError, ValueError):
            moment = milliseconds
        kept: datetime | float = self.kept(moment)
        return kept

    def regexp(self) -> re.Pattern[str] | str:
        source, bits = self.string(), self.varint()
        flags = sum(flag for flag, bit in REGEXP_FLAGS.items() if bits & bit)
        try:
            with warnings.catch_warnings(action="ignore"):  # JavaScript has no nested sets to warn of
                pattern: re.Pattern[str] | str = re.compile(_PYTHON_GROUPS.sub(_in_python, source), flags)
        except (re.error, RecursionError, OverflowError):
            pattern = f"/{source}/"
        kept: re.Pattern[str] | str = self.kept(pattern)
        return kept

    # --- values that hold others

    def members(self, end: str) -> Generator[None, Any, list[tuple[Any, Any]]]:
        """Pairs up to a tag, after which stands how many they were."""
        pairs = []
        while self.next_tag() != ord(end):
            key = yield
            pairs.append((key, (yield)))
        self.tag()
        self.varint()
        return pairs

    def object_(self) -> Reading:
        found: dict[str, Any] = self.kept({})
        while self.next_tag() != ord("{"):
            key = yield
            found[key if isinstance(key, str) else str(int(key))] = yield
        self.tag()
        self.varint()
        return found

    def dense_array(self) -> Reading:
        found: list[Any] = self.kept([])
        for _ in range(self.varint()):
            found.append((yield))  # noqa: PERF401 - others refer to the list while it is read
        yield from self.members("$")
        self.varint()
        return found

    def sparse_array(self) -> Reading:
        length = self.varint()
        if length > _SPARSE_MAX:
            raise IndexError("a sparse array is too long")
        found: list[Any] = self.kept([UNDEFINED] * length)
        for index, entry in (yield from self.members("@")):
            if not isinstance(index, str):
                found[int(index)] = entry
        self.varint()
        return found

    def map_(self) -> Reading:
        place = len(self.objects)
        found: dict[Any, Any] = self.kept({})
        pairs = yield from self.members(":")
        try:
            for key, entry in pairs:
                found[_hashable(key)] = entry
        except TypeError:
            self.objects[place] = pairs
            return pairs
        return found

    def set_(self) -> Reading:
        place = len(self.objects)
        found: set[Any] = self.kept(set())
        entries = []
        while self.next_tag() != ord(","):
            entries.append((yield))
        self.tag()
        self.varint()
        try:
            found.update(map(_hashable, entries))
        except TypeError:
            self.objects[place] = entries
            return entries
        return found

    def error(self) -> Reading:
        error: ClonedError = self.kept(ClonedError())
        while (tag := self.tag()) != ord("."):
            if tag == ord("m"):
                error.message = self.string()
            elif tag == ord("s"):
                error.stack = self.string()
            elif tag == ord("c"):
                error.cause = yield
                error.__cause__ = error.cause if isinstance(error.cause, BaseException) else None
            else:
                error.name = _ERROR_NAMES[bytes([tag])]
        error.args = (error.message,)
        return error


_READ: dict[int, Callable[[_Reader], Any]] = {ord(tag): read for tag, read in {
    "0": lambda _: None, "_": lambda _: UNDEFINED, "-": lambda _: UNDEFINED, "T": lambda _: True, "F": lambda _: False,
    "I": _Reader.int32, "U": _Reader.varint, "N": _Reader.number, "Z": _Reader.bigint,
    '"': _Reader.one_byte, "c": _Reader.two_byte, "S": _Reader.utf8,
    "n": lambda r: r.kept(r.number()), "z": lambda r: r.kept(r.bigint()), "s": lambda r: r.kept(r.string()),
    "y": lambda r: r.kept(True), "x": lambda r: r.kept(False), "D": _Reader.date, "R": _Reader.regexp, "r": _Reader.error,
    "B": _Reader.buffer, "~": _Reader.resizable_buffer, "\\": _Reader.node_view, "^": lambda r: r.objects[r.varint()],
    "o": _Reader.object_, "A": _Reader.dense_array, "a": _Reader.sparse_array, ";": _Reader.map_, "'": _Reader.set_,
}.items()}  # fmt: skip


def _typed_array(tag: str, content: bytes) -> Any:
    """What Python has for a typed array."""
    typecode = VIEW_TYPECODES[tag]
    if not typecode:
        return content
    if typecode == "e":  # half floats: array has no code for them
        return array("f", unpack_from(f"<{len(content) // 2}e", content))
    return array(typecode, content)


def _hashable(value: Any) -> Any:
    """The same as a key or a member of a set: a list as a tuple, a set as a frozenset. Raises TypeError for what is none."""
    if type(value) is list:
        return tuple(map(_hashable, value))
    if type(value) is set:
        return frozenset(value)
    hash(value)
    return value


_PYTHON_GROUPS = re.compile(r"\\k<(\w+)>|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\(\?<(?![=!])", re.DOTALL)


def _in_python(found: re.Match[str]) -> str:
    """Named groups as Python spells them; what is escaped or stands in a class stays."""
    if found[1] is not None:
        return f"(?P={found[1]})"
    return "(?P<" if found[0] == "(?<" else found[0]
