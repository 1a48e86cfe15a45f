"""Structured logs: one line for each request and for each thing that happened to messages. JSON, or plain text for people.

A line never holds a token, a header or a body; what a caller has chosen (paths, names, errors) cannot break out of its line.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TextIO

from msgspec.structs import replace

from emulator.core import events as happened
from emulator.engine.bodies import json_text
from emulator.engine.clock import WallClock, moment, real_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from emulator.core.events import Event

EVENTS = logging.getLogger("cfq_emulator.events")
REQUESTS = logging.getLogger("cfq_emulator.requests")
logging.getLogger("cfq_emulator").addHandler(logging.NullHandler())  # nothing is said until `configure` is asked to
_TEXT_MAX, _IDS_MAX = 500, 100
_LOGGED = "cfq_emulator.logged"
"""Marks a request that is logged already, so that two applications in each other log it once."""
_FREQUENT = (happened.Sent, happened.Delivered, happened.Pulled)


class JsonLines(logging.Formatter):
    """A record as one JSON object: time, level, logger, message, and the fields that came with it."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line = {
            "time": _iso(WallClock().now_us()), "level": record.levelname.lower(), "logger": record.name,
            "message": record.getMessage(), **_fields(record),
        }  # fmt: skip
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json_text.told(line, ascii_only=True)


class TextLines(logging.Formatter):
    """A record for people: time, level, message, fields. Control characters are shown, not sent to the terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and below it the traceback of an error."""
        fields = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        text = f"{record.getMessage()} {fields}".strip()
        shown = text if text.isprintable() else "".join(each if each.isprintable() else f"\\x{ord(each):02x}" for each in text)
        trace = f"\n{self.formatException(record.exc_info)}" if record.exc_info else ""
        return f"{_iso(WallClock().now_us())} {record.levelname.lower():7} {shown}{trace}"


def configure(stream: TextIO, form: str = "text", level: str = "info") -> logging.Handler:
    """Send the emulator's log to a stream, in `json` or `text`. Raises ValueError for another form or level."""
    forms: dict[str, type[logging.Formatter]] = {"json": JsonLines, "text": TextLines}
    if form not in forms:
        message = f"the form of the log is json or text, not {form!r}"
        raise ValueError(message)
    handler = logging.StreamHandler(stream)
    handler.setFormatter(forms[form]())
    root = logging.getLogger("cfq_emulator")
    root.setLevel(level.upper())
    for old in list(root.handlers):
        root.removeHandler(old)
    root.addHandler(handler)
    root.propagate = False
    return handler


class RequestLog:
    """ASGI middleware that logs each request: method, path, status, milliseconds, bytes. `/health` only with debug."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve, then log."""
        level = logging.DEBUG if scope.get("path") == "/health" else logging.INFO
        if scope["type"] != "http" or not REQUESTS.isEnabledFor(level) or _LOGGED in scope:
            await self._app(scope, receive, send)
            return
        scope[_LOGGED] = True
        seen = {"status": 500, "bytes": 0}

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen["status"] = message["status"]
            elif message["type"] == "http.response.body":
                seen["bytes"] += len(message.get("body", b""))
            await send(message)

        start = real_seconds()
        try:
            await self._app(scope, receive, sent)
        finally:
            fields = {"method": scope["method"], "path": scope["path"][:_TEXT_MAX], **seen}
            fields["ms"] = round((real_seconds() - start) * 1_000, 3)
            level = logging.ERROR if seen["status"] >= 500 else level  # noqa: PLR2004 - the server's own failures
            record = logging.LogRecord(REQUESTS.name, level, __file__, 0, "request", None, None)  # nobody asks who called
            record.cfq = fields
            REQUESTS.handle(record)


class EventLog:
    """Logs what happens to messages in the words that Miniflare's users know; give `tell` to `Watch.tell`."""

    def __init__(self, public: Callable[[str], str] = str) -> None:
        self._public = public
        self._started: dict[int, int] = {}

    def tell(self, event: Event) -> None:
        """Log one event, if anybody listens."""
        if not EVENTS.isEnabledFor(logging.ERROR):
            return
        if isinstance(event, happened.Delivered):
            self._started[event.batch] = event.at_us
        if isinstance(event, _FREQUENT) and not EVENTS.isEnabledFor(logging.DEBUG):
            return
        event = self._renamed(event)
        for level, text, fields in self._lines(event):
            if EVENTS.isEnabledFor(level):
                EVENTS.log(level, text, extra={"cfq": {"at": _iso(event.at_us), **fields}})

    def _renamed(self, event: Any) -> Any:
        """An event with the names by which its queues are called now."""
        names = {
            field: self._public(core) for field in ("queue", "target") if (core := getattr(event, field, None)) is not None
        }
        return replace(event, **names) if names else event

    def _lines(self, event: Any) -> Iterator[tuple[int, str, dict[str, Any]]]:
        name: str = getattr(event, "queue", "")
        if isinstance(event, happened.Settled):
            ids = [*event.acked, *event.retried, *event.dead, *event.dropped, *event.expired, *event.repeated]
            took_ms = (event.at_us - self._started.pop(event.batch, event.at_us)) // 1_000
            fields: dict[str, Any] = {"queue": name, "acked": len(event.acked), "total": len(ids), "ms": took_ms}
            fields["outcome"] = event.outcome
            if event.error:
                fields["error"] = event.error[:_TEXT_MAX]
            yield logging.INFO, f"QUEUE {name} {len(event.acked)}/{len(ids)} ({took_ms}ms)", fields
        if isinstance(event, happened.Settled | happened.LeasesSettled | happened.LeasesLapsed):
            yield from self._fates(event)
        elif isinstance(event, happened.Expired):
            yield _expired(name, event.ids)
        elif isinstance(event, happened.Purged):
            count = len(event.ids)
            yield logging.WARNING, f'Purged {count} messages from queue "{name}"', {"queue": name, "count": count}
        elif isinstance(event, happened.Redriven):
            count, text = len(event.ids), f'Redrove {len(event.ids)} messages from queue "{name}" to queue "{event.target}"'
            yield logging.WARNING, text, {"queue": name, "count": count, "target": event.target}
        elif isinstance(event, _FREQUENT):
            kind = type(event).__name__.lower()
            yield logging.DEBUG, kind, {"queue": name, "count": len(event.ids), "ids": list(event.ids)}
        elif not isinstance(event, happened.ClockStopped | happened.LeasesExtended):
            yield logging.INFO, _WORDS.get(type(event).__name__, type(event).__name__), {"queue": name}

    @staticmethod
    def _fates(event: Any) -> Iterator[tuple[int, str, dict[str, Any]]]:
        name = event.queue
        for id in event.retried if EVENTS.isEnabledFor(logging.DEBUG) else ():
            yield logging.DEBUG, f'Retrying message "{id}" on queue "{name}"...', {"queue": name, "id": id}
        for id in event.dead:
            text = f'Moving message "{id}" on queue "{name}" to dead letter queue "{event.target}"...'
            yield logging.WARNING, text, {"queue": name, "id": id, "target": event.target}
        for id in event.dropped:
            text = f'Dropped message "{id}" on queue "{name}" after its last failed attempt!'
            yield logging.ERROR, text, {"queue": name, "id": id}
        if event.expired:
            yield _expired(name, event.expired)


def _expired(queue: str, ids: tuple[str, ...]) -> tuple[int, str, dict[str, Any]]:
    """One line, however many expired together, with the first of their ids."""
    text = f'Expired {len(ids)} messages on queue "{queue}"'
    return logging.WARNING, text, {"queue": queue, "count": len(ids), "ids": list(ids[:_IDS_MAX])}


_WORDS = {
    "QueueCreated": "CreateQueue", "QueueChanged": "UpdateQueue", "QueueDeleted": "DeleteQueue",
    "ConsumerSet": "UpdateConsumerSettings", "ConsumerRemoved": "RemoveConsumer", "HandlerAttached": "AttachConsumer",
}  # fmt: skip
"""Cloudflare's audit log calls them so."""


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    found: dict[str, Any] = getattr(record, "cfq", {})
    return found


def _iso(at_us: int) -> str:
    return moment(at_us).isoformat(timespec="microseconds").replace("+00:00", "Z")
