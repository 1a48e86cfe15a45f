"""A message's body, from value to stored bytes and back. json, text, bytes and v8; each decoding gives a new value.

https://developers.cloudflare.com/queues/configuration/javascript-apis/ (content types) and .../pull-consumers/ (on the wire).
"""

from __future__ import annotations

from array import array
from binascii import b2a_base64
from typing import TYPE_CHECKING, Any

from emulator.engine.bodies import json_text, tagged_json, v8_read, v8_write
from emulator.engine.bodies.undefined import UNDEFINED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

DECODERS: dict[str, Callable[[bytes], Any]] = {
    "json": json_text.decode,
    "text": bytes.decode,
    "bytes": bytes,
    "v8": lambda body: (v8_read if body.startswith(b"\xff") else tagged_json).decode(body),
}
"""How each content type is read."""
CONTENT_TYPES = ("json", "text", "bytes", "v8")


def content_type_of(given: object, *, exact: bool = False) -> str:
    """The content type that was meant. send() takes any case, sendBatch() only the `exact` one. Raises TypeError."""
    if isinstance(given, str):
        name = given if exact else given.lower()
        if name in CONTENT_TYPES:
            return name
    message = f"Unsupported queue message content type: {given}"
    raise TypeError(message)


def encode(value: object, content_type: str) -> bytes:
    """The bytes that are stored. Raises TypeError with workerd's words for a value that the content type does not take."""
    if value is UNDEFINED:
        raise TypeError("Message body cannot be undefined")
    if content_type == "json":
        return json_text.encode(value)
    if content_type == "text":
        if not isinstance(value, str):
            message = f'Content Type "text" requires a value of type string, but received: {typeof(value)}'
            raise TypeError(message)
        return _utf8(value)
    if content_type == "bytes":
        if not isinstance(value, bytes | bytearray | memoryview | array):
            message = f'Content Type "bytes" requires a value of type ArrayBufferView, but received: {typeof(value)}'
            raise TypeError(message)
        return bytes(value)
    return v8_write.encode(value)


def encode_all(values: list[Any], content_types: Sequence[str]) -> list[bytes]:
    """The bytes of several values, each with its content type. Raises TypeError for one that its content type does not take."""
    if content_types.count("json") == len(values) and (quickly := json_text.encode_plain(values)) is not None:
        return quickly
    return [encode(value, content_type) for value, content_type in zip(values, content_types, strict=True)]


def decode(body: bytes, content_type: str) -> Any:
    """The value of stored bytes: a new one with every call."""
    return DECODERS[content_type](body)


def on_the_wire(body: bytes, content_type: str) -> str:
    """What a pull consumer receives: text as it is, everything else in base64."""
    if content_type == "text":
        return body.decode()
    if content_type == "json":
        body = json_text.plain(body)
    return b2a_base64(body, newline=False).decode()


def typeof(value: object) -> str:
    """What JavaScript's typeof would say."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "function" if callable(value) else "object"


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair: JavaScript puts the replacement character
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
