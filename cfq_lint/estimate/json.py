"""The estimate as JSON, versioned: the shape is in schemas/estimate.schema.json."""

from __future__ import annotations

import json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfq_lint.estimate.model import Estimate, QueueEstimate, Retries

VERSION = 1
_LOADS = ("rate_per_second", "message_size_bytes", "failure_share", "processing_seconds", "processing_message_seconds")


def render(estimate: Estimate, *, problems: tuple[str, ...] = ()) -> str:
    """The whole estimate as one JSON object, ASCII only, with a line end."""
    whole = {
        "version": VERSION,
        "plan": estimate.plan,
        "total": {
            "operations_a_month": estimate.operations,
            "usd_a_month": None if estimate.usd is None else round(estimate.usd, 2),
            "operations_a_day": estimate.daily_operations,
            "complete": estimate.complete,
        },
        "queues": [_queue(each) for each in estimate.queues],
        "passed_over": list(estimate.passed_over),
        "problems": list(problems),
    }
    return json.dumps(whole, indent=2) + "\n"


def _queue(queue: QueueEstimate) -> dict[str, Any]:
    month, concurrency = queue.month, queue.concurrency
    return {
        "queue": queue.queue,
        "consumed": queue.consumed,
        "settings": {name: {"value": each.value, "source": each.source} for name, each in queue.settings.items()},
        "dead_letter_queue": queue.dead_letter_queue,
        "declared": {name: getattr(queue.load, name) for name in _LOADS},
        "missing": list(queue.missing),
        "retention_seconds": queue.retention_seconds,
        "retention_source": queue.retention_source,
        "operations_each_time": queue.chunks,
        "as_set": _retries(queue.as_set),
        "retries": [_retries(each) for each in queue.table],
        "poisoned_batch_reads": queue.batch_reads,
        "operations_a_message": queue.operations_per_message,
        "month": None
        if month is None
        else {
            "messages": month.messages,
            "operations": month.operations,
            "writes": month.writes,
            "reads": month.reads,
            "deletes": month.deletes,
            "dead_letters": month.dead_letters,
            "dead_letter_operations": month.dead_letter_operations,
            "usd_beyond_included": round(month.usd, 2),
        },
        "free_plan": {"messages_a_day": queue.free_messages_a_day, "operations_a_day": queue.daily_operations},
        "concurrency": None
        if concurrency is None
        else {
            "batch_messages": concurrency.batch_messages,
            "invocations_per_second": concurrency.invocations_per_second,
            "invocation_seconds": concurrency.invocation_seconds,
            "needed": concurrency.needed,
            "limit": concurrency.limit,
            "limit_source": concurrency.limit_source,
            "is_enough": concurrency.is_enough,
            "rate_at_limit": concurrency.rate_at_limit,
        },
        "invocations_by_batch_size": [{"max_batch_size": size, "per_second": rate} for size, rate in queue.batches],
        "notes": list(queue.notes),
    }


def _retries(each: Retries) -> dict[str, Any]:
    return {
        "max_retries": each.max_retries,
        "deliveries": each.deliveries,
        "poisoned_reads": each.poisoned_reads,
        "horizon_seconds": each.horizon_seconds,
        "outlasts_retention": each.outlasts_retention,
        "poisoned_operations_a_month": each.poisoned_operations,
        "poisoned_usd_a_month": None if each.poisoned_usd is None else round(each.poisoned_usd, 2),
    }
