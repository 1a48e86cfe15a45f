"""Blob, File and FormData, as `workers` has them and as JavaScript has them: one class each serves both.

https://developer.mozilla.org/en-US/docs/Web/API/FormData; forms are read and written as multipart/form-data, and read as
application/x-www-form-urlencoded.
"""

from __future__ import annotations

import email.parser
import email.policy
from collections.abc import Iterator, MutableMapping
from typing import Any
from urllib.parse import parse_qsl

from emulator.workers.python.errors import NoSuchMember
from emulator.workers.python.javascript.js_binary import JsBuffer
from emulator.workers.python.javascript.js_values import JsProxy
from emulator.workers.python.runtime_names import Partial

BOUNDARY = "----cfq-emulator-form"
"""What stands between the parts of a form that is written: the same in every run."""


class Blob(Partial, JsProxy):
    """Bytes with a type: `size`, `content_type`, `await text()`, `await bytes()`, `slice(start, end)`."""

    def __init__(self, blob_parts: Any = (), content_type: str | None = None, endings: Any = None, **named: Any) -> None:
        single = isinstance(blob_parts, str | bytes | bytearray | memoryview | JsBuffer | Blob)
        parts = [blob_parts] if single else list(blob_parts)
        self.content = b"".join(map(content_of, parts))
        inherited = blob_parts.content_type if isinstance(blob_parts, Blob) else ""
        self.content_type: str = content_type or named.get("type") or inherited
        self.endings = endings

    @classmethod
    def new(cls, parts: Any = (), *given: Any, **named: Any) -> Blob:
        """JavaScript's `new Blob(parts, {type})`."""
        options = {**(given[-1] if given and isinstance(given[-1], dict) else {}), **named}
        return cls(parts, options.get("type"))

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return len(self.content)

    @property
    def type(self) -> str:
        """`content_type`."""
        return self.content_type

    @property
    def js_object(self) -> Blob:
        """The JavaScript object: here it is the same."""
        return self

    async def text(self) -> str:
        """Its bytes as UTF-8 text."""
        return self.content.decode("utf-8", "replace")

    async def arrayBuffer(self) -> JsBuffer:  # noqa: N802 - JavaScript's name
        """Its bytes as an ArrayBuffer."""
        return JsBuffer(self.content, typed=False)

    def slice(self, start: int | None = None, end: int | None = None, content_type: str | None = None) -> Blob:
        """A part of it."""
        return Blob([self.content[start:end]], content_type)

    def __bytes__(self) -> bytes:
        return self.content

    async def bytes(self) -> Any:
        """Its bytes. The last of them: from here on the class has this name for itself."""
        return self.content


class File(Blob):
    """A Blob with a name: `name`, `last_modified` (milliseconds since 1970)."""

    def __init__(
        self, blob_parts: Any, filename: str, content_type: str | None = None, endings: Any = None, **named: Any
    ) -> None:
        super().__init__(blob_parts, content_type, endings, **named)
        self.name = filename
        of_a_file: int = blob_parts.last_modified if isinstance(blob_parts, File) else 0
        self.last_modified: int = int(named.get("last_modified") or of_a_file)

    @property
    def lastModified(self) -> int:  # noqa: N802 - JavaScript's name
        """`last_modified`."""
        return self.last_modified


class FormData(MutableMapping[str, Any], JsProxy):
    """Fields by name, each a text or a Blob; a name may occur more than once."""

    def __init__(self, form_data: Any = None) -> None:
        if form_data is not None and not isinstance(form_data, dict | FormData):
            raise TypeError("Expected form_data to be a dict or an instance of FormData")
        self._rows: list[tuple[str, Any]] = list((form_data or {}).items())

    @classmethod
    def new(cls, *_given: Any) -> FormData:
        """JavaScript's `new FormData()`."""
        return cls()

    @property
    def js_object(self) -> FormData:
        """The JavaScript object: here it is the same."""
        return self

    def append(self, key: str, value: Any, filename: str | None = None) -> None:
        """Add a field."""
        if isinstance(value, Blob) and (filename is not None or not isinstance(value, File)):
            value = File(value, filename or "blob")
        self._rows.append((key, value))

    def set(self, key: str, value: Any, filename: str | None = None) -> None:
        """Put one field in the place of all with that name."""
        self.delete(key)
        self.append(key, value, filename)

    def delete(self, key: str) -> None:
        """Take all fields of that name away."""
        self._rows = [row for row in self._rows if row[0] != key]

    def get(self, key: str, default: Any = None) -> Any:
        """The first field of that name; the default when there is none."""
        return next((value for name, value in self._rows if name == key), default)

    def get_all(self, key: str) -> list[Any]:
        """Every field of that name."""
        return [value for name, value in self._rows if name == key]

    getAll = get_all  # noqa: N815 - JavaScript's name

    def has(self, key: str) -> bool:
        """Whether there is a field of that name."""
        return any(name == key for name, _ in self._rows)

    def items(self) -> Any:
        """Every field, as (name, value)."""
        return list(self._rows)

    def entries(self) -> Any:
        """`items()`."""
        return self.items()

    def __getitem__(self, key: str) -> Any:
        return self.get(key)

    def __setitem__(self, key: str, value: Any) -> None:
        if isinstance(value, list):
            raise TypeError("Expected single item in arguments to FormData.__setitem__")
        self.set(key, value)

    def __delitem__(self, key: str) -> None:
        self.delete(key)

    def __contains__(self, key: object) -> bool:
        return any(name == key for name, _ in self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter([name for name, _ in self._rows])

    def __len__(self) -> int:
        return len(self._rows)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name) if name.startswith("_") else NoSuchMember(f"FormData.{name}")

    def multipart(self) -> bytes:
        """The form as multipart/form-data, with `BOUNDARY`."""
        out = b""
        for name, value in self._rows:
            head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"'
            if isinstance(value, Blob):
                head += f'; filename="{getattr(value, "name", "blob")}"\r\n'
                head += f"Content-Type: {value.content_type or 'application/octet-stream'}"
            out += head.encode() + b"\r\n\r\n" + content_of(value) + b"\r\n"
        return out + f"--{BOUNDARY}--\r\n".encode()


def content_of(value: Any) -> bytes:
    """The bytes of a text, a Blob, a view or bytes."""
    return value.encode() if isinstance(value, str) else bytes(value)


def form_of(content: bytes, content_type: str) -> FormData:
    """The form that a body is. Raises TypeError for a body of another content type."""
    form = FormData()
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        for name, value in parse_qsl(content.decode("utf-8", "replace"), keep_blank_values=True):
            form.append(name, value)
    elif kind == "multipart/form-data":
        parser = email.parser.BytesParser(policy=email.policy.HTTP)
        whole = parser.parsebytes(b"Content-Type: " + content_type.encode() + b"\r\n\r\n" + content)
        for part in whole.iter_parts():
            name = str(part.get_param("name", header="content-disposition"))
            body, filename = bytes(part.get_payload(decode=True)), part.get_filename()
            if filename is not None:
                form.append(name, File(body, filename, part.get_content_type()))
            else:
                form.append(name, body.decode("utf-8", "replace"))
    else:
        message = f"Unrecognized Content-Type header value. FormData can only parse form bodies, not {content_type or 'none'}"
        raise TypeError(message)
    return form
