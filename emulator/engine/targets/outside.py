"""Consumers outside the core: a batch is posted to a URL, or given to a Python handler on a thread. Both end as a settlement.

What a URL answers is the runtime's own result, `{outcome, ackAll, retryBatch, explicitAcks, retryMessages}`:
https://github.com/cloudflare/workerd/blob/main/src/workerd/api/queue.h. Slow, dead or lying endpoints are failed deliveries.
"""

from __future__ import annotations

import asyncio
import inspect
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import httpx
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from cfq_lint.facts import limits
from emulator.core.commands import Settle
from emulator.engine import bodies as stored
from emulator.engine.clock import moment
from emulator.engine.error_text import error_text
from emulator.engine.metrics import Metrics
from emulator.engine.targets.batch import MessageBatch
from emulator.engine.targets.handlers import Context, handler_call

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from emulator.core.events import Delivered
    from emulator.core.model import Message
    from emulator.engine.account import Broker

PUSH_SECONDS = 30.0
"""An endpoint has so many real seconds to answer."""
_ANSWER_BYTES_MAX = 1_000_000
_SAFE_MAX = 2**53
_THREADS = 32


class Outside(Protocol):
    """Somebody outside who takes batches."""

    public: Callable[[str], str]
    """What a queue is called now, by its core name."""

    def prepare(self, broker: Broker, event: Delivered) -> Awaitable[Settle]:
        """Take what is needed of a batch now; what is returned ends with its settlement, and never raises."""

    async def close(self) -> None:
        """Let go of connections and threads."""


def _whole(value: object) -> object:
    """A number may be written 5 or 5.0; a text, a boolean or a fraction is no whole number."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _SAFE_MAX:
        raise ValueError("a whole number is needed")
    return value


Delay = Annotated[int, BeforeValidator(_whole)]


class _RetryBatch(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")
    retry: bool = False
    delaySeconds: Delay | None = None  # noqa: N815 - the runtime's name


class _RetryMessage(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")
    msgId: str  # noqa: N815 - the runtime's name
    delaySeconds: Delay | None = None  # noqa: N815 - the runtime's name


class _Result(BaseModel):
    """What an endpoint says of a batch."""

    model_config = ConfigDict(strict=True, extra="ignore")
    outcome: str
    ackAll: bool = False  # noqa: N815 - the runtime's name
    retryBatch: _RetryBatch | None = None  # noqa: N815 - the runtime's name
    explicitAcks: list[str] = []  # noqa: N815 - the runtime's name; pydantic copies defaults
    retryMessages: list[_RetryMessage] = []  # noqa: N815 - as above


class PushURL:
    """Posts batches to a URL."""

    def __init__(self, url: str, *, timeout_seconds: float = PUSH_SECONDS) -> None:
        self.url, self.timeout_seconds = url, timeout_seconds
        self._client: httpx.AsyncClient | None = None
        self.public: Callable[[str], str] = str

    def prepare(self, broker: Broker, event: Delivered) -> Awaitable[Settle]:
        """The batch as JSON, made now, and its way to the URL."""
        queue = broker.state.queues[event.queue]
        flight = queue.flights[event.batch]
        metrics = Metrics(queue, remaining=True)
        content = {
            "queue": self.public(event.queue),
            "batch": event.batch,
            "messages": [_message_json(message) for message in flight.messages],
            "metadata": {
                "metrics": {
                    "backlogCount": metrics.backlog_count,
                    "backlogBytes": metrics.backlog_bytes,
                    "oldestMessageTimestamp": metrics.oldest_message_timestamp_ms,
                }
            },
        }
        return self._post(event, content)

    async def _post(self, event: Delivered, content: dict[str, Any]) -> Settle:
        try:
            async with asyncio.timeout(self.timeout_seconds):
                return settlement(event, await self._answer(content))
        except TimeoutError:
            return _failed(event, "exceededWallTime", f"{self.url} did not answer within {self.timeout_seconds:g} seconds")
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:  # ValidationError is a ValueError
            return _failed(event, "exception", f"{self.url}: {error_text(error)[:200]}")

    async def _answer(self, content: dict[str, Any]) -> bytes:
        if self._client is None:
            limit = httpx.Limits(max_connections=limits.CONCURRENCY_MAX)
            self._client = httpx.AsyncClient(timeout=self.timeout_seconds, limits=limit, trust_env=False)
        answer = bytearray()
        async with self._client.stream("POST", self.url, json=content) as response:
            async for chunk in response.aiter_bytes():
                answer += chunk
                if len(answer) > _ANSWER_BYTES_MAX:
                    raise ValueError("the answer is too long")
            if not response.is_success:
                message = f"HTTP status {response.status_code}"
                raise ValueError(message)
        return bytes(answer)

    async def close(self) -> None:
        """Close connections."""
        if self._client is not None:
            await self._client.aclose()


def _message_json(message: Message) -> dict[str, Any]:
    """A message for an endpoint: text and json as they are, bytes and v8 in base64 (`encoding` says so)."""
    kind = message.content_type
    shown = {
        "id": message.id, "timestamp": moment(message.timestamp_us).isoformat().replace("+00:00", "Z"),
        "timestamp_ms": message.timestamp_us // 1_000, "attempts": message.attempts, "contentType": kind,
    }  # fmt: skip
    if kind in {"text", "json"}:
        return shown | {"body": stored.decode(message.body, kind)}
    return shown | {"body": b64encode(message.body).decode(), "encoding": "base64"}


def settlement(event: Delivered, answer: bytes) -> Settle:
    """What an endpoint's answer makes of a batch. Raises ValueError for one that names messages it was not given."""
    result = _Result.model_validate_json(answer)
    known, retried = set(event.ids), result.retryMessages
    if not {*result.explicitAcks, *(each.msgId for each in retried)} <= known:
        raise ValueError("the answer names messages that are not in the batch")
    batch = result.retryBatch or _RetryBatch()
    for delay in (batch.delaySeconds, *(each.delaySeconds for each in retried)):
        if delay is not None and not limits.DELAY_SECONDS_MIN <= delay <= limits.DELAY_SECONDS_MAX:
            message = f"delaySeconds {delay} is not within {limits.DELAY_SECONDS_MIN}..{limits.DELAY_SECONDS_MAX}"
            raise ValueError(message)
    return Settle(
        event.queue, event.batch, result.outcome[:100], None, frozenset(result.explicitAcks),
        tuple((each.msgId, each.delaySeconds) for each in retried), result.ackAll, batch.retry, batch.delaySeconds,
    )  # fmt: skip


def _failed(event: Delivered, outcome: str, error: str) -> Settle:
    return Settle(event.queue, event.batch, outcome, error)


class PythonHandler:
    """Gives batches to a Python handler, each on a thread of its own; coroutines run on a loop of their own."""

    def __init__(self, handler: Any, env: Any = None, *, timeout_seconds: float = limits.CONSUMER_WALL_SECONDS) -> None:
        self._call, self._env, self.timeout_seconds = handler_call(handler), env, timeout_seconds
        self.public: Callable[[str], str] = str
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="consumer")

    def prepare(self, broker: Broker, event: Delivered) -> Awaitable[Settle]:
        """The batch as a handler sees it, made now, and its way through a thread."""
        queue = broker.state.queues[event.queue]
        metrics = Metrics(queue, remaining=True)
        batch = MessageBatch(
            self.public(event.queue), queue.flights[event.batch], metrics, broker.limits, lambda _warning: None
        )
        return self._handled(event, batch)

    async def _handled(self, event: Delivered, batch: MessageBatch) -> Settle:
        work = asyncio.get_running_loop().run_in_executor(self._threads, self._work, batch)
        try:
            async with asyncio.timeout(self.timeout_seconds):
                await asyncio.shield(work)
        except TimeoutError as error:
            if not work.done():
                work.add_done_callback(lambda done: done.exception())  # it ends some day, and nobody asks any more
                text = f"TimeoutError: the handler did not end within {self.timeout_seconds:g} seconds"
                return _settled(event, batch, "exceededWallTime", text)
            return _settled(event, batch, "exception", error_text(error))
        except BaseException as error:
            if issubclass(type(error), asyncio.CancelledError) and not work.done():
                raise
            return _settled(event, batch, "exception", error_text(error))
        return _settled(event, batch, "ok", None)

    def _work(self, batch: MessageBatch) -> None:
        promised: list[Any] = []
        result = self._call(batch, self._env, Context(promised.append))
        if inspect.isawaitable(result) or promised:
            asyncio.run(_all(result, promised))

    async def close(self) -> None:
        """Let threads go; those that still work are left behind."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _settled(event: Delivered, batch: MessageBatch, outcome: str, error: str | None) -> Settle:
    """What a handler made of its batch, under the core's name for the queue."""
    return batch.settlement(event.batch, outcome, error)._replace(queue=event.queue)


async def _all(result: Any, promised: list[Any]) -> None:
    if inspect.isawaitable(result):
        await result
    for each in promised:
        if inspect.isawaitable(each):
            await each


__all__ = ["Outside", "PushURL", "PythonHandler", "ValidationError", "settlement"]
