"""The dashboard at `/`: a page without a build step or an outside request, and the JSON that it asks for.

The page needs no token, its data a reader's, its buttons a writer's.
Scripts and styles come from this server alone, and the page may run no other: what a message holds is only ever text.
"""

from __future__ import annotations

import math
from functools import cache
from importlib.resources import files
from inspect import isawaitable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.responses import Response
from starlette.routing import Route

from emulator.core import commands
from emulator.core.decide.manage import find
from emulator.core.refusals import JSONRequestBodyInvalid, JSONRequestBodyMalformed, QueueUnknown, Refused, UnknownInternalError
from emulator.engine.bodies import json_text
from emulator.engine.clock import SECOND_US, moment
from emulator.engine.dead_letters import redrive
from emulator.engine.journal import JournalUnwritable
from emulator.server.access import READ, WRITE
from emulator.server.dashboard.views import Views
from emulator.server.wire.refusals import CrossOrigin, NoRoute

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request

    from emulator.server.observe.watch import Watch
    from emulator.server.service import Service

    Answer = Callable[[Request, dict[str, Any]], Any]

PAGES = {
    "index.html": "text/html; charset=utf-8",
    "icon.svg": "image/svg+xml",
    "style.css": "text/css; charset=utf-8",
    "api.js": "text/javascript; charset=utf-8",
    "app.js": "text/javascript; charset=utf-8",
    "dom.js": "text/javascript; charset=utf-8",
    "plot.js": "text/javascript; charset=utf-8",
    "views.js": "text/javascript; charset=utf-8",
}
"""The files of the page and their types; nothing else is served."""
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_BODY_BYTES_MAX = 10_000
_EVENTS_INLINE = 50_000
"""A journal with more events is read in a thread."""
_HITS_MAX = _LIMIT_MAX = 1_000_000
_SECONDS_MAX = 3_660 * 24 * 3_600
"""A clock is moved ten years at most at once, and no plot goes back further."""


class Dashboard:
    """Answers the page. Everything is done on the service's own loop; only the journal is read beside it."""

    def __init__(self, service: Service, watch: Watch) -> None:
        self._service, self._watch = service, watch
        self._views = Views(service, watch)

    def routes(self) -> list[Route]:
        """The page, its files and its data."""
        return [
            Route("/", self._page("index.html"), methods=["GET"]),
            *(Route(f"/dashboard/{name}", self._page(name), methods=["GET"]) for name in PAGES),
            Route("/dashboard/data/queues", self._answer(self._overview, READ), methods=["GET"]),
            Route("/dashboard/data/queues/{core}", self._answer(self._queue, READ), methods=["GET"]),
            Route("/dashboard/data/queues/{core}/messages", self._answer(self._messages, READ), methods=["GET"]),
            Route("/dashboard/data/queues/{core}/messages/{id}", self._answer(self._message, READ), methods=["GET"]),
            Route("/dashboard/data/messages/{id}", self._answer(self._timeline, READ), methods=["GET"]),
            Route("/dashboard/data/queues/{core}/{action}", self._answer(self._act, WRITE), methods=["POST"]),
            Route("/dashboard/data/time", self._answer(self._move, WRITE), methods=["POST"]),
            Route("/metrics/dedupe-hits", self._answer(self._report_hits, WRITE), methods=["POST"]),
        ]

    def _page(self, name: str) -> Callable[[Request], Awaitable[Response]]:
        async def page(_request: Request) -> Response:
            return Response(_file(name), media_type=PAGES[name], headers=HEADERS)

        return page

    def _answer(self, answer: Answer, scope: str) -> Callable[[Request], Awaitable[Response]]:
        """Check who asks, bring time to the present, answer in JSON; a refusal carries its code and status."""

        async def answered(request: Request) -> Response:
            status, value = 200, None
            try:
                self._service.access.check(request.headers.get("authorization"), scope)
                if scope == WRITE:
                    _check_origin(request)
                given = await _json(request) if scope == WRITE else {}
                value = await self._now(answer, request, given)
            except Refused as refusal:
                status, value = refusal.status, {"error": {"code": refusal.code, "message": refusal.text}}
            except JournalUnwritable as error:
                failed = UnknownInternalError(str(error))
                status, value = failed.status, {"error": {"code": failed.code, "message": failed.text}}
            return Response(json_text.encode(value), status, HEADERS, "application/json")

        return answered

    async def _now(self, answer: Answer, request: Request, given: dict[str, Any]) -> Any:
        """Act at the present moment; nothing else happens meanwhile unless the answer itself waits."""
        time = self._service.time
        with self._service.account.lock:
            time.catch_up()
            self._watch.catch_up()
            try:
                value = answer(request, given)
            finally:
                time.kick()
        return await value if isawaitable(value) else value

    # --- looking

    def _overview(self, request: Request, _given: dict[str, Any]) -> Any:
        query = request.query_params
        order = query.get("order", "name")
        if order not in {"name", "depth", "age"}:
            raise JSONRequestBodyInvalid(f"order {order!r} is none of name, depth, age")
        seconds = _seconds(query.get("seconds"))
        return self._views.overview(_whole(query.get("page", "1")), query.get("name", ""), order, seconds)

    def _queue(self, request: Request, _given: dict[str, Any]) -> Any:
        return self._views.queue(request.path_params["core"], _seconds(request.query_params.get("seconds")))

    def _messages(self, request: Request, _given: dict[str, Any]) -> Any:
        return self._views.messages(request.path_params["core"], _whole(request.query_params.get("offset", "0")))

    def _message(self, request: Request, _given: dict[str, Any]) -> Any:
        return _known(self._views.message(request.path_params["core"], request.path_params["id"]))

    def _timeline(self, request: Request, _given: dict[str, Any]) -> Any:
        id = request.path_params["id"]
        if self._service.account.sequence > _EVENTS_INLINE:
            return self._timeline_beside(id)
        return _known(self._views.timeline(id))

    async def _timeline_beside(self, id: str) -> Any:
        """Read a long journal in a thread: it is only ever appended to."""
        return _known(await run_in_threadpool(self._views.timeline, id))

    # --- doing

    def _core(self, request: Request) -> str:
        """A queue by its core name, or by the id that it has over REST."""
        given: str = request.path_params["core"]
        row = self._service.directory.queues.get(given)
        return given if row is None or given in self._service.state.queues else str(row["core"])

    def _act(self, request: Request, given: dict[str, Any]) -> Any:
        core, action = self._core(request), request.path_params["action"]
        if action in {"pause", "resume"}:
            self._service.execute(commands.ChangeQueue(core, delivery_paused=action == "pause"))
        elif action == "purge":
            gone = self._service.execute(commands.Purge(core))
            return {"purged": sum(len(getattr(event, "ids", ())) for event in gone)}
        elif action == "redrive":
            return self._redrive(core, given.get("target"), given.get("limit"))
        else:
            raise NoRoute
        return {}

    def _redrive(self, core: str, target: Any, limit: Any) -> Any:
        if target is not None and not isinstance(target, str):
            raise JSONRequestBodyInvalid("target is the name of a queue")
        if limit is not None and (type(limit) is not int or not 0 < limit <= _LIMIT_MAX):
            raise JSONRequestBodyInvalid(f"limit is a whole number within 1..{_LIMIT_MAX}")
        row = None if target is None else self._service.directory.by_public.get(target)
        if target is not None and row is None:
            raise QueueUnknown(f"Queue not found: {target[:100]!r}")
        home = None if row is None else row["core"]
        return redrive(self._service.account, core, self._watch.ledger.origins, home, limit).as_dict()

    async def _move(self, _request: Request, given: dict[str, Any]) -> Any:
        time = self._service.time
        if not self._service.control or time.mode != "virtual":
            raise NoRoute("the clock can be moved only with --control and in virtual time")
        try:
            if given.get("until_idle") is True:
                await time.run_until_idle()
            else:
                target_us = self._service.now_us + round(_seconds(given.get("seconds"), None) * SECOND_US)
                moment(target_us)  # the calendar ends with the year 9999
                await time.advance_to(target_us)
        except (OverflowError, RuntimeError, ValueError) as error:
            raise JSONRequestBodyInvalid(str(error)) from error
        return {"now": self._service.now_us // 1_000}

    def _report_hits(self, _request: Request, given: dict[str, Any]) -> Any:
        """A consumer tells how many deliveries it recognized as dealt with: `{"queue": …, "count": 1}`."""
        name, count = given.get("queue"), given.get("count", 1)
        if not isinstance(name, str) or type(count) is not int or not 0 < count <= _HITS_MAX:
            raise JSONRequestBodyInvalid(f"queue is a name, count a whole number within 1..{_HITS_MAX}")
        core = self._service.directory.core(name)
        find(self._service.state, core)
        self._watch.dedupe_hit(core, count)
        return {}


@cache
def _file(name: str) -> bytes:
    return files("emulator.server.dashboard").joinpath("assets", name).read_bytes()


def _check_origin(request: Request) -> None:
    """Refuse what another site's page asks through somebody's browser."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site")
    foreign = origin is not None and urlsplit(origin).netloc != request.headers.get("host")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if foreign or site not in {None, "same-origin", "none"} or kind != "application/json":
        raise CrossOrigin


async def _json(request: Request) -> dict[str, Any]:
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > _BODY_BYTES_MAX:
            raise JSONRequestBodyInvalid("the request is too large")
    try:
        value = json_text.parse_strictly(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise JSONRequestBodyMalformed from error
    if not isinstance(value, dict):
        raise JSONRequestBodyInvalid("an object is expected")
    return value


def _known(value: Any) -> Any:
    if value is None:
        raise NoRoute("no such message")
    return value


def _whole(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 15:  # noqa: PLR2004 - more digits than anything has
        raise JSONRequestBodyInvalid(f"{text[:50]!r} is not a whole number")
    return int(text)


def _seconds(value: Any, default: float | None = 300.0) -> float:
    try:
        seconds = default if value is None else math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        seconds = None
    if seconds is None or not 0 <= seconds <= _SECONDS_MAX:
        raise JSONRequestBodyInvalid(f"seconds are a number within 0..{_SECONDS_MAX}")
    return seconds
