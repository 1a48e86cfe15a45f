"""A consumer behind a URL: each batch is posted, and the answer is the runtime's own result of a queue event.

`{outcome, ackAll, retryBatch, explicitAcks, retryMessages}`:
https://github.com/cloudflare/workerd/blob/main/src/workerd/api/queue.h. Slow, dead or lying endpoints are failed deliveries.
"""

from __future__ import annotations

import asyncio
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import httpx

from cfq_lint.facts import limits
from emulator.core.commands import Settle
from emulator.engine import bodies
from emulator.engine.clock import moment
from emulator.engine.delivery import CRASHED
from emulator.engine.error_text import error_text
from emulator.engine.faults import URL
from emulator.engine.targets.queue_result import settlement

if TYPE_CHECKING:
    from emulator.engine.delivery import Delivery
    from emulator.engine.targets.real_time import RealTime

PUSH_SECONDS = 30.0
"""An endpoint has so many real seconds to answer."""
_ANSWER_BYTES_MAX = 1_000_000
_ERROR_CHARACTERS_MAX = 200


class URLTarget:
    """Posts batches to a URL and waits `timeout_seconds`, in real time, for the answer. Raises ValueError for no URL."""

    name = URL

    def __init__(self, runtime: RealTime, url: str, *, timeout_seconds: float = PUSH_SECONDS) -> None:
        if not url.startswith(("http://", "https://")):
            message = f"{url!r} is no URL of an endpoint: it must begin with http:// or https://"
            raise ValueError(message)
        self.runtime, self.url, self.timeout_seconds = runtime, url, timeout_seconds
        self._client: httpx.AsyncClient | None = None
        runtime.at_close(self._close)

    def deliver(self, delivery: Delivery) -> Settle | None:
        """Post a batch, unless a fault drops the connection before."""
        event = delivery.event
        if delivery.choose(2, "crashes"):
            delivery.crashed = True
            return Settle(event.queue, event.batch, "exception", CRASHED)
        self.runtime.spawn(delivery, self._post(delivery, batch_json(delivery)))
        return None

    def cut(self, delivery: Delivery, error: BaseException) -> Settle:
        """Wait no longer for an answer."""
        self.runtime.forget(delivery)
        return Settle(delivery.event.queue, delivery.event.batch, "exceededWallTime", error_text(error))

    async def _post(self, delivery: Delivery, content: bytes) -> Settle:
        event = delivery.event
        try:
            async with asyncio.timeout(self.timeout_seconds):
                return settlement(event, await self._answer(content))
        except TimeoutError:
            text = f"{self.url} did not answer within {self.timeout_seconds:g} seconds"
            delivery.fail(TimeoutError(text))
            return Settle(event.queue, event.batch, "exceededWallTime", text)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with an endpoint or its answer is the outcome
            delivery.fail(error)
            text = f"{self.url}: {error_text(error)[:_ERROR_CHARACTERS_MAX]}"
            return Settle(event.queue, event.batch, "exception", text)

    async def _answer(self, content: bytes) -> bytes:
        if self._client is None:
            limit = httpx.Limits(max_connections=limits.CONCURRENCY_MAX)
            self._client = httpx.AsyncClient(timeout=self.timeout_seconds, limits=limit, trust_env=False)
        answer = bytearray()
        headers = {"content-type": "application/json"}
        async with self._client.stream("POST", self.url, content=content, headers=headers) as response:
            async for chunk in response.aiter_bytes():
                answer += chunk
                if len(answer) > _ANSWER_BYTES_MAX:
                    raise ValueError("the answer is too long")
            if not response.is_success:
                message = f"HTTP status {response.status_code}"
                raise ValueError(message)
        return bytes(answer)

    async def _close(self) -> None:
        if self._client is not None:
            await self._client.aclose()


def batch_json(delivery: Delivery) -> bytes:
    """A batch for an endpoint, as JSON."""
    metrics = delivery.metrics
    content = {
        "queue": delivery.queue,
        "batch": delivery.event.batch,
        "messages": list(map(_message, *delivery.flight.columns())),
        "metadata": {
            "metrics": {
                "backlogCount": metrics.backlog_count,
                "backlogBytes": metrics.backlog_bytes,
                "oldestMessageTimestamp": metrics.oldest_message_timestamp_ms,
            }
        },
    }
    return bodies.encode(content, "json")


def _message(id: str, attempts: int, body: bytes, kind: str, timestamp_us: int) -> dict[str, Any]:
    """A message for an endpoint: text and json as they are, bytes and v8 in base64 (`encoding` says so)."""
    shown: dict[str, Any] = {
        "id": id, "timestamp": moment(timestamp_us).isoformat().replace("+00:00", "Z"),
        "timestamp_ms": timestamp_us // 1_000, "attempts": attempts, "contentType": kind,
    }  # fmt: skip
    if kind in {"text", "json"}:
        return shown | {"body": bodies.decode(body, kind)}
    return shown | {"body": b64encode(body).decode(), "encoding": "base64"}
