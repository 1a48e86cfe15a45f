"""What Request and Response have in common: headers, and a body that can be read once."""

from __future__ import annotations

import json
from typing import Any, Self

from emulator.workers.python.errors import NotEmulated
from emulator.workers.python.javascript.convert import python_from_rpc
from emulator.workers.python.javascript.headers import Headers
from emulator.workers.python.runtime_names import Partial


class Body(Partial):
    """Headers and content of a message; `headers` and the body as they are given to Request and Response."""

    def __init__(self, body: Any, headers: Any) -> None:
        self.headers = Headers(headers)
        self._content = _bytes(body, type(self).__name__)
        if isinstance(body, str) and not self.headers.has("content-type"):
            self.headers.set("content-type", "text/plain;charset=UTF-8")
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

    async def buffer(self) -> memoryview:
        """The body as a view."""
        return memoryview(self._read())

    arrayBuffer = buffer  # noqa: N815 - JavaScript's name

    async def _json(self, **options: Any) -> Any:
        return python_from_rpc(json.loads(self._read(), **options))

    async def form_data(self) -> Any:
        """Not emulated."""
        raise NotEmulated("form data", "read text() and parse it with urllib.parse.parse_qs")

    formData = form_data  # noqa: N815 - JavaScript's name


def _bytes(body: Any, kind: str) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, bytearray | memoryview):
        return bytes(body)
    message = f"Unsupported type in {kind}: {type(body).__name__}"
    raise TypeError(message)
