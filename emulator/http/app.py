"""The ASGI application: every operation under `/client/v4` and without it, the control API if it is open, and what watches.

Around them stands a border that no request passes with too many headers, or from another origin's page.
"""

from __future__ import annotations

from contextlib import suppress
from http import HTTPStatus
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route

from emulator.http import answers, consumers, control, messages, queues, subscriptions
from emulator.http.dashboard import routes as watching
from emulator.http.endpoint import Endpoint, answer
from emulator.http.logs import RequestLog
from emulator.http.openapi import document_operation
from emulator.http.refusals import CrossOrigin, HeadersTooLarge, MethodNotAllowed, NoRoute

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from emulator.core.refusals import Refused
    from emulator.http.operation import Operation
    from emulator.http.service import Service

PREFIXES = ("/client/v4", "")
HEADERS_MAX = 100
HEADER_BYTES_MAX = 32_000

OPERATIONS: tuple[Operation, ...] = (
    *messages.OPERATIONS, *queues.OPERATIONS, *consumers.OPERATIONS, *subscriptions.OPERATIONS,
)  # fmt: skip
"""Cloudflare's endpoints; those of messages first, because they are asked for most and routes are tried in order."""


def create_app(service: Service, *, listens: bool = False) -> ASGIApp:
    """The application over a service. One that `listens` and asks for no token answers to no name of the internet."""
    own = [document_operation(OPERATIONS, closed=service.access.closed), *(control.OPERATIONS if service.control else ())]
    routes = [
        *_routes(service, OPERATIONS, account=True),
        *_routes(service, own, account=False),
        *watching(service, service.watch),
    ]
    handlers: Any = {HTTPException: _refuse}
    app = Starlette(routes=routes, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return RequestLog(Border(app, near=listens and not service.access.closed))


def _routes(service: Service, operations: Iterable[Operation], *, account: bool) -> list[Route]:
    found = []
    for operation in operations:
        for prefix in PREFIXES if account else ("",):
            path = f"{prefix}/accounts/{{account_id}}{operation.path}" if account else operation.path
            found.append(Route(path, Endpoint(service, operation), methods=[operation.method], name=operation.name))
    return found


async def _refuse(request: Request, error: HTTPException) -> Response:
    refused: Refused = NoRoute()
    headers = {}
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        refused, path = MethodNotAllowed(), request.scope["path"]
        methods = [r.methods or () for r in request.app.routes if isinstance(r, Route) and r.path_regex.match(path)]
        headers["allow"] = ", ".join(sorted({method for each in methods for method in each}))
    return Response(answers.failure(refused), refused.status, headers, "application/json")


class Border:
    """Refuses what no client sends, before anything looks at it."""

    def __init__(self, app: ASGIApp, *, near: bool) -> None:
        self.app, self.near = app, near

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request pass, or refuse it."""
        if scope["type"] == "http":
            refused = _suspicious(scope, near=self.near)
            if refused is not None:
                await answer(send, refused.status, answers.failure(refused))
                return
        await self.app(scope, receive, send)


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
