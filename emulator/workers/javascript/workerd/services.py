"""What JavaScript Workers ask of the account: queues, stores, outgoing requests, bindings that a test stands in for."""

from __future__ import annotations

import inspect
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from emulator.core.refusals import Refused
from emulator.engine import bodies
from emulator.engine.clock import moment
from emulator.engine.error_text import error_text
from emulator.workers.javascript.workerd.static_assets import asset
from emulator.workers.javascript.workerd.wire import Reply, Request
from emulator.workers.outgoing import Outgoing, answer_of
from emulator.workers.stores import d1_wire, kv_wire, r2_wire

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from emulator.workers.host import Host
    from emulator.workers.javascript.workerd.object_alarms import ObjectAlarms


class Served(Protocol):
    """What is asked of a Worker's face."""

    fetches: list[Outgoing]
    responder: Callable[[Outgoing], Any] | None
    fakes: dict[str, Any]
    exposes_codes: bool
    assets: Mapping[str, Any]

    def hear(self, level: str, text: str) -> None:
        """A line of its console."""


_NOT_CACHED = {"GET": Reply(504, headers=(("CF-Cache-Status", "MISS"),)), "PURGE": Reply(404)}
"""The cache keeps nothing, as on workers.dev: https://developers.cloudflare.com/workers/runtime-apis/cache/."""
_REFUSED = "X-Cfq-Refused"
"""What is refused for the Worker's own code is thrown there, with this text."""


class Services:
    """The account's side of every binding. `workers` are the Workers, by their place."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.alarms: ObjectAlarms
        self.workers: list[Served] = []

    @property
    def calls_max(self) -> int | None:
        """How much an invocation may ask of bindings and other servers, by the account's plan."""
        return self._host.account.calls_max

    def asked_itself(self, worker: int, what: str, query: dict[str, str]) -> Reply:
        """The answer to an isolate's own question: the alarm of an object, or something that was only to be told."""
        return self.alarms.answer(worker, query) if what == "alarm" else Reply()

    def console(self, lines: Iterable[tuple[int, str, str]] | None) -> None:
        """What Workers wrote: which of them, level and text."""
        for place, level, text in lines or ():
            if place < len(self.workers):  # an engine of workflows is not a test's Worker
                self.workers[place].hear(level, text)

    def answer(self, worker: int, kind: str, identity: str, request: Request) -> Any:
        """The answer to a request: a Reply, or a function that is given whom to tell it later."""
        if kind == "queue":
            return self._queue(self.workers[worker], identity, request)
        if kind in {"kv", "d1", "r2"}:
            return self._store(kind, identity, request)
        if kind == "assets":
            return asset(Path(identity), self.workers[worker].assets, request.method, request.target)
        if kind == "cache":
            return self._cache(self.workers[worker], request)
        if kind == "out":
            return self._outgoing(self.workers[worker], self.workers[worker].responder, request)
        if kind == "fake":
            return self._fake(self.workers[worker], identity, request)
        return Reply(501, b"", ((_REFUSED, f"{kind} is not known"),))

    def _store(self, kind: str, identity: str, request: Request) -> Reply:
        if kind == "kv":
            namespace = self._host.stores.kv(identity).namespace
            told = kv_wire.answer(
                namespace, request.method, request.path, request.query, headers=request.headers, body=request.body
            )
            return Reply(told.status, told.body, told.headers, told.reason)
        if kind == "d1":
            found = d1_wire.answer(self._host.stores.d1(identity), request.query, request.body)
            return Reply(200, found, (("Content-Type", "application/json"),))
        answered = r2_wire.answer(self._host.stores.r2(identity), request.headers, request.body)
        return Reply(answered.status, answered.body, tuple(answered.headers.items()))

    def _cache(self, worker: Served, request: Request) -> Reply:
        if request.method == "PUT":
            text = f"the cache keeps nothing, as on workers.dev, so {request.target} will be a miss"
            worker.hear("warn", text)
            self._host.warn(f"{worker!r}: {text}")
        return _NOT_CACHED.get(request.method, Reply(204))

    # --- queues

    def _queue(self, worker: Served, name: str, request: Request) -> Reply:
        queue, headers = self._host.queue(name), request.headers
        try:
            if request.method == "GET":
                return Reply(200, msgspec.json.encode(_metrics(queue.metrics())))
            delay = _number(headers.get("x-msg-delay-secs"))
            if request.path == "message":
                row = (headers.get("x-msg-fmt", "v8"), request.body, delay)
                self._host.account.send(name, (row[1],), (row[0],), (delay,), many=False)
            else:
                rows = msgspec.json.decode(request.body)["messages"]
                self._host.account.send(
                    name, tuple([b64decode(each["body"]) for each in rows]),
                    tuple([each.get("contentType", "v8") for each in rows]),
                    tuple([_number(each.get("delaySecs")) for each in rows]), delay, many=True,
                )  # fmt: skip
        except Refused as refused:
            told = () if not worker.exposes_codes else (
                ("CF-Queues-Error-Code", str(refused.code)), ("CF-Queues-Error-Cause", refused.text),
            )  # fmt: skip
            return Reply(refused.status, str(refused).encode(), told, _phrase(refused.status))
        return Reply(200, msgspec.json.encode({"metadata": {"metrics": _metrics(queue.metrics())}}))

    # --- the world outside

    def socket_refused(self, place: int, address: str) -> Reply:
        """The answer to `connect()` of cloudflare:sockets, and to what Node's modules make of it."""
        worker = self.workers[place]
        text = (
            f"a TCP socket to {address} was refused: sockets are not emulated, and the network is never reached. Give the "
            "test's own object for what opens it: emu.worker(…, env={…})"
        )
        worker.hear("warn", text)
        self._host.warn(f"{worker!r}: {text}")
        return Reply(502, b"", reason=text)

    def _outgoing(self, worker: Served, responder: Callable[[Outgoing], Any] | None, request: Request) -> Any:
        headers = {name: value for name, value in request.headers.items() if name not in {"x-cfq", "content-length", "host"}}
        sent = Outgoing(request.method, request.target, headers, request.body, moment(self._host.now_us()))
        worker.fetches.append(sent)
        if responder is None:
            text = (
                f"{sent.method} {sent.url} was refused: the network is never reached. Answer it in the test: "
                "emu.worker(…, fetch=lambda request: (200, {…}))"
            )
            worker.hear("warn", text)
            self._host.warn(f"{worker!r}: {text}")
            return Reply(502, b"", ((_REFUSED, text),))
        return self._given(lambda: responder(sent), _reply_of)

    def _fake(self, worker: Served, name: str, request: Request) -> Any:
        if name not in worker.fakes:
            text = msgspec.json.decode(request.body)["text"]
            worker.hear("warn", text)
            self._host.warn(f"{worker!r}: {text}")
            return Reply()
        if request.method != "POST" or request.path != "call":
            found = worker.fakes[name]
            return self._outgoing(worker, found if callable(found) else found.fetch, request)
        steps = msgspec.json.decode(request.body)

        def act() -> Any:
            found = worker.fakes[name]
            for member, *given in steps:
                found = getattr(found, member)
                if given:
                    found = found(*given[0])
            return found

        return self._given(act, lambda value: Reply(200, bodies.encode(value, "json")))

    def _given(self, act: Callable[[], Any], reply: Callable[[Any], Reply]) -> Any:
        """What a test's own code answers, now or when it has been awaited; what it raises is thrown in the Worker."""

        def told(value: Any) -> Reply:
            try:
                return reply(value)
            except (TypeError, ValueError) as error:
                return _thrown(error)

        try:
            value = act()
        except Exception as error:  # noqa: BLE001 - whatever a test's function raises
            return _thrown(error)
        if not inspect.isawaitable(value):
            return told(value)

        def later(then: Callable[[Reply], None]) -> None:
            async def awaited() -> None:
                try:
                    found = told(await value)
                except Exception as error:  # noqa: BLE001 - as above
                    found = _thrown(error)
                then(found)

            self._host.keep(awaited())

        return later


def _reply_of(value: Any) -> Reply:
    status, headers, body = answer_of(value)
    content = b"" if body is None else body.encode() if isinstance(body, str) else body
    dropped = {"content-length", "transfer-encoding", "connection"}
    return Reply(status, content, tuple((name, each) for name, each in headers if name.lower() not in dropped))


def _thrown(error: BaseException) -> Reply:
    return Reply(502, b"", ((_REFUSED, error_text(error)),))


def _metrics(metrics: Any) -> dict[str, Any]:
    oldest = metrics.oldest_message_timestamp_ms
    told = {"backlogCount": metrics.backlog_count, "backlogBytes": metrics.backlog_bytes}
    return told | ({"oldestMessageTimestamp": oldest} if oldest else {})


def _number(given: Any) -> int | None:
    return None if given is None else int(given)


def _phrase(status: int) -> str:
    from http import HTTPStatus

    return HTTPStatus(status).phrase
