"""HTTP/1.1 between us and workerd, over sockets that never block: requests and answers, each read whole."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

if TYPE_CHECKING:
    import socket

_READ_BYTES = 262_144
_TEXT, _SHORT_HEAD, _TWO_BYTES, _EIGHT_BYTES = 0x81, 2, 126, 127
_MASKED = 0x80
_FRAME_BYTES_MAX = 500_000
"""workerd refuses a message of a WebSocket above 1 MiB."""
_WRITE_SECONDS = 30.0
"""So long the other side may take to read what we write."""


class Request(NamedTuple):
    """What workerd asks. `target` is the request line's: a whole URL. Names of headers are lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        """The path of the URL, decoded, without the leading slash."""
        return unquote(urlsplit(self.target).path[1:])

    @property
    def query(self) -> dict[str, str]:
        """The query's fields, decoded."""
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))


class Reply(NamedTuple):
    """An answer. `reason` stands in the status line, where some bindings read it."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    reason: str = ""


class Connection:
    """One socket, and what has come over it and was not read yet."""

    __slots__ = ("_scanned", "closed", "data", "sock")

    def __init__(self, sock: socket.socket) -> None:
        self.sock, self.data, self.closed, self._scanned = sock, bytearray(), False, 0

    def read(self) -> int:
        """Take in what has come, without waiting: how many bytes. `closed` tells that nothing more will."""
        before = len(self.data)
        try:
            while chunk := self.sock.recv(_READ_BYTES):
                self.data += chunk
                if len(chunk) < _READ_BYTES:
                    return len(self.data) - before
            self.closed = True
        except (BlockingIOError, InterruptedError):
            pass
        except OSError:
            self.closed = True
        return len(self.data) - before

    def message(self) -> tuple[str, list[tuple[str, str]], bytes] | None:
        """The first line, the headers and the body of a message that is whole; None while it is not."""
        end = self.data.find(b"\r\n\r\n")
        if end < 0:
            return None
        first, *rows = self.data[:end].decode("utf-8", "replace").split("\r\n")
        pairs = [(name, value.strip()) for name, _, value in (row.partition(":") for row in rows)]
        known = {name.lower(): value for name, value in pairs}
        body = self._chunks(end + 4) if "chunked" in known.get("transfer-encoding", "") else self._sized(end + 4, known)
        return None if body is None else (first, pairs, body)

    def _sized(self, start: int, headers: dict[str, str]) -> bytes | None:
        size = int(headers.get("content-length", 0))
        if len(self.data) < start + size:
            return None
        body = bytes(self.data[start : start + size])
        del self.data[: start + size]
        return body

    def _chunks(self, start: int) -> bytes | None:
        """The body in chunks. Where it is not whole yet, the place is kept, so that each chunk is looked at once."""
        at = self._scanned or start
        while (line := self.data.find(b"\r\n", at)) >= 0:
            size = int(self.data[at:line].split(b";")[0], 16)
            if len(self.data) < line + 4 + size:
                break
            if not size:
                body = self._joined(start, at)
                del self.data[: line + 4]
                self._scanned = 0
                return body
            at = line + 4 + size
        self._scanned = at
        return None

    def _joined(self, start: int, end: int) -> bytes:
        parts, at = [], start
        while at < end:
            line = self.data.find(b"\r\n", at)
            size = int(self.data[at:line].split(b";")[0], 16)
            parts.append(bytes(self.data[line + 2 : line + 2 + size]))
            at = line + 4 + size
        return b"".join(parts)

    def request(self) -> Request | None:
        """A request that is whole."""
        found = self.message()
        if found is None:
            return None
        method, target, _ = found[0].split(" ", 2)
        return Request(method, target, {name.lower(): value for name, value in found[1]}, found[2])

    def frame(self) -> bytes | None:
        """The next message of a WebSocket that is whole, https://www.rfc-editor.org/rfc/rfc6455; None while there is none."""
        data = self.data
        if len(data) < _SHORT_HEAD:
            return None
        start, size = _SHORT_HEAD, data[1] & 127
        if size >= _TWO_BYTES:
            start += 2 if size == _TWO_BYTES else 8
            size = int.from_bytes(data[2:start], "big")
        if len(data) < start + size:
            return None
        kind, content = data[0], bytes(data[start : start + size])
        del data[: start + size]
        if kind != _TEXT:
            self.closed = True
            return None
        return content

    def write(self, data: bytes) -> None:
        """Write all of it. Raises OSError when the other side is gone or does not read."""
        self.sock.settimeout(_WRITE_SECONDS)
        try:
            self.sock.sendall(data)
        finally:
            self.sock.setblocking(False)

    def close(self) -> None:
        """Close the socket."""
        with suppress(OSError):
            self.sock.close()


def _clean(text: str) -> str:
    return text.replace("\r", " ").replace("\n", " ")


def answer(reply: Reply) -> bytes:
    """An answer as bytes. The other side closes: each request has a connection of its own, so that they come in order."""
    rows = "".join(f"{name}: {_clean(value)}\r\n" for name, value in reply.headers)
    reason = _clean(reply.reason) or "OK"
    head = f"HTTP/1.1 {reply.status} {reason}\r\nConnection: close\r\nContent-Length: {len(reply.body)}\r\n{rows}\r\n"
    return head.encode("utf-8") + reply.body


def question(path: str, body: bytes, headers: tuple[tuple[str, str], ...] = (), method: str = "POST") -> bytes:
    """A request of ours as bytes."""
    rows = "".join(f"{name}: {_clean(value)}\r\n" for name, value in headers)
    return f"{method} {path} HTTP/1.1\r\nHost: workerd\r\nContent-Length: {len(body)}\r\n{rows}\r\n".encode() + body


UPGRADE = question("/", b"", (
    ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "Y2ZxLWVtdWxhdG9yLi4uLg=="),
), "GET").replace(b"Content-Length: 0\r\n", b"")  # fmt: skip
"""Asks for a WebSocket."""


def frames(text: bytes) -> bytes:
    """A message of ours as bytes, in parts where it is long: all but the last begin with `+`."""
    parts = []
    while len(text) > _FRAME_BYTES_MAX:
        end = _FRAME_BYTES_MAX
        while text[end] & 0xC0 == 0x80:  # noqa: PLR2004 - inside of a character
            end -= 1
        parts.append(_frame(b"+" + text[:end]))
        text = text[end:]
    return b"".join([*parts, _frame(text)])


def _frame(content: bytes) -> bytes:
    """What a client sends is masked; a mask of zeros changes nothing."""
    size = len(content)
    if size < _TWO_BYTES:
        head = bytes((_TEXT, _MASKED | size))
    elif size < 1 << 16:
        head = bytes((_TEXT, _MASKED | _TWO_BYTES)) + size.to_bytes(2, "big")
    else:
        head = bytes((_TEXT, _MASKED | _EIGHT_BYTES)) + size.to_bytes(8, "big")
    return head + b"\0\0\0\0" + content
