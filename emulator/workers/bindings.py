"""env.MY_QUEUE: `send`, `sendBatch`, `metrics`, as a Worker sees them. A call acts at once and is a coroutine of its result.

Values cross into JavaScript first, as in a Python Worker: what cannot cross raises TypeError in the SDK's words.
"""

from __future__ import annotations

import inspect
import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import msgspec

from emulator.core.refusals import Refused
from emulator.engine.bodies.undefined import UNDEFINED
from emulator.engine.options import options_of
from emulator.engine.targets.invocation import bound
from emulator.workers.outside import outside
from emulator.workers.promise import Resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from emulator.engine.metrics import Metrics


class SendReply(msgspec.Struct, eq=False):
    """What `send` and `sendBatch` resolve to: `metadata.metrics` of the backlog after the messages were stored."""

    ids: tuple[str, ...]
    metrics: Metrics

    @property
    def id(self) -> str:
        """The id of the first message."""
        return self.ids[0]

    @property
    def metadata(self) -> SendReply:
        """The object that has the metrics."""
        return self

    def __repr__(self) -> str:
        return f"SendReply(ids={self.ids!r}, metrics={self.metrics!r})"


class Binding:
    """A queue as a producer's binding."""

    __slots__ = ("_content_type", "_exposes_codes", "_queue")
    asks_for_faults = True

    def __init__(self, queue: Any, content_type: str | None = None, *, exposes_codes: bool = True) -> None:
        self._queue, self._exposes_codes = queue, exposes_codes
        self._content_type = content_type or queue.default_content_type

    @property
    def name(self) -> str:
        """The queue's name."""
        return str(self._queue.name)

    def send(self, body: Any = UNDEFINED, options: Mapping[str, Any] | None = None, **given: Any) -> Resolved:
        """Send one message: `contentType`, `delaySeconds`. Raises TypeError or Refused; stored when it returns."""
        known = options_of("send()", options, given, _OPTIONS)
        content_type = known.pop("content_type", None) or self._content_type
        crossing = _crossing(body)
        return self._call("send", lambda: self._queue.send(crossing, content_type=content_type, **known))

    def send_batch(
        self, messages: Iterable[Mapping[str, Any]], options: Mapping[str, Any] | None = None, **given: Any
    ) -> Resolved:
        """Send messages together: each `{"body": …, "contentType": …, "delaySeconds": …}`. Raises TypeError or Refused."""
        known = options_of("sendBatch()", options, given, _OPTIONS)
        known.pop("content_type", None)  # of an options object's other members the runtime takes no notice
        rows = [{name: _crossing(value) if name == "body" else value for name, value in row.items() if name in _ROW}
                for row in messages]  # fmt: skip
        return self._call("sendBatch", lambda: self._queue.send_batch(rows, **known))

    def _call(self, call: str, work: Callable[[], Any]) -> Resolved:
        """Without the flag queue_expose_error_codes a Worker sees the HTTP status instead of cause and code."""
        try:
            return Resolved(bound((call, self._queue.name), work))
        except Refused as refused:
            if not self._exposes_codes:
                refused.args = (f"Queue {call} failed: {HTTPStatus(refused.status).phrase}",)
            raise

    def metrics(self) -> Resolved:
        """The backlog now."""
        return Resolved(bound(("metrics", self._queue.name), self._queue.metrics))

    sendBatch = send_batch  # noqa: N815 - JavaScript's name

    def __repr__(self) -> str:
        return f"Binding({self._queue.name!r})"


_OPTIONS = ("content_type", "delay_seconds")
_ROW = frozenset({"body", "contentType", "content_type", "delaySeconds", "delay_seconds"})
"""What a message of sendBatch() has; other members are ignored, as the runtime does."""


def _crossing(value: Any) -> Any:
    """The value, if it can cross into JavaScript. Raises TypeError if not."""
    todo, seen = [value], set()
    for each in todo:
        if type(each) in _CROSSES or id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, dict):
            todo += each.values()
        elif isinstance(each, list):
            todo += each
        elif isinstance(each, tuple | bytearray | re.Pattern) or inspect.isawaitable(each):
            message = f"{type(each).__name__} cannot be sent over RPC."
            raise TypeError(message)
    return value


_CROSSES = frozenset({str, int, float, bool, bytes, type(None)})


def put_by_test(env: Environment) -> dict[str, Any]:
    """What a test has set on `emu.env` itself, by name."""
    return env._put  # noqa: SLF001 - every public attribute is a binding


class Environment:
    """`env`: bindings by name, as attributes and items. Without a Wrangler file, queue `my-jobs` is bound as MY_JOBS."""

    def __init__(self, find: Callable[[str], Any], names: Callable[[], Iterable[str]]) -> None:
        self._put: dict[str, Any] = {}
        self._find, self._names = find, names
        self._bound: dict[str, Any] = {}
        self._declared = False

    def bind(self, name: str, value: Any) -> None:
        """Bind a name to a queue or to any other value."""
        self._bound[name] = value

    def declare(self) -> None:
        """From now on only what is bound exists, as a Wrangler file has it."""
        self._declared = True

    def __setattr__(self, name: str, value: Any) -> None:
        """A test puts an object of its own there."""
        if name.startswith("_"):
            object.__setattr__(self, name, value)
        else:
            self._put[name] = value

    def __delattr__(self, name: str) -> None:
        if name not in self._put:
            raise AttributeError(name)
        del self._put[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._put:
            return outside(name, self._put[name])
        if name in self._bound:
            return outside(name, self._bound[name])
        if not self._declared:
            for queue in self._names():
                if queue.upper().replace("-", "_") == name:
                    return Binding(self._find(queue))
        known = ", ".join(sorted(self)) or "none"
        message = f"there is no binding {name!r} (bindings: {known})"
        raise AttributeError(message)

    def __getitem__(self, name: str) -> Any:
        try:
            return getattr(self, name)
        except AttributeError as error:
            raise KeyError(str(error)) from None

    def __iter__(self) -> Iterator[str]:
        yield from self._bound
        if not self._declared:
            yield from (name.upper().replace("-", "_") for name in self._names())
