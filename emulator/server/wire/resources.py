"""Queues, consumers, subscriptions and messages as the API shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.engine.bodies import on_the_wire
from emulator.engine.clock import moment
from emulator.engine.metrics import Metrics

if TYPE_CHECKING:
    from emulator.core.messages import Message
    from emulator.core.model import QueueState
    from emulator.server.directory import Row
    from emulator.server.service import Service

MILLISECONDS = 1_000


def iso(at_us: int) -> str:
    """A moment."""
    return f"{moment(at_us):%Y-%m-%dT%H:%M:%S.%f}Z"


def queue_json(service: Service, row: Row) -> dict[str, Any]:
    """A queue."""
    state = service.state.queues[row["core"]]
    config = state.config
    consumers = [] if state.consumer is None else [consumer_json(service, row)]
    shown: dict[str, Any] = {
        "queue_id": row["id"],
        "queue_name": row["public"],
        "created_on": iso(row["created_us"]),
        "modified_on": iso(row["modified_us"]),
        "settings": {
            "delivery_delay": config.delivery_delay,
            "delivery_paused": config.delivery_paused,
            "message_retention_period": config.message_retention_period,
        },
        "producers": row["producers"],
        "producers_total_count": len(row["producers"]),
        "consumers": consumers,
        "consumers_total_count": len(consumers),
    }
    if config.jurisdiction is not None:
        shown["jurisdiction"] = config.jurisdiction
    return shown


def consumer_json(service: Service, row: Row) -> dict[str, Any]:
    """A queue's consumer. Both names of the script are shown: wrangler reads `script`, the SDK `script_name`."""
    consumer = service.state.queues[row["core"]].consumer
    assert consumer is not None, "only a consumer that is there is shown"
    if row["consumer"] is None:  # somebody has set it in process
        service.directory.save(row, consumer=service.directory.new_consumer(service.now_us))
    known = row["consumer"]
    settings: dict[str, Any] = {
        "batch_size": consumer.max_batch_size,
        "max_retries": consumer.max_retries,
        "retry_delay": consumer.retry_delay,
    }
    shown = {
        "consumer_id": known["id"],
        "type": consumer.type,
        "queue_name": row["public"],
        "queue_id": row["id"],
        "dead_letter_queue": service.directory.public(consumer.dead_letter_queue),
        "created_on": iso(known["created_us"]),
        "settings": settings,
    }
    if consumer.type == "http_pull":
        settings["visibility_timeout_ms"] = consumer.visibility_timeout_ms
    else:
        shown |= {"script": known["script"], "script_name": known["script"], "environment": ""}
        settings["max_wait_time_ms"] = round(consumer.max_batch_timeout * MILLISECONDS)
        settings["max_concurrency"] = consumer.max_concurrency
    return shown


def subscription_json(row: Row) -> dict[str, Any]:
    """A subscription to events."""
    shown = {name: row[name] for name in ("id", "name", "enabled", "source", "destination", "events")}
    return shown | {"created_at": iso(row["created_us"]), "modified_at": iso(row["modified_us"])}


def metrics_json(queue: QueueState) -> dict[str, int]:
    """The backlog of a queue."""
    metrics = Metrics(queue)
    return {
        "backlog_bytes": metrics.backlog_bytes,
        "backlog_count": metrics.backlog_count,
        "oldest_message_timestamp_ms": metrics.oldest_message_timestamp_ms,
    }


def message_json(m: Message) -> dict[str, Any]:
    """A message that is looked at."""
    return {
        "id": m.id, "body": on_the_wire(m.body, m.content_type), "attempts": m.attempts,
        "timestamp_ms": m.timestamp_us // MILLISECONDS, "metadata": {"CF-Content-Type": m.content_type},
    }  # fmt: skip
