"""A queue handler in workerd."""

from __future__ import annotations

from binascii import b2a_base64
from typing import TYPE_CHECKING, Any

import msgspec

from emulator.engine import bodies
from emulator.engine.faults import WORKERD
from emulator.engine.targets.queue_result import settlement

if TYPE_CHECKING:
    from emulator.core.commands import Settle
    from emulator.engine.delivery import Delivery
    from emulator.workers.javascript.invocation import Invocation
    from emulator.workers.javascript.workerd.runtime import Workerd

CUT = "exceededWallTime"
_V8 = b"\xff"
"""How every value begins that V8 has serialised."""


class _Said(msgspec.Struct):
    outcome: str
    driver: str | None = None
    """What the driver has to say of a batch that failed."""


class JavaScriptError(Exception):
    """What a handler of a JavaScript Worker threw: its text is the stack, on the lines of the Worker's own source."""


class WorkerdTarget:
    """The queue handler of a Worker, by its place. `mapped` puts a stack on the lines of the source.

    `guarded` are the bindings whose calls stay inside of workerd, as the module outside.js has them.
    """

    name = WORKERD

    def __init__(self, runtime: Workerd, worker: int, mapped: Any, guarded: str = "") -> None:
        self.runtime, self._worker, self._mapped, self._guarded = runtime, worker, mapped, guarded
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
        place = delivery.choose(len(delivery.event.ids) + 1, "crashes", delivery.event.ids)
        if place:
            given["dies"] = place - 1
        given["hears"] = delivery.active
        if self._guarded and delivery.active:
            given["guarded"] = self._guarded
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
            _say(delivery, invocation.calls)
        return delivery.settlement(CUT, f"{type(error).__name__}: {error}")

    def _settle(self, delivery: Delivery, invocation: Invocation) -> Settle:
        how, error, settle = invocation.ended, "\n".join(invocation.failures), None
        assert how is not None, "it has ended"
        outcome = how.outcome
        if not outcome:
            said = msgspec.json.decode(how.body, type=_Said)
            outcome, settle = said.outcome, settlement(delivery.event, how.body)
            error = error or said.driver or ""
        if settle is not None:
            settle = _in_order(delivery, settle)
        if invocation.calls and settle is not None:
            _say(delivery, invocation.calls, dict(settle.retries), settle.retry_all_delay_seconds)
            settle = delivery.settlement(outcome)
        if outcome == "ok" and settle is not None:
            return settle
        text = self._mapped(error or outcome)
        if not delivery.crashed:
            delivery.fail(JavaScriptError(text))
        if delivery.cut_off:
            _say(delivery, invocation.calls)
        if settle is None or delivery.crashed:
            return delivery.settlement(outcome, text)
        return msgspec.structs.replace(settle, error=text)


def _in_order(delivery: Delivery, settle: Settle) -> Settle:
    """What was asked for, in the order of the batch."""
    if len(settle.retries) < 2:  # noqa: PLR2004 - there is no order
        return settle
    place = {id: n for n, id in enumerate(delivery.event.ids)}
    return msgspec.structs.replace(settle, retries=tuple(sorted(settle.retries, key=lambda each: place[each[0]])))


def _say(
    delivery: Delivery,
    calls: list[tuple[str, str, int | None]],
    delays: dict[str, int | None] | None = None,
    batch_delay: int | None = None,
) -> None:
    """Say the same again to the batch as the engine has it, which warns of what has no effect.

    `delays` by id and `batch_delay` are those that the runtime told at the end; without them each call's own counts.
    """
    messages, batch = {message.id: message for message in delivery.batch.messages}, delivery.batch
    for call, id, own in calls:
        if call == "ack":
            messages[id].ack()
        elif call == "retry":
            messages[id].retry(delay_seconds=own if delays is None else delays.get(id))
        elif call == "ackAll":
            batch.ack_all()
        else:
            batch.retry_all(delay_seconds=own if delays is None else batch_delay)


def batch_of(delivery: Delivery) -> dict[str, Any]:
    """A batch for the driver, in columns: `kinds` is one content type where all messages have it."""
    metrics = delivery.metrics
    told = {"backlogCount": metrics.backlog_count, "backlogBytes": metrics.backlog_bytes}
    if metrics.oldest_message_timestamp_ms:
        told["oldestMessageTimestamp"] = metrics.oldest_message_timestamp_ms
    ids, attempts, stored, kinds, timestamps_us = delivery.flight.columns()
    alike = kinds.count(kinds[0]) == len(kinds)
    as_json = stored if alike and kinds[0] == "json" else map(_shown, stored, kinds)
    return {
        "queue": delivery.queue, "metadata": {"metrics": told},
        "ids": ids, "attempts": attempts, "timestamps": [each // 1_000 for each in timestamps_us],
        "kinds": kinds[0] if alike else kinds, "bodies": msgspec.Raw(b"[%s]" % b",".join(as_json)),
    }  # fmt: skip


def _shown(body: bytes, kind: str) -> bytes:
    """A body as JSON: JSON as it was stored, text, and in base64 v8 as V8 reads it, or bytes."""
    if kind == "json":
        return body
    if kind == "text":
        return msgspec.json.encode(body.decode())
    if kind == "v8" and not body.startswith(_V8):  # 0.1.0 stored it otherwise
        body = bodies.encode(bodies.decode(body, kind), kind)
    return b'"%s"' % b2a_base64(body, newline=False)
