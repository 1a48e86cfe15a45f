"""The state of the core as plain values, to compare two states; what the core derives for speed is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.core.messages import DELAYED, FLYING, GONE, LEASED, READY
from emulator.engine.journal import snapshot

if TYPE_CHECKING:
    from emulator.core.model import State

PLACES = {READY: "ready", DELAYED: "delayed", FLYING: "flying", LEASED: "leased", GONE: "gone"}


def dump(state: State) -> dict[str, Any]:
    """Everything that a state remembers. Ready and due messages are told apart by time, not by where they happen to stand."""
    return {
        "entries": state.entries, "batches": state.batches, "plan": state.plan,
        "queues": {name: _queue(queue, state.now_us) for name, queue in sorted(state.queues.items())},
    }


def from_snapshot(state: State) -> State:
    """The state that a snapshot of this one gives."""
    header, pieces = snapshot.take(state)
    again = snapshot.load(header, pieces)
    again.plan = state.plan
    return again


def _queue(queue: Any, now_us: int) -> dict[str, Any]:
    return {
        "config": queue.config, "consumer": queue.consumer, "attached": queue.attached,
        "window": list(queue.window), "lately": queue.lately,
        "backlog_bytes": queue.backlog_bytes, "scale": (queue.slots, queue.backlog_seen, queue.failure_permille),
        "flights": {batch: flight.ids for batch, flight in sorted(queue.flights.items())},
        "messages": [_message(message, now_us) for message in sorted(queue.messages.values(), key=lambda m: m.id)],
    }


def _message(message: Any, now_us: int) -> dict[str, Any]:
    place = PLACES[message.place]
    if place in ("ready", "delayed"):
        place = "ready" if message.ready_us <= now_us else "delayed"
    leased = place == "leased"
    return {
        "id": message.id, "place": place, "body": message.body, "content_type": message.content_type, "dead": message.dead,
        "timestamp_us": message.timestamp_us, "arrived_us": message.arrived_us, "ready_us": message.ready_us,
        "entry": message.entry, "attempts": message.attempts,
        "lease": (message.lease, message.lease_until_us) if leased else None,
    }
