"""The requests that Workers send out, and what a test answers them with. The network is never reached."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from emulator.engine import bodies

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

_OK = 200
_ANSWER_SECONDS = 30.0
"""So long, in real time, the server of a test may take to answer a Worker."""
_OF_ONE_HOP = frozenset({"connection", "content-length", "host", "keep-alive", "te", "transfer-encoding", "upgrade"})


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


def answerer_of(given: Any) -> Any:
    """The function that answers: itself, one that asks the server of a URL or a transport of httpx; None as it is.

    Raises ValueError for a text that is no URL.
    """
    if isinstance(given, str):
        return forwarding(given)
    transport = given if hasattr(given, "handle_request") else None
    if transport is None:
        return given
    import httpx

    client = httpx.Client(transport=transport)

    def ask(sent: Outgoing) -> Any:
        headers = [(name, value) for name, value in sent.headers.items() if name.lower() not in _OF_ONE_HOP]
        return client.request(sent.method, sent.url, headers=headers, content=sent.body)

    return ask


def forwarding(url: str) -> Callable[[Outgoing], Any]:
    """An answerer that asks the server at a URL: with the request's own path and query, and whom it was for in the headers
    X-Forwarded-Host and X-Forwarded-Proto. Raises ValueError for a URL that is none.
    """  # noqa: D205 - the first sentence needs two lines
    base = urlsplit(url)
    if base.scheme not in {"http", "https"} or not base.netloc:
        message = f"{url!r} is no URL of a server: http://127.0.0.1:9000 is one"
        raise ValueError(message)
    import httpx

    # Nothing is kept open: nobody tells when the last request was.
    limits = httpx.Limits(max_keepalive_connections=0)
    client = httpx.Client(timeout=_ANSWER_SECONDS, trust_env=False, limits=limits)

    def forward(sent: Outgoing) -> Any:
        to = urlsplit(sent.url)
        headers = [(name, value) for name, value in sent.headers.items() if name.lower() not in _OF_ONE_HOP]
        headers += [("X-Forwarded-Host", to.netloc), ("X-Forwarded-Proto", to.scheme)]
        target = urlunsplit((base.scheme, base.netloc, base.path.rstrip("/") + to.path, to.query, ""))
        return client.request(sent.method, target, headers=headers, content=sent.body)

    return forward


def _answer(status: int, headers: Any, body: Any) -> Answer:
    rows = [(str(name), str(value)) for name, value in (headers.items() if hasattr(headers, "items") else headers)]
    if body is None or isinstance(body, str | bytes):
        return Answer(status, rows, body)
    if not any(name.lower() == "content-type" for name, _ in rows):
        rows.append(("content-type", "application/json"))
    return Answer(status, rows, bodies.encode(body, "json"))
