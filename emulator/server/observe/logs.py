"""Structured logs: one line for each request and for each thing that happened to messages. JSON, or plain text for people.

A line never holds a token, a header or a body; what a caller has chosen (paths, names, errors) cannot break out of its line.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, TextIO

from emulator.core import events as happened
from emulator.engine.bodies import json_text
from emulator.engine.clock import WallClock, moment, real_seconds
from emulator.engine.ledger.steps import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from emulator.core.events import Event
    from emulator.engine.ledger.steps import Step

EVENTS = logging.getLogger("cfq_emulator.events")
REQUESTS = logging.getLogger("cfq_emulator.requests")
logging.getLogger("cfq_emulator").addHandler(logging.NullHandler())  # nothing is said until `configure` is asked to
_TEXT_MAX, _IDS_MAX = 500, 100
_LOGGED = "cfq_emulator.logged"
"""Marks a request that is logged already, so that two applications in each other log it once."""


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

    def tell(self, event: Event, steps: list[Step]) -> None:
        """Log one event, with the steps that it was for messages, if anybody listens."""
        if isinstance(event, _UNSAID) or not EVENTS.isEnabledFor(logging.ERROR):
            return
        if isinstance(event, happened.Delivered):
            self._started[event.batch] = event.at_us
        if isinstance(event, _FREQUENT) and not EVENTS.isEnabledFor(logging.DEBUG):
            return
        for level, text, fields in self._lines(event, steps):
            if EVENTS.isEnabledFor(level):
                EVENTS.log(level, text, extra={"cfq": {"at": _iso(event.at_us), **fields}})

    def _lines(self, event: Any, steps: list[Step]) -> Iterator[tuple[int, str, dict[str, Any]]]:
        queue = self._public(event.queue)
        here = [step for step in steps if step.kind not in _ELSEWHERE]
        count = sum(len(step.ids) for step in here)
        if isinstance(event, happened.Settled):
            acked = sum(len(step.ids) for step in here if step.kind is Kind.ACKED)
            took_ms = (event.at_us - self._started.pop(event.batch, event.at_us)) // 1_000
            fields = {"queue": queue, "acked": acked, "total": count, "ms": took_ms, "outcome": event.outcome}
            if event.error:
                fields["error"] = event.error[:_TEXT_MAX]
            yield logging.INFO, f"QUEUE {queue} {acked}/{count} ({took_ms}ms)", fields
        if isinstance(event, _SETTLEMENTS):
            for step in here:
                yield from self._fates(queue, step)
        elif isinstance(event, happened.Purged):
            yield logging.WARNING, f'Purged {count} messages from queue "{queue}"', {"queue": queue, "count": count}
        elif isinstance(event, happened.Redriven):
            target = self._public(event.target)
            text = f'Redrove {count} messages from queue "{queue}" to queue "{target}"'
            yield logging.WARNING, text, {"queue": queue, "count": count, "target": target}
        elif isinstance(event, _FREQUENT):
            kind, ids = type(event).__name__.lower(), [id for step in here for id in step.ids]
            yield logging.DEBUG, kind, {"queue": queue, "count": count, "ids": ids}
        else:
            yield logging.INFO, _WORDS.get(type(event).__name__, type(event).__name__), {"queue": queue}

    def _fates(self, queue: str, step: Step) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """A line for each message; one line, with the first of their ids, however many expired together."""
        if step.kind is Kind.EXPIRED:
            fields = {"queue": queue, "count": len(step.ids), "ids": list(step.ids[:_IDS_MAX])}
            yield logging.WARNING, f'Expired {len(step.ids)} messages on queue "{queue}"', fields
        if step.kind not in _EACH:
            return
        level, text = _EACH[step.kind]
        there = {} if step.other is None else {"target": self._public(step.other)}
        for id in step.ids if EVENTS.isEnabledFor(level) else ():
            yield level, text.format(id=id, queue=queue, **there), {"queue": queue, "id": id, **there}


_UNSAID = (happened.ClockStopped, happened.LeasesExtended)
_FREQUENT = (happened.Sent, happened.Delivered, happened.Pulled)
_SETTLEMENTS = (happened.Settled, happened.LeasesSettled, happened.LeasesLapsed, happened.Expired)
_ELSEWHERE = frozenset({Kind.ARRIVED, Kind.REENTERED})
"""Steps in the other queue, of which the first one's line tells."""
_RETRYING = (logging.DEBUG, 'Retrying message "{id}" on queue "{queue}"...')
_EACH = {
    Kind.RETRIED: _RETRYING, Kind.LAPSED: _RETRYING,
    Kind.DEAD_LETTERED: (
        logging.WARNING, 'Moving message "{id}" on queue "{queue}" to dead letter queue "{target}"...',
    ),
    Kind.DROPPED: (logging.ERROR, 'Dropped message "{id}" on queue "{queue}" after its last failed attempt!'),
}  # fmt: skip
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
