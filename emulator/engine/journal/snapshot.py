"""The state as plain JSON and back. Two states are the same when their dumps are equal; the agenda is derived and left out."""

from __future__ import annotations

from base64 import b64decode, b64encode
from heapq import heapify
from typing import Any

from emulator.core.index import stand
from emulator.core.model import DELAYED, FLYING, READY, Consumer, Flight, Message, QueueConfig, QueueState, State

_COUNTS = (
    "sent", "received", "delivered", "acked", "retried", "repeated", "dead_lettered", "dropped", "expired", "purged",
)  # fmt: skip


def dump(state: State) -> dict[str, Any]:
    """A state as JSON."""
    return {
        "plan": state.plan,
        "entries": state.entries,
        "batches": state.batches,
        "now_us": state.now_us,
        "queues": [_dump_queue(queue) for _name, queue in sorted(state.queues.items())],
    }


def load(data: dict[str, Any]) -> State:
    """A state from its dump, with every queue due for a look."""
    state = State(data["plan"])
    state.entries, state.batches, state.now_us = data["entries"], data["batches"], data["now_us"]
    for row in data["queues"]:
        queue = _load_queue(row)
        state.queues[queue.config.name] = queue
        state.dirty.add(queue.config.name)
    return state


def _dump_queue(queue: QueueState) -> dict[str, Any]:
    return {
        "config": list(queue.config),
        "consumer": None if queue.consumer is None else list(queue.consumer),
        "attached": queue.attached,
        "messages": [_dump_message(message) for message in queue.messages.values()],
        "flights": [[out.batch, list(out.ids), list(out.consumer), out.started_us] for out in queue.flights.values()],
        "leases": [
            [until_us, entry, lease]
            for until_us, entry, lease, message in sorted(queue.leases, key=lambda held: held[:2])
            if message.lease == lease and message.place > FLYING and message.id in queue.messages
        ],
        "window": [list(entry) for entry in queue.window],
        "counts": [getattr(queue.counts, name) for name in _COUNTS],
        "scale": [queue.slots, queue.backlog_seen, queue.failure_permille],
    }


def _dump_message(message: Message) -> list[Any]:
    return [
        message.id, b64encode(message.body).decode(), message.content_type, message.timestamp_us, message.arrived_us,
        message.ready_us, message.entry, message.attempts, message.place, message.dead, message.lease, message.lease_until_us,
    ]  # fmt: skip


def _load_queue(row: dict[str, Any]) -> QueueState:
    queue = QueueState(QueueConfig(*row["config"]))
    queue.consumer = None if row["consumer"] is None else Consumer(*row["consumer"])
    queue.attached = row["attached"]
    for fields in row["messages"]:
        message = _load_message(fields)
        queue.messages[message.id] = message
        queue.backlog_bytes += len(message.body)
    _stand_in_line(queue)
    for batch, ids, consumer, started_us in row["flights"]:
        messages = [queue.messages[id] for id in ids if id in queue.messages]
        queue.flights[batch] = Flight(batch, tuple(ids), messages, Consumer(*consumer), started_us)
        queue.flying_count += len(messages)
        queue.flying_bytes += sum(len(message.body) for message in messages)
    for until_us, entry, lease in row["leases"]:
        queue.leases.append((until_us, entry, lease, queue.messages[lease.partition(".")[0]]))
    queue.window.extend((at_us, count) for at_us, count in row["window"])
    queue.lately = sum(count for _at_us, count in queue.window)
    for name, count in zip(_COUNTS, row["counts"], strict=True):
        setattr(queue.counts, name, count)
    queue.slots, queue.backlog_seen, queue.failure_permille = row["scale"]
    return queue


def _load_message(fields: list[Any]) -> Message:
    id, body, content_type, timestamp_us, arrived_us, ready_us, entry, attempts, place, dead, lease, until_us = fields
    message = Message(id, b64decode(body), content_type, timestamp_us, arrived_us, ready_us, entry)
    message.attempts, message.place, message.dead = attempts, place, dead
    message.lease, message.lease_until_us = lease, until_us
    return message


def _stand_in_line(queue: QueueState) -> None:
    """Ready and delayed messages in their order, and every waiting one in its track."""
    waiting = [message for message in queue.messages.values() if message.place <= DELAYED]
    for message in sorted(waiting, key=lambda message: (message.ready_us, message.entry)):
        stand(queue, message, message.ready_us if message.place == READY else message.ready_us - 1)
    for message in queue.messages.values():
        message.tracked = message.place <= DELAYED
    for message in sorted(waiting, key=lambda message: (message.arrived_us, message.entry)):
        (queue.dead_track if message.dead else queue.track).line.append(message)
    for message in sorted(queue.messages.values(), key=lambda message: message.timestamp_us):
        if message.dead:
            queue.dead_ages.append((message.timestamp_us, message.entry, message))
        else:
            queue.ages.append(message)
    heapify(queue.dead_ages)
