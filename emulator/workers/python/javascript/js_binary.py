"""Bytes in JavaScript: ArrayBuffer and the typed arrays, TextEncoder and TextDecoder, btoa and atob.

https://developer.mozilla.org/en-US/docs/Web/JavaScript/Guide/Typed_arrays; in Python they are Pyodide's JsBuffer.
"""

from __future__ import annotations

import binascii
from array import array
from base64 import b64decode, b64encode
from typing import TYPE_CHECKING, Any

from emulator.workers.python.errors import JsException
from emulator.workers.python.javascript.js_values import JsProxy
from emulator.workers.python.runtime_names import Partial

if TYPE_CHECKING:
    from collections.abc import Iterator

_KINDS = {
    "Int8Array": "b", "Uint8Array": "B", "Uint8ClampedArray": "B", "Int16Array": "h", "Uint16Array": "H", "Int32Array": "i",
    "Uint32Array": "I", "Float32Array": "f", "Float64Array": "d", "BigInt64Array": "q", "BigUint64Array": "Q",
}  # fmt: skip


class JsBuffer(JsProxy):
    """A typed array, or an ArrayBuffer where not `typed`. `content` is what it holds, for Python: bytes or an array."""

    def __init__(self, content: Any, *, typed: bool = True) -> None:
        self.content: Any = content if isinstance(content, array) else _kept(memoryview(content))
        self.typed = typed

    @property
    def length(self) -> int:
        """How many entries it has."""
        return len(self.content)

    @property
    def byteLength(self) -> int:  # noqa: N802 - JavaScript's name
        """How many bytes it has."""
        return memoryview(self.content).nbytes

    @property
    def buffer(self) -> JsBuffer:
        """Its ArrayBuffer."""
        return JsBuffer(self.to_bytes(), typed=False)

    def to_bytes(self) -> bytes:
        """A copy of its bytes."""
        return memoryview(self.content).tobytes()

    def to_string(self, encoding: str = "utf-8") -> str:
        """Its bytes as text."""
        return self.to_bytes().decode(encoding)

    def to_py(self, **_options: Any) -> memoryview:
        """A view of its entries."""
        return memoryview(self.content)

    to_memoryview = to_py

    def slice(self, start: int = 0, end: int | None = None) -> JsBuffer:
        """A copy of a part."""
        return JsBuffer(self.content[start:end], typed=self.typed)

    def __getitem__(self, place: Any) -> Any:
        return self.content[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.content)

    def __len__(self) -> int:
        return len(self.content)

    def __bytes__(self) -> bytes:
        return self.to_bytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JsBuffer) and self.content == other.content

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"JsBuffer({self.to_bytes()!r})"


def _kept(view: memoryview) -> Any:
    """Bytes, or an array of the same kind: views must not change with what they were made of."""
    if view.format in {"B", "c"}:
        return view.tobytes()
    return array(view.format.lstrip("<=@"), view.tobytes())


class _Constructor(Partial):
    """`Uint8Array` and its like: `.new(length | entries | buffer)`, `.from_(entries)`, `.of(…)`."""

    def __init__(self, name: str) -> None:
        self.name, self._code = name, _KINDS[name]

    def new(self, given: Any = 0, offset: int = 0, length: int | None = None) -> JsBuffer:
        """So many zeros, a copy of entries, or the entries that a buffer's bytes are."""
        if isinstance(given, int):
            return self._made([0] * given)
        if isinstance(given, bytes | bytearray | memoryview) or (isinstance(given, JsBuffer) and not given.typed):
            content = bytes(given)[offset:]
            made = array(self._code)
            made.frombytes(content if length is None else content[: length * made.itemsize])
            return self._made(made)
        return self._made(given)

    def from_(self, entries: Any) -> JsBuffer:
        """A copy of entries."""
        return self._made(entries)

    def of(self, *entries: Any) -> JsBuffer:
        """An array of the entries."""
        return self._made(entries)

    def _made(self, entries: Any) -> JsBuffer:
        bits = 8 * array(self._code).itemsize
        if self.name == "Uint8ClampedArray":
            return JsBuffer(bytes(min(255, max(0, round(entry))) for entry in entries))
        if self._code in "fd":
            return JsBuffer(array(self._code, map(float, entries)))
        signed, top = self._code.islower(), 1 << bits
        wrapped = [int(entry) % top for entry in entries]  # JavaScript keeps the lowest bits
        made = array(self._code, [entry - top if signed and entry >= top >> 1 else entry for entry in wrapped])
        return JsBuffer(made.tobytes() if self._code == "B" else made)


class _ArrayBuffer(Partial):
    """`ArrayBuffer.new(length)`."""

    def new(self, length: int = 0) -> JsBuffer:
        """So many zero bytes."""
        return JsBuffer(bytes(length), typed=False)


class TextEncoder(Partial):
    """`TextEncoder.new().encode(text)`."""

    @staticmethod
    def new() -> TextEncoder:
        """An encoder to UTF-8."""
        return TextEncoder()

    def encode(self, text: str = "") -> JsBuffer:
        """The text's bytes."""
        return JsBuffer(str(text).encode("utf-8", "replace"))


class TextDecoder(Partial):
    """`TextDecoder.new(label).decode(bytes)`."""

    def __init__(self, encoding: str = "utf-8") -> None:
        self.encoding = encoding

    @staticmethod
    def new(encoding: str = "utf-8", _options: Any = None, **_named: Any) -> TextDecoder:
        """A decoder."""
        return TextDecoder(encoding)

    def decode(self, content: Any = b"", _options: Any = None) -> str:
        """The text of bytes; what is none of it becomes U+FFFD."""
        return bytes(content).decode(self.encoding, "replace")


def btoa(text: str) -> str:
    """Base64 of a text whose characters are bytes. Raises JsException."""
    try:
        return b64encode(str(text).encode("latin-1")).decode()
    except UnicodeEncodeError:
        raise JsException("btoa() can only operate on characters in the Latin1 range.", "InvalidCharacterError") from None


def atob(text: str) -> str:
    """The text of base64. Raises JsException."""
    try:
        return b64decode(str(text) + "=" * (-len(str(text)) % 4), validate=True).decode("latin-1")
    except binascii.Error:
        raise JsException("atob() called with invalid base64-encoded data.", "InvalidCharacterError") from None


BINARY = {
    **{name: _Constructor(name) for name in _KINDS}, "ArrayBuffer": _ArrayBuffer(), "TextDecoder": TextDecoder,
    "TextEncoder": TextEncoder, "atob": atob, "btoa": btoa,
}  # fmt: skip
"""The globals by name."""
