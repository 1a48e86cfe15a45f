"""What the API answers, as JSON schemas for the OpenAPI document."""

from __future__ import annotations

from typing import Any

_TEXT: dict[str, Any] = {"type": "string"}
_COUNT: dict[str, Any] = {"type": "integer", "minimum": 0}
_FLAG: dict[str, Any] = {"type": "boolean"}
_ID: dict[str, Any] = {"type": "string", "maxLength": 32, "minLength": 1}
_MOMENT: dict[str, Any] = {"type": "string", "format": "date-time"}
_PAGE: dict[str, Any] = {"type": "integer", "minimum": 1, "maximum": 999_999_999}
_TEXTS: dict[str, Any] = {"type": "object", "additionalProperties": _TEXT}

QUERY: dict[str, dict[str, Any]] = {
    "page": _PAGE,
    "per_page": {"type": "integer", "minimum": 1, "maximum": 1_000},
    "name": {"type": "array", "items": _TEXT, "maxItems": 100},
    "queue_id": _TEXT,
    "order": {"type": "string", "enum": ["created_at", "name", "enabled"]},
    "direction": {"type": "string", "enum": ["asc", "desc"]},
    "after": _COUNT,
    "limit": {"type": "integer", "minimum": 1, "maximum": 1_000},
}
"""Every parameter of a query."""


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


def _object(optional: tuple[str, ...] = (), /, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [name for name in properties if name not in optional]}


_MESSAGE = {"id": _ID, "body": _TEXT, "attempts": _COUNT, "timestamp_ms": _COUNT, "metadata": _TEXTS}
_METRICS = _object(backlog_bytes=_COUNT, backlog_count=_COUNT, oldest_message_timestamp_ms=_COUNT)
_METADATA = _object(metrics=_METRICS)

_SHAPES: dict[str, dict[str, Any]] = {
    "Nothing": {"type": "null"},
    "Queue": _object(
        ("jurisdiction",),
        queue_id=_ID,
        queue_name=_TEXT,
        jurisdiction=_TEXT,
        created_on=_MOMENT,
        modified_on=_MOMENT,
        settings=_object(delivery_delay=_COUNT, delivery_paused=_FLAG, message_retention_period=_COUNT),
        producers=_list({"type": "object"}),
        producers_total_count=_COUNT,
        consumers=_list(_ref("ConsumerShown")),
        consumers_total_count=_COUNT,
    ),
    "Consumer": _object(
        ("script", "script_name", "environment"),
        consumer_id=_ID,
        type={"type": "string", "enum": ["worker", "http_pull"]},
        queue_name=_TEXT,
        queue_id=_ID,
        dead_letter_queue=_TEXT,
        created_on=_MOMENT,
        script=_TEXT,
        script_name=_TEXT,
        environment=_TEXT,
        settings=_object(
            ("max_wait_time_ms", "max_concurrency", "visibility_timeout_ms"),
            batch_size=_COUNT,
            max_retries=_COUNT,
            retry_delay=_COUNT,
            max_wait_time_ms=_COUNT,
            max_concurrency={"type": ["integer", "null"]},
            visibility_timeout_ms=_COUNT,
        ),
    ),
    "Metrics": _METRICS,
    "PurgeStatus": _object(completed=_TEXT, complete=_FLAG, started_at=_TEXT),
    "Pushed": _object(metadata=_METADATA),
    "Pulled": _object(message_backlog_count=_COUNT, metadata=_METADATA, messages=_list(_object(**_MESSAGE, lease_id=_TEXT))),
    "Acknowledged": _object(ackCount=_COUNT, retryCount=_COUNT, warnings=_TEXTS),
    "Extended": _object(messages=_list(_object(lease_id=_TEXT, previous_lease_id=_TEXT)), extendCount=_COUNT, warnings=_TEXTS),
    "Peeked": _object(messages=_list(_object(**_MESSAGE, ref=_TEXT))),
    "Previewed": _object(messages=_list(_object(**_MESSAGE, lease_id=_TEXT))),
    "PurgedRefs": _object(errors=_list({"type": "object"}), warnings=_TEXTS),
    "PreviewAcknowledged": _object(warnings=_TEXTS),
    "Subscription": _object(
        id=_ID,
        name=_TEXT,
        enabled=_FLAG,
        source=_object(type=_TEXT),
        destination=_object(type=_TEXT, queue_id=_ID),
        events=_list(_TEXT),
        created_at=_MOMENT,
        modified_at=_MOMENT,
    ),
}
_LISTS = {"QueueList": "Queue", "ConsumerList": "Consumer", "SubscriptionList": "Subscription"}
_INFO = _object(page=_PAGE, per_page=_COUNT, count=_COUNT, total_count=_COUNT, total_pages=_COUNT)
_ERROR = _object(("documentation_url",), code=_COUNT, message=_TEXT, documentation_url=_TEXT)


def _answer(result: dict[str, Any], *, paged: bool = False) -> dict[str, Any]:
    none = {"type": "array", "maxItems": 0}
    shape = _object(success={"const": True}, errors=none, messages=none, result=result)
    if paged:
        shape["properties"]["result_info"] = _INFO
    return shape


RESULTS: dict[str, dict[str, Any]] = {
    **{f"{name}Shown": shape for name, shape in _SHAPES.items()},
    **{f"{name}Answer": _answer(_ref(f"{name}Shown")) for name in _SHAPES},
    **{f"{name}Answer": _answer(_list(_ref(f"{item}Shown")), paged=name != "ConsumerList") for name, item in _LISTS.items()},
    "Refusal": _object(
        success={"const": False},
        errors={"type": "array", "items": _ERROR, "minItems": 1},
        messages={"type": "array", "maxItems": 0},
        result={"type": "null"},
    ),
}
"""Every schema of an answer by its name."""
