"""Passes a request on to the node that leads, and its answer back."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import httpx

from emulator.core.refusals import Refused, UnknownInternalError
from emulator.server.wire import answers
from emulator.server.wire.endpoint import answer, read_body

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Receive, Scope, Send

FORWARDED = b"x-cfq-forwarded"
"""On a request that comes from another node: it is not passed on again."""
_PATIENCE_SECONDS, _PAUSE_SECONDS, _LOOK_SECONDS = 5.0, 0.05, 0.1
"""How long and how often a leader is looked for where none answers, and how often whether who was asked still leads."""
_OWN = frozenset({b"host", b"origin", b"connection", b"keep-alive", b"transfer-encoding", b"content-length", b"upgrade", b"te"})


class Leader(NamedTuple):
    """Where who leads listens, and the number of its term."""

    address: str
    fence: int


class Forward:
    """ASGI. `leader` tells who leads now, None while nobody is known.

    What was never sent is tried again until a leader is there. What was sent and not answered is not: it may have been done.
    """

    def __init__(self, leader: Callable[[], Leader | None]) -> None:
        self._leader = leader
        self._client = httpx.AsyncClient(timeout=httpx.Timeout(None, connect=1.0), trust_env=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass one request on."""
        try:
            if any(name == FORWARDED for name, _ in scope["headers"]):
                raise UnknownInternalError("this node does not lead any more")
            response = await self._asked(scope, await read_body(receive))
        except Refused as refused:
            await answer(send, answers.refusal(refused))
            return
        except ConnectionAbortedError:
            return
        headers = [(name.lower(), value) for name, value in response.headers.raw if name.lower() not in _OWN]
        headers = [pair for pair in headers if pair[0] not in {b"content-encoding", b"date", b"server"}]
        size = (b"content-length", b"%d" % len(response.content))
        await send({"type": "http.response.start", "status": response.status_code, "headers": [*headers, size]})
        await send({"type": "http.response.body", "body": response.content})

    async def _asked(self, scope: Scope, body: bytes) -> httpx.Response:
        """The leader's answer. Raises Refused (15000) where there is none."""
        headers = [pair for pair in scope["headers"] if pair[0] not in _OWN]
        path, query = scope.get("raw_path") or scope["path"].encode(), scope["query_string"]
        until = asyncio.get_running_loop().time() + _PATIENCE_SECONDS
        while asyncio.get_running_loop().time() < until:
            leader = self._leader()
            if leader is not None:
                url = leader.address + (path + b"?" + query if query else path).decode("ascii")
                request = self._client.build_request(scope["method"], url, headers=[*headers, (FORWARDED, b"1")], content=body)
                with suppress(httpx.ConnectError, httpx.ConnectTimeout):
                    return await self._while_it_leads(leader, request)
            await asyncio.sleep(_PAUSE_SECONDS)
        raise UnknownInternalError("no node leads at present; nothing was done")

    async def _while_it_leads(self, leader: Leader, request: httpx.Request) -> httpx.Response:
        asked = asyncio.ensure_future(self._client.send(request))
        try:
            while not asked.done() and self._leader() == leader:
                await asyncio.wait({asked}, timeout=_LOOK_SECONDS)
            if asked.done():
                return asked.result()
            why = "another node leads"
        except (httpx.ConnectError, httpx.ConnectTimeout):
            raise
        except Exception as error:  # noqa: BLE001 - the network's libraries have many words for a connection that was lost
            why = type(error).__name__
        finally:
            asked.cancel()
        raise UnknownInternalError(f"the leader was lost before it answered, and may have done what was asked: {why}")

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.aclose()
