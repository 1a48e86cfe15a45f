"""What Request and Response have in common: headers, and a body that can be read once."""

from __future__ import annotations

import json
from typing import Any, Self

from emulator.workers.python.javascript.convert import python_from_rpc
from emulator.workers.python.javascript.forms import BOUNDARY, Blob, FormData, form_of
from emulator.workers.python.javascript.headers import Headers
from emulator.workers.python.javascript.js_binary import JsBuffer
from emulator.workers.python.javascript.js_url import URLSearchParams
from emulator.workers.python.runtime_names import Partial


class Body(Partial):
    """Headers and content of a message; `headers` and the body as they are given to Request and Response."""

    def __init__(self, body: Any, headers: Any) -> None:
        self.headers = Headers(headers)
        self._content = _bytes(body, type(self).__name__)
        kind = _kind_of(body)
        if kind and not self.headers.has("content-type"):
            self.headers.set("content-type", kind)
        self._used = False

    @property
    def body(self) -> bytes | None:
        """The bytes of the body; None without one. The runtime has a stream here."""
        return self._content

    @property
    def body_used(self) -> bool:
        """Whether the body has been read."""
        return self._used

    bodyUsed = body_used  # noqa: N815 - JavaScript's name

    @property
    def js_object(self) -> Self:
        """The JavaScript object: here it is the same."""
        return self

    def _read(self) -> bytes:
        if self._used:
            raise OSError("Body already used")
        self._used = self._content is not None
        return self._content or b""

    async def bytes(self) -> bytes:
        """The body. Raises OSError when it has been read before, as all of these do."""
        return self._read()

    async def text(self) -> str:
        """The body as UTF-8 text."""
        return self._read().decode("utf-8", "replace")

    string = text

    async def buffer(self) -> JsBuffer:
        """The body as an ArrayBuffer."""
        return JsBuffer(self._read(), typed=False)

    arrayBuffer = buffer  # noqa: N815 - JavaScript's name

    async def blob(self) -> Blob:
        """The body as a Blob of its content type."""
        return Blob([self._read()], self.headers.get("content-type", ""))

    async def _json(self, **options: Any) -> Any:
        return python_from_rpc(json.loads(self._read(), **options))

    async def form_data(self) -> Any:
        """The body as a form. Raises TypeError for one that is none."""
        return form_of(self._read(), self.headers.get("content-type", ""))

    formData = form_data  # noqa: N815 - JavaScript's name


def _bytes(body: Any, kind: str) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, FormData):
        return body.multipart()
    if isinstance(body, URLSearchParams):
        return str(body).encode()
    if isinstance(body, bytearray | memoryview | JsBuffer | Blob):
        return bytes(body)
    message = f"Unsupported type in {kind}: {type(body).__name__}"
    raise TypeError(message)


def _kind_of(body: Any) -> str:
    """The content type that a body says of itself."""
    if isinstance(body, str):
        return "text/plain;charset=UTF-8"
    if isinstance(body, URLSearchParams):
        return "application/x-www-form-urlencoded;charset=UTF-8"
    if isinstance(body, FormData):
        return f"multipart/form-data; boundary={BOUNDARY}"
    return body.content_type if isinstance(body, Blob) else ""
