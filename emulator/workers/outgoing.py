"""The requests that Workers send out, and what a test answers them with. The network is never reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.engine import bodies

if TYPE_CHECKING:
    from datetime import datetime

_OK = 200


class Outgoing(NamedTuple):
    """A request that a Worker sent: `headers` in any case, `body` as bytes, `at` on the virtual clock."""

    method: str
    url: str
    headers: Any
    body: bytes
    at: datetime

    async def text(self) -> str:
        """The body as UTF-8 text."""
        return self.body.decode("utf-8", "replace")

    async def json(self) -> Any:
        """The body as JSON."""
        return bodies.decode(self.body, "json")


class Answer(NamedTuple):
    """What a request is answered with: `headers` are pairs."""

    status: int
    headers: list[tuple[str, str]]
    body: str | bytes | None


def answer_of(given: Any) -> Answer:
    """What a test means by an answer: (status, body), (status, headers, body), a Response of ours or of httpx, or a value.

    Text, bytes and None are bodies as they are; every other value is JSON. A value alone is answered with 200.
    """
    if isinstance(given, tuple) and len(given) in {2, 3} and isinstance(given[0], int):
        status, *headers, body = given
        return _answer(status, headers[0] if headers else {}, body)
    if hasattr(given, "status_code"):
        decoded = [(name, value) for name, value in given.headers.items() if name.lower() != "content-encoding"]
        return _answer(given.status_code, decoded, given.content)
    if hasattr(given, "status") and hasattr(given, "headers"):
        return _answer(given.status, given.headers, given.body)
    return _answer(_OK, {}, given)


def _answer(status: int, headers: Any, body: Any) -> Answer:
    rows = [(str(name), str(value)) for name, value in (headers.items() if hasattr(headers, "items") else headers)]
    if body is None or isinstance(body, str | bytes):
        return Answer(status, rows, body)
    if not any(name.lower() == "content-type" for name, _ in rows):
        rows.append(("content-type", "application/json"))
    return Answer(status, rows, bodies.encode(body, "json"))
