"""The ASGI application: every operation under `/client/v4` and without it, the control API if it is open, and what watches.

Around them stands a border that no request passes with too many headers, or from another origin's page.
"""

from __future__ import annotations

from contextlib import suppress
from email.utils import format_datetime
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from emulator.engine.clock import moment
from emulator.server import control
from emulator.server.analytics import graphql
from emulator.server.dashboard.pages import Dashboard
from emulator.server.observe import health, prometheus
from emulator.server.observe.logs import RequestLog
from emulator.server.operations import OPERATIONS
from emulator.server.wire import answers, openapi
from emulator.server.wire.endpoint import Endpoint, answer
from emulator.server.wire.refusals import CrossOrigin, HeadersTooLarge, MethodNotAllowed, NoRoute
from emulator.server.wire.routes import Routes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from emulator.core.refusals import Refused
    from emulator.server.service import Service
    from emulator.server.wire.answers import Answer
    from emulator.server.wire.operation import Operation

PREFIXES = ("/client/v4", "")
HEADERS_MAX = 100
HEADER_BYTES_MAX = 32_000


def create_app(service: Service, *, listens: bool = False, forward: ASGIApp | None = None) -> Application:
    """The application over a service. One that `listens` and asks for no token answers to no name of the internet.

    `forward` answers whatever is no read: the service follows another node's.
    """
    return Application(service, near=listens and not service.access.closed, forward=forward)


class Application:
    """ASGI: endpoints are found in a table, what people look at is Starlette's business."""

    def __init__(self, service: Service, *, near: bool, forward: ASGIApp | None = None) -> None:
        self._routes, self._forward = Routes(), forward
        for prefix in PREFIXES:
            self._add(service, OPERATIONS, f"{prefix}/accounts/{{account_id}}")
        self._add(service, _own(service), "")
        handlers: Any = {HTTPException: _refuse}
        self._pages = Starlette(routes=Dashboard(service, service.watch).routes(), exception_handlers=handlers)
        self._pages.router.redirect_slashes = False
        self._whole = RequestLog(Border(self._dispatch, near=near, clock=None if service.time.speed == 1 else service))

    def _add(self, service: Service, operations: Iterable[Operation], prefix: str) -> None:
        for operation in operations:
            self._routes.add(operation.method, prefix + operation.path, Endpoint(service, operation))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self._whole(scope, receive, send)

    def prompt(self, method: str, path: str) -> bool:
        """Whether a request is answered without waiting for anything, once its body is there."""
        if self._forward is not None and not _is_read(method, path):
            return False
        found = self._routes.find(path)
        endpoint = None if found is None else found.methods.get(method)
        return endpoint is not None and not endpoint.operation.waits

    async def _dispatch(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = None
        if self._forward is not None and scope["type"] == "http" and not _is_read(scope["method"], scope["path"]):
            await self._forward(scope, receive, send)
            return
        if scope["type"] == "http":
            found = self._routes.find(scope["path"].removeprefix(scope.get("root_path", "")))
        if found is None:
            await self._pages(scope, receive, send)
            return
        endpoint = found.methods.get(scope["method"])
        if endpoint is None:
            await answer(send, _not_allowed(found.methods))
            return
        scope["path_params"] = found.params
        await endpoint(scope, receive, send)


def _is_read(method: str, path: str) -> bool:
    """Whether a node that follows can answer. What runs Workers and moves time does so on the node that leads alone."""
    return method in {"GET", "HEAD"} and not path.startswith("/emulator/")


def _own(service: Service) -> Iterable[Operation]:
    """What this server has beside Cloudflare's operations."""
    closed = service.access.closed
    yield from (health.OPERATION, prometheus.OPERATION, graphql.OPERATION)
    yield openapi.document_operation("/openapi.json", openapi.document(OPERATIONS, closed=closed))
    if service.control:
        yield from control.OPERATIONS
        described = openapi.document(control.OPERATIONS, closed=closed, prefix="")
        yield openapi.document_operation("/emulator/openapi.json", described)


async def _refuse(request: Request, error: HTTPException) -> Response:
    """What the pages do not have."""
    found = answers.refusal(NoRoute())
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        path = request.scope["path"]
        routes = [each for each in request.app.routes if isinstance(each, Route) and each.path_regex.match(path)]
        found = _not_allowed({method for each in routes for method in each.methods or ()})
    headers = {name.decode(): value.decode() for name, value in found.headers}
    return Response(found.content, found.status, headers, found.media_type)


def _not_allowed(methods: Iterable[str]) -> Answer:
    return answers.refusal(MethodNotAllowed(), (b"allow", ", ".join(sorted(methods)).encode()))


class Border:
    """Refuses what no client sends, before anything looks at it; dates answers where time is not the computer's."""

    def __init__(self, app: ASGIApp, *, near: bool, clock: Service | None) -> None:
        self.app, self.near, self.clock = app, near, clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it."""
        if scope["type"] == "http":
            send = send if self.clock is None else _dated(send, self.clock)
            refused = _suspicious(scope, near=self.near)
            if refused is not None:
                await answer(send, answers.refusal(refused))
                return
        await self.app(scope, receive, send)


def _dated(send: Send, service: Service) -> Send:
    """Answers with the account's date: clients reckon ages and windows by it."""

    async def told(message: Message) -> None:
        if message["type"] == "http.response.start":
            date = format_datetime(moment(service.now_us), usegmt=True).encode()
            message = {**message, "headers": [*message["headers"], (b"date", date)]}
        await send(message)

    return told


def _suspicious(scope: Scope, *, near: bool) -> Refused | None:
    headers = scope["headers"]
    size_bytes = len(scope.get("raw_path") or b"") + len(scope["query_string"])
    if len(headers) > HEADERS_MAX or size_bytes + sum(len(n) + len(v) for n, v in headers) > HEADER_BYTES_MAX:
        return HeadersTooLarge()
    named = dict(headers)
    origin = named.get(b"origin")
    if origin is not None and origin.partition(b"://")[2] != named.get(b"host", b""):
        return CrossOrigin()
    if b"%2f" in (scope.get("raw_path") or b"").lower():
        return NoRoute()
    if near and not _is_near(named.get(b"host", b"").decode("latin-1")):
        return CrossOrigin("without a token this server is to be asked for as localhost, or by the address of this computer")
    return None


def _is_near(host: str) -> bool:
    """Whether a Host header names this computer. A name of the internet may be made to lead here, and bring a page along."""
    try:
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    with suppress(ValueError):
        ip_address(name)
        return True
    return "." not in name.rstrip(".") or name.endswith(".localhost")
