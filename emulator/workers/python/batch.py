"""The batch as a Python Worker sees it: bodies as Python values, `timestamp` without a zone, options objects of any make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.engine.options import not_retry_options
from emulator.engine.targets.batch import RETRY, RETRY_ALL
from emulator.workers.python.errors import JsTypeError
from emulator.workers.python.javascript import convert
from emulator.workers.python.javascript.js_time import JsTime
from emulator.workers.python.javascript.js_values import JsDict, JsList
from emulator.workers.python.runtime_names import known, missing

if TYPE_CHECKING:
    from emulator.engine.targets.batch import Message, MessageBatch


class WorkerMessage:
    """A message: `id`, `timestamp` (UTC, without a zone), `attempts`, `body` (each access the same value), `ack`, `retry`."""

    def __init__(self, inner: Message, *, raw: bool) -> None:
        self._inner, self._raw = inner, raw
        self.id, self.attempts = inner.id, inner.attempts
        self.timestamp = JsTime.at(inner.timestamp)

    @property
    def body(self) -> Any:
        """The body: objects are dicts with attribute access and `.to_py()`."""
        if "_body" not in self.__dict__:
            self._body = (convert.python_to_rpc if self._raw else convert.python_from_rpc)(self._inner.body)
        return self._body

    def ack(self) -> None:
        """Acknowledge."""
        self._inner.ack()

    def retry(self, options: Any = None, **named: Any) -> None:
        """Ask for it again after `delaySeconds`."""
        self._inner.retry(_delay(RETRY, options, named))

    def to_py(self, **_options: Any) -> WorkerMessage:
        """The message itself."""
        return self

    def __getattr__(self, name: str) -> Any:
        raise missing(self, "message", name)

    def __repr__(self) -> str:
        return f"Message(id={self.id!r}, attempts={self.attempts}, body={self.body!r})"


class WorkerBatch:
    """A batch: `queue`, `messages`, `metadata.metrics`, `ackAll`, `retryAll`.

    `raw`: bodies are JavaScript's own values, as a function `on_queue` gets them; the SDK makes Python's for methods alone.
    """

    def __init__(self, inner: MessageBatch, *, raw: bool = False) -> None:
        self._inner = inner
        self.queue = inner.queue
        self.messages = JsList(WorkerMessage(message, raw=raw) for message in inner.messages)
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
        self._inner.retry_all(_delay(RETRY_ALL, options, named))

    def __getattr__(self, name: str) -> Any:
        raise missing(self, "batch", name)

    def __repr__(self) -> str:
        return f"MessageBatch(queue={self.queue!r}, messages={self.messages!r})"


def _delay(call: str, options: Any, named: dict[str, Any]) -> dict[str, Any] | None:
    """The options that the runtime knows. Raises TypeError for what is no options object."""
    if isinstance(options, str | int | float):
        raise JsTypeError(not_retry_options(call))
    return known(call.split("'")[1], convert.options_of(options, named), ["delaySeconds"]) or None
