"""A queue handler in workerd."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

import msgspec

from emulator.engine.bodies import json_text
from emulator.engine.faults import WORKERD
from emulator.engine.targets.url import settlement

if TYPE_CHECKING:
    from emulator.core.commands import Settle
    from emulator.engine.delivery import Delivery
    from emulator.workers.javascript.invocation import Invocation
    from emulator.workers.javascript.runtime import Workerd

CUT = "exceededWallTime"


class JavaScriptError(Exception):
    """What a handler of a JavaScript Worker threw: its text is the stack, on the lines of the Worker's own source."""


class WorkerdTarget:
    """The queue handler of a Worker, by its place. `mapped` puts a stack on the lines of the source."""

    name = WORKERD

    def __init__(self, runtime: Workerd, worker: int, mapped: Any) -> None:
        self.runtime, self._worker, self._mapped = runtime, worker, mapped
        self._running: dict[int, Invocation] = {}

    def deliver(self, delivery: Delivery) -> Settle | None:
        """Hand over a batch; its settlement where the handler ended at this moment."""
        found: list[Settle] = []
        inside = True

        def ended(invocation: Invocation) -> None:
            self._running.pop(delivery.event.batch, None)
            settle = self._settle(delivery, invocation)
            if inside:
                found.append(settle)
            elif not delivery.ended:
                delivery.end(settle)

        given = batch_of(delivery)
        place = delivery.choose(len(delivery.event.ids) + 1, "crashes")
        if place:
            given["dies"] = place - 1
        invocation = self.runtime.begin(self._worker, "queue", given, ended, delivery)
        inside = False
        if found:
            return found[0]
        self._running[delivery.event.batch] = invocation
        return None

    def cut(self, delivery: Delivery, error: BaseException) -> Settle:
        """Answer nothing that the handler asks any more."""
        invocation = self._running.pop(delivery.event.batch, None)
        if invocation is not None:
            self.runtime.kill(invocation)
        return delivery.settlement(CUT, f"{type(error).__name__}: {error}")

    def _settle(self, delivery: Delivery, invocation: Invocation) -> Settle:
        how, error, settle = invocation.ended, "\n".join(invocation.failures), None
        assert how is not None, "it has ended"
        outcome = how.outcome
        if not outcome:
            answer = msgspec.json.decode(how.body)
            outcome, settle = answer["outcome"], settlement(delivery.event, how.body)
            error = error or answer.get("driver", "")
        if outcome == "ok" and settle is not None:
            return settle
        text = self._mapped(error or outcome)
        if not delivery.crashed:
            delivery.fail(JavaScriptError(text))
        if settle is None or delivery.crashed:
            return delivery.settlement(outcome, text)
        return settle._replace(error=text)


def batch_of(delivery: Delivery) -> dict[str, Any]:
    """A batch for the driver."""
    metrics = delivery.metrics
    told = {"backlogCount": metrics.backlog_count, "backlogBytes": metrics.backlog_bytes}
    if metrics.oldest_message_timestamp_ms:
        told["oldestMessageTimestamp"] = metrics.oldest_message_timestamp_ms
    return {
        "queue": delivery.queue,
        "messages": list(map(_message, delivery.flight.messages, delivery.event.attempts)),
        "metadata": {"metrics": told},
    }


def _message(stored: Any, attempts: int) -> dict[str, Any]:
    kind, body = stored.content_type, stored.body
    shown = {"id": stored.id, "ts": stored.timestamp_us // 1_000, "attempts": attempts}
    if kind == "json":
        shown["body"] = msgspec.Raw(json_text.plain(body))
    elif kind == "text":
        shown["body"] = body.decode()
    elif kind == "v8" and body.startswith(b"\xff"):
        shown["v8"] = b64encode(body).decode()
    elif kind == "v8":
        from emulator.engine import bodies

        shown["v8"] = b64encode(bodies.encode(bodies.decode(body, "v8"), "v8")).decode()
    else:
        shown["bytes"] = b64encode(body).decode()
    return shown
