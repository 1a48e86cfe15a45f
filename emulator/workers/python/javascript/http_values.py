"""Request and Response, as `workers` has them and as JavaScript has them: one class each serves both.

https://developers.cloudflare.com/workers/languages/python/basics/ and .../workers/runtime-apis/response/.
"""

from __future__ import annotations

import json
from http import HTTPMethod, HTTPStatus
from typing import Any

from emulator.workers.python.errors import NotEmulated
from emulator.workers.python.javascript.convert import options_of
from emulator.workers.python.javascript.headers import Headers
from emulator.workers.python.javascript.http_body import Body
from emulator.workers.python.javascript.js_time import JsTime
from emulator.workers.python.javascript.js_values import JsObject, plain

NO_BODY = frozenset({101, 204, 205, 304})
"""Statuses that may not have a body."""
STATUS_MIN, STATUS_MAX = 200, 599


class Request(Body):
    """A request: `url`, `method`, `headers`, `await text()`, `await json()`, `await bytes()`."""

    def __init__(self, input: Any, init: Any = None, /, **named: Any) -> None:
        options = options_of(init, named)
        like = next((each for each in (init, input) if isinstance(each, Request)), None)
        self.url: str = str(input.url if isinstance(input, Request) else input)
        method = str(options.get("method") or (like.method if like is not None else "GET")).upper()
        self.method: str = HTTPMethod[method] if method in HTTPMethod.__members__ else method
        body = options.get("body", like._content if like is not None else None)  # noqa: SLF001 - of its own class
        if body is not None and method in {"GET", "HEAD"}:
            raise TypeError("Request with a GET or HEAD method cannot have a body.")
        super().__init__(body, options.get("headers", like.headers if like is not None else None))
        self.cf = JsObject(options.get("cf") or {})
        self.redirect = options.get("redirect", "follow")

    @classmethod
    def new(cls, input: Any, init: Any = None, **named: Any) -> Request:
        """JavaScript's `new Request(…)`."""
        return cls(input, init, **named)

    async def json(self, **options: Any) -> Any:
        """The body as JSON: objects are dicts with attribute access."""
        return await self._json(**options)

    def clone(self) -> Request:
        """A copy that can be read, too."""
        if self._used:
            raise OSError("Body already used")
        return Request(self)

    def __repr__(self) -> str:
        return f"Request(method={str(self.method)!r}, url={self.url!r})"


class Response(Body):
    """A response: `status`, `headers`, `ok`, and the body as a Request has it. `Response.json(data)` makes one of JSON.

    Raises TypeError for a body of another type than str, bytes or None, ValueError for a status outside 200..599.
    """

    def __init__(
        self,
        body: Any = None,
        status: Any = None,
        status_text: str = "",
        headers: Any = None,
        web_socket: Any = None,
    ) -> None:
        if web_socket is not None:
            raise NotEmulated("WebSockets")
        if isinstance(status, dict):  # JavaScript's second argument is an object
            body, status, status_text, headers = body, *_init(status)
        if isinstance(body, Response):
            status, headers, body = body.status, body.headers, body._content  # noqa: SLF001 - of its own class
        super().__init__(body, headers)
        self.status: int = int(status or HTTPStatus.OK)
        if self.status != HTTPStatus.SWITCHING_PROTOCOLS and not STATUS_MIN <= self.status <= STATUS_MAX:
            message = f"Responses may only be constructed with status codes in the range 200 to 599, not {self.status}"
            raise ValueError(message)
        if self.status in NO_BODY and self._content:
            message = f"Response with null body status ({self.status}) cannot have a body."
            raise TypeError(message)
        self.status_text = status_text
        self.url = ""

    @classmethod
    def new(cls, body: Any = None, init: Any = None, **named: Any) -> Response:
        """JavaScript's `new Response(…)`."""
        options = options_of(init, named)
        return cls(body, *_init(options), web_socket=options.get("webSocket"))

    @property
    def ok(self) -> bool:
        """Whether the status is 2xx."""
        return HTTPStatus.OK <= self.status < HTTPStatus.MULTIPLE_CHOICES

    @property
    def statusText(self) -> str:  # noqa: N802 - JavaScript's name
        """`status_text`."""
        return self.status_text

    def json(self, *args: Any, **options: Any) -> Any:
        """Of a response: its body as JSON, to be awaited. Of the class: `Response.json(data, status=…)` is `from_json`."""
        if isinstance(self, Response):
            return self._json(**options)
        return Response.from_json(self, *args, **options)

    @staticmethod
    def from_json(data: Any, status: Any = None, status_text: str = "", headers: Any = None) -> Response:
        """A response whose body is the data as JSON."""
        if isinstance(status, dict):
            status, status_text, headers = _init(status)
        head = Headers(headers)
        if not head.has("content-type"):
            head.set("content-type", "application/json")
        return Response(json.dumps(plain(data), default=_as_json), status, status_text, head)

    @staticmethod
    def redirect(url: str, status: Any = HTTPStatus.FOUND) -> Response:
        """A redirect to a URL."""
        return Response(None, status, "", {"location": url})

    def raise_for_status(self) -> None:
        """Raise OSError for a status of 400 or more."""
        if self.status >= HTTPStatus.BAD_REQUEST:
            kind = "Client" if self.status < HTTPStatus.INTERNAL_SERVER_ERROR else "Server"
            message = f"{self.status} {kind} Error: {self.status_text} for url: {self.url}"
            raise OSError(message)

    def replace_body(self, body: Any) -> Response:
        """The same response with another body."""
        return Response(body, self.status, self.status_text, self.headers)

    def clone(self) -> Response:
        """A copy that can be read, too."""
        if self._used:
            raise OSError("Body already used")
        return self.replace_body(self._content)

    def __repr__(self) -> str:
        return f"Response(status={self.status})"


def request_of(given: Any, init: Any, options: dict[str, Any]) -> Request:
    """The Request that a test means: a Request, a URL or path, or another library's (url, method, headers, content)."""
    if isinstance(given, Request) and not (init or options):
        return given
    if isinstance(given, Request) or not hasattr(given, "url"):
        local = isinstance(given, str) and given.startswith("/")
        return Request(f"http://localhost{given}" if local else given, init, **options)
    content = getattr(given, "content", None) or getattr(given, "body", None) or None
    like = {"method": getattr(given, "method", None), "headers": getattr(given, "headers", None), "body": content}
    return Request(str(given.url), init, **{**like, **options})


def _init(options: dict[str, Any]) -> tuple[Any, str, Any]:
    """Status, status text and headers of JavaScript's options object."""
    return options.get("status"), options.get("statusText") or options.get("status_text") or "", options.get("headers")


def _as_json(value: Any) -> Any:
    if isinstance(value, JsTime):
        return value.toISOString()
    message = f"Object of type {type(value).__name__} is not JSON serializable"
    raise TypeError(message)
