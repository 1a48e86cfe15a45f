"""Messages over REST: push, pull, acknowledge, extend, peek, delete what was peeked.

https://developers.cloudflare.com/queues/configuration/pull-consumers/. Cloudflare does not document what `extend` answers; here
it is the new lease of each message that still had one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cfq_lint.facts import limits
from emulator.core import refusals
from emulator.engine import bodies as stored
from emulator.server.operations.operation import Call, Operation
from emulator.server.operations.queues import metrics_json
from emulator.server.wire import bodies

if TYPE_CHECKING:
    from emulator.testing.queue import Peeked, Queue

CONTENT_TYPES = ("json", "text")
GONE_TEXT = "the message is no longer in the queue"


def _metadata(queue: Queue) -> dict[str, Any]:
    return {"metrics": metrics_json(queue.metrics())}


def _content_type(given: str | None, body: Any) -> str:
    """The content type of a pushed message: json unless it says text. Refuses with 10203, and 10207 for a text that is none."""
    kind = given or "json"
    if kind not in CONTENT_TYPES:
        raise refusals.MessageMetadataInvalid(f"content_type {kind[:100]!r} is none of {', '.join(CONTENT_TYPES)}")
    if kind == "text" and not isinstance(body, str):
        raise refusals.JSONRequestBodyInvalid(f"content_type text needs a text, not {stored.typeof(body)}")
    return kind


def push(call: Call) -> dict[str, Any]:
    """Store a message."""
    queue, item = call.queue(), call.body.root
    queue.send(item["body"], _content_type(item.get("content_type"), item["body"]), item.get("delay_seconds"))
    return {"metadata": _metadata(queue)}


def push_batch(call: Call) -> dict[str, Any]:
    """Store messages, all or none."""
    queue, items = call.queue(), call.body.messages
    if not 0 < len(items) <= limits.SEND_BATCH_COUNT_MAX:
        raise refusals.BatchCountOutOfBounds(
            f"batch message count of {len(items)} is not within 1..{limits.SEND_BATCH_COUNT_MAX}"
        )
    values, kinds, delays = [item["body"] for item in items], ("json",) * len(items), (None,) * len(items)
    if max(map(len, items)) > 1:  # one of them says more than its body
        kinds = tuple([_content_type(item.get("content_type"), item["body"]) for item in items])
        delays = tuple([item.get("delay_seconds") for item in items])
    queue.send_columns(values, kinds, delays, call.body.delay_seconds)
    return {"metadata": _metadata(queue)}


def pull(call: Call) -> dict[str, Any]:
    """Lease what is ready. Refuses with 409 where delivery is paused."""
    queue, body = call.queue(), call.body
    size = limits.PULL_BATCH_SIZE_DEFAULT if body.batch_size is None else body.batch_size
    if not 0 < size <= limits.BATCH_SIZE_MAX:
        raise refusals.BatchCountOutOfBounds(f"batch_size {size} is not within 1..{limits.BATCH_SIZE_MAX}")
    metadata = {kind: {"CF-Content-Type": kind} for kind in stored.CONTENT_TYPES}
    messages = [
        {"id": m.id, "body": stored.on_the_wire(m.body, m.content_type), "attempts": m.attempts,
         "timestamp_ms": m.timestamp_us // 1_000, "metadata": metadata[m.content_type], "lease_id": lease}
        for m, lease in call.service.broker.lease(queue.name, size, body.visibility_timeout_ms)
    ]  # fmt: skip
    return {"message_backlog_count": len(queue), "metadata": _metadata(queue), "messages": messages}


def _message(m: Peeked) -> dict[str, Any]:
    return {"id": m.id, "body": m.body, "attempts": m.attempts, "timestamp_ms": m.timestamp_ms, "metadata": m.metadata}


def ack(call: Call) -> dict[str, Any]:
    """Settle leases."""
    done = call.queue().ack(
        [each["lease_id"] for each in call.body.acks or ()],
        [(each["lease_id"], each.get("delay_seconds")) for each in call.body.retries or ()],
    )
    return {"ackCount": done.ack_count, "retryCount": done.retry_count, "warnings": done.warnings}


def extend(call: Call) -> dict[str, Any]:
    """Prolong leases; each gets a new id, and attempts stay."""
    leases = [each["lease_id"] for each in call.body.extend]
    new = call.queue().extend(leases, call.body.visibility_timeout_ms)
    warnings = {lease: "the lease has lapsed, or is none" for lease in leases if lease not in new}
    return {
        "messages": [{"lease_id": lease, "previous_lease_id": old} for old, lease in new.items()],
        "extendCount": len(new),
        "warnings": warnings,
    }


def peek(call: Call) -> dict[str, Any]:
    """Look at what is ready: no lease, no attempt."""
    return {"messages": [_message(m) | {"ref": m.ref} for m in _peeked(call)]}


def preview(call: Call) -> dict[str, Any]:
    """The older peek: what names a message stands where a lease would."""
    return {"messages": [_message(m) | {"lease_id": m.ref} for m in _peeked(call)]}


def _peeked(call: Call) -> list[Peeked]:
    size = call.body.batch_size
    size = limits.PULL_BATCH_SIZE_DEFAULT if size is None else size
    if not 0 < size <= limits.BATCH_SIZE_MAX:
        raise refusals.BatchCountOutOfBounds(f"batch_size {size} is not within 1..{limits.BATCH_SIZE_MAX}")
    return call.queue().peek(size)


def purge_refs(call: Call) -> dict[str, Any]:
    """Delete messages that were looked at."""
    warnings = _delete(call, [each.ref for each in call.body.refs])
    return {"errors": [], "warnings": warnings}


def preview_ack(call: Call) -> dict[str, Any]:
    """The older way to delete them: `acks` go; `retries` change nothing, because nothing was leased."""
    warnings = _delete(call, [each["lease_id"] for each in call.body.acks or ()])
    return {"warnings": warnings}


def _delete(call: Call, refs: list[str]) -> dict[str, str]:
    queue = call.queue()
    held = {message.id for message in queue.messages()} if refs else set()
    queue.purge([ref for ref in refs if ref in held])
    return {ref: GONE_TEXT for ref in refs if ref not in held}


MESSAGES = "/queues/{queue_id}/messages"
OPERATIONS = (
    Operation("POST", MESSAGES, "push", push, "Pushed", bodies.Push, data=True),
    Operation("POST", f"{MESSAGES}/batch", "push_batch", push_batch, "Pushed", bodies.PushBatch, data=True),
    Operation("POST", f"{MESSAGES}/pull", "pull", pull, "Pulled", bodies.Pull, data=True),
    Operation("POST", f"{MESSAGES}/ack", "ack", ack, "Acknowledged", bodies.Ack, data=True),
    Operation("POST", f"{MESSAGES}/extend", "extend", extend, "Extended", bodies.Extend, data=True),
    Operation("POST", f"{MESSAGES}/peek", "peek", peek, "Peeked", bodies.Peek, data=True),
    Operation("POST", f"{MESSAGES}/purge", "purge_refs", purge_refs, "PurgedRefs", bodies.PurgeRefs, data=True),
    Operation("POST", f"{MESSAGES}/preview", "preview", preview, "Previewed", bodies.Peek, data=True),
    Operation(
        "POST", f"{MESSAGES}/preview/ack", "preview_ack", preview_ack, "PreviewAcknowledged", bodies.PreviewAck, data=True
    ),
)
