"""A queue as a Worker's binding: `send`, `sendBatch`, `metrics`. Values cross into JavaScript first, as in the runtime.

https://developers.cloudflare.com/queues/configuration/javascript-apis/ (Python).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.engine.bodies.undefined import UNDEFINED
from emulator.workers.promise import Promise
from emulator.workers.python.javascript import convert
from emulator.workers.python.javascript.js_time import JsTime
from emulator.workers.python.javascript.js_values import JsDict
from emulator.workers.python.javascript.to_js import PyProxy
from emulator.workers.python.runtime_names import Partial, known

if TYPE_CHECKING:
    from emulator.engine.metrics import Metrics
    from emulator.workers.bindings import Binding


_OPTIONS = ("contentType", "delaySeconds")
"""Other members of an options object are ignored, as the runtime does."""


class QueueBinding(Partial):
    """What `self.env.MY_QUEUE` is. `content_type` is what a body without one has: json, or v8 before 2024-03-18.

    What cannot cross raises TypeError at once; what JSON or the service refuses is raised where the call is awaited.
    """

    def __init__(self, inner: Binding, content_type: str) -> None:
        self._inner, self._content_type = inner, content_type

    def send(self, body: Any = UNDEFINED, options: Any = None, **named: Any) -> Promise:
        """Store one message; `contentType`, `delaySeconds`."""
        chosen = known("send", convert.options_of(options, named), _OPTIONS)
        content_type = chosen.setdefault("contentType", self._content_type)
        convert.python_to_rpc(body)
        work = lambda: _reply(self._inner.send(_stored(body, content_type), chosen).value.metrics)  # noqa: E731 - one line
        return Promise(work, ("send", self._inner.name), may_fail=False)

    def sendBatch(self, messages: Any, options: Any = None, **named: Any) -> Promise:  # noqa: N802 - JavaScript's name
        """Store messages together; each `{"body": …, "contentType": …, "delaySeconds": …}`."""
        chosen = known("sendBatch", convert.options_of(options, named), _OPTIONS[1:])
        crossed = convert.python_to_rpc(messages)  # which uses up a generator, and then there is nothing to send
        rows = [convert.options_of(row, {}) for row in (messages if isinstance(crossed, PyProxy) else crossed)]
        work = lambda: _reply(self._inner.send_batch([self._row(row) for row in rows], chosen).value.metrics)  # noqa: E731
        return Promise(work, ("sendBatch", self._inner.name), may_fail=False)

    def metrics(self) -> Promise:
        """The backlog now."""
        return Promise(lambda: _metrics(self._inner.metrics().value), ("metrics", self._inner.name), may_fail=False)

    def _row(self, given: dict[str, Any]) -> dict[str, Any]:
        row = known("sendBatch", given, _OPTIONS)
        content_type = row.setdefault("contentType", self._content_type)
        return {**row, "body": _stored(given["body"], content_type)} if "body" in given else row

    def __repr__(self) -> str:
        return repr(self._inner)


def _stored(body: Any, content_type: object) -> Any:
    if body is UNDEFINED:
        return UNDEFINED
    as_json = isinstance(content_type, str) and content_type.lower() == "json"
    return convert.stored(body, as_json=as_json)


def _metrics(metrics: Metrics) -> JsDict:
    found = JsDict(backlogCount=metrics.backlog_count, backlogBytes=metrics.backlog_bytes)
    if metrics.oldest_message_timestamp is not None:
        found["oldestMessageTimestamp"] = JsTime.at(metrics.oldest_message_timestamp)
    return found


def _reply(metrics: Metrics) -> JsDict:
    return JsDict(metadata=JsDict(metrics=_metrics(metrics)))
