"""The batch as a Python Worker sees it: bodies as Python values, `timestamp` without a zone, options objects of any make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.engine.options import not_retry_options
from emulator.engine.targets.batch import RETRY, RETRY_ALL
from emulator.workers.python.errors import JsException
from emulator.workers.python.javascript import convert
from emulator.workers.python.javascript.js_time import JsTime
from emulator.workers.python.javascript.js_values import JsDict, JsList

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.engine.targets.batch import Message, MessageBatch


class WorkerMessage:
    """A message: `id`, `timestamp` (UTC, without a zone), `attempts`, `body` (each access the same value), `ack`, `retry`."""

    def __init__(self, inner: Message, warn: Callable[[str], None]) -> None:
        self._inner, self._warn = inner, warn
        self.id, self.attempts = inner.id, inner.attempts
        self.timestamp = JsTime.at(inner.timestamp)

    @property
    def body(self) -> Any:
        """The body: objects are dicts with attribute access and `.to_py()`."""
        if "_body" not in self.__dict__:
            self._body = convert.python_from_rpc(self._inner.body)
        return self._body

    def ack(self) -> None:
        """Acknowledge."""
        self._inner.ack()

    def retry(self, options: Any = None, **named: Any) -> None:
        """Ask for it again after `delaySeconds`."""
        self._inner.retry(_delay(RETRY, options, named, self._warn))

    def to_py(self, **_options: Any) -> WorkerMessage:
        """The message itself."""
        return self

    def __repr__(self) -> str:
        return f"Message(id={self.id!r}, attempts={self.attempts}, body={self.body!r})"


class WorkerBatch:
    """A batch: `queue`, `messages`, `metadata.metrics`, `ackAll`, `retryAll`. `warn` hears what the runtime would ignore."""

    def __init__(self, inner: MessageBatch, warn: Callable[[str], None]) -> None:
        self._inner, self._warn = inner, warn
        self.queue = inner.queue
        self.messages = JsList(WorkerMessage(message, warn) for message in inner.messages)
        metrics = inner.metadata.metrics
        oldest = metrics.oldest_message_timestamp
        self.metadata = JsDict(metrics=JsDict(backlogCount=metrics.backlog_count, backlogBytes=metrics.backlog_bytes))
        if oldest is not None:
            self.metadata.metrics["oldestMessageTimestamp"] = JsTime.at(oldest)

    def ackAll(self) -> None:  # noqa: N802 - JavaScript's name
        """Acknowledge every message about which nothing has been said."""
        self._inner.ack_all()

    def retryAll(self, options: Any = None, **named: Any) -> None:  # noqa: N802 - JavaScript's name
        """Ask for every message again about which nothing has been said, after `delaySeconds`."""
        self._inner.retry_all(_delay(RETRY_ALL, options, named, self._warn))

    def ack_all(self) -> None:
        """`ackAll()`, with a warning: the runtime has no such name."""
        self._warn("batch.ack_all() does not exist in the runtime: it is ackAll()")
        self.ackAll()

    def retry_all(self, options: Any = None, **named: Any) -> None:
        """`retryAll()`, with a warning: the runtime has no such name."""
        self._warn("batch.retry_all() does not exist in the runtime: it is retryAll()")
        self.retryAll(options, **named)

    def __repr__(self) -> str:
        return f"MessageBatch(queue={self.queue!r}, messages={self.messages!r})"


def _delay(call: str, options: Any, named: dict[str, Any], warn: Callable[[str], None]) -> dict[str, Any] | None:
    if isinstance(options, str | int | float):
        raise JsException(not_retry_options(call), "TypeError")
    members = convert.options_of(options, named)
    if "delay_seconds" in members:
        warn("retry(delay_seconds=…) has no effect in the runtime: it is delaySeconds")
        members.setdefault("delaySeconds", members["delay_seconds"])
    return {"delaySeconds": members["delaySeconds"]} if members.get("delaySeconds") is not None else None
