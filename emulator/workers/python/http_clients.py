"""httpx, requests and urllib3 in a Worker's own modules: what they send goes out as the Worker's `fetch` does.

So it is in the runtime, which has no sockets (https://developers.cloudflare.com/workers/languages/python/packages/). Each is
a copy of the module with other clients in it; the test's own is what it was.
"""

from __future__ import annotations

import io
from contextlib import contextmanager
from http.client import responses
from types import FunctionType
from typing import TYPE_CHECKING, Any

from emulator.workers.python.stand_ins import run_sync
from emulator.workers.python.worker_sys import copied

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import ModuleType


def adapters(fetch: Callable[..., Any]) -> dict[str, Callable[[ModuleType], ModuleType]]:
    """By a module's name, what makes a Worker's copy of it."""
    return {
        "httpx": lambda module: _httpx(module, fetch),
        "requests": lambda module: _requests(module, fetch),
        "urllib3": lambda module: _urllib3(module, fetch),
    }


async def _sent(fetch: Callable[..., Any], method: str, url: str, headers: Any, body: Any) -> tuple[int, list[Any], bytes]:
    """Status, headers and body of the answer to a request."""
    if isinstance(body, str):
        body = body.encode()
    elif hasattr(body, "read"):
        body = body.read()
    options = {"method": method.upper(), "headers": dict(headers or {})}
    answer = await fetch(url, **options, **({"body": bytes(body)} if body else {}))
    return answer.status, [tuple(each) for each in answer.headers.items()], bytes(await answer.bytes())


def _httpx(httpx: Any, fetch: Callable[..., Any]) -> ModuleType:
    class Transport(httpx.BaseTransport, httpx.AsyncBaseTransport):  # type: ignore[misc]
        def handle_request(self, request: Any) -> Any:
            request.read()
            return run_sync(self._answer(request))

        async def handle_async_request(self, request: Any) -> Any:
            await request.aread()
            return await self._answer(request)

        async def _answer(self, request: Any) -> Any:
            sent = await _sent(fetch, request.method, str(request.url), request.headers, request.content)
            return httpx.Response(sent[0], headers=sent[1], content=sent[2], request=request)

    def client(base: Any) -> Any:
        def __init__(self: Any, **options: Any) -> None:  # noqa: N807 - it becomes the class's
            base.__init__(self, **{**options, "transport": options.get("transport") or Transport()})

        return type(base.__name__, (base,), {"__init__": __init__, "__module__": base.__module__})

    clients = {"Client": client(httpx.Client), "AsyncClient": client(httpx.AsyncClient)}
    calls = ("request", "get", "options", "head", "post", "put", "patch", "delete")
    functions = _seeing({name: getattr(httpx, name) for name in calls}, clients)
    stream = _seeing({"stream": httpx.stream.__wrapped__}, clients)["stream"]
    return copied(httpx, {**clients, **functions, "stream": contextmanager(stream)})


def _requests(requests: Any, fetch: Callable[..., Any]) -> ModuleType:
    class Adapter(requests.adapters.HTTPAdapter):  # type: ignore[misc]
        def send(self, request: Any, *_given: Any, **_options: Any) -> Any:
            answer = _raw(run_sync(_sent(fetch, request.method, request.url, request.headers, request.body)), whole=False)
            return self.build_response(request, answer)

    class Session(requests.Session):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            for scheme in ("https://", "http://"):
                self.mount(scheme, Adapter())

    sessions = copied(requests.sessions, {"Session": Session})
    calls = ("request", "get", "options", "head", "post", "put", "patch", "delete")
    functions = _seeing({name: getattr(requests, name) for name in calls}, {"sessions": sessions})
    return copied(requests, {**functions, "Session": Session, "session": Session, "sessions": sessions})


def _urllib3(urllib3: Any, fetch: Callable[..., Any]) -> ModuleType:
    class PoolManager(urllib3.PoolManager):  # type: ignore[misc]
        def urlopen(self, method: str, url: str, *_given: Any, **options: Any) -> Any:
            sent = run_sync(_sent(fetch, method, url, options.get("headers") or self.headers, options.get("body")))
            return _raw(sent, whole=options.get("preload_content", True))

    return copied(urllib3, {"PoolManager": PoolManager, "request": PoolManager().request})


def _raw(sent: tuple[int, list[Any], bytes], *, whole: bool) -> Any:
    """An answer as urllib3 has it: read already, or to be read."""
    import urllib3

    status, headers, body = sent
    return urllib3.HTTPResponse(
        io.BytesIO(body),
        urllib3.HTTPHeaderDict(headers),
        status,
        reason=responses.get(status),
        preload_content=whole,
        decode_content=False,
    )


def _seeing(functions: Mapping[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    """Functions of one module, which see each other and what is changed where they saw the module's own."""
    found: dict[str, Any] = {}
    for name, each in functions.items():
        found.setdefault("", {**each.__globals__, **changed})
        copy = FunctionType(each.__code__, found[""], name, each.__defaults__, each.__closure__)
        copy.__kwdefaults__, copy.__doc__ = each.__kwdefaults__, each.__doc__
        found[""][name] = found[name] = copy
    found.pop("", None)
    return found
