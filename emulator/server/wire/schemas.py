"""What the API answers, as JSON schemas for the OpenAPI document. What one operation alone answers stands in its file."""

from __future__ import annotations

from typing import Any, NamedTuple

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
ID: Schema = {"type": "string", "maxLength": 32, "minLength": 1}
MOMENT: Schema = {"type": "string", "format": "date-time"}
TEXTS: Schema = {"type": "object", "additionalProperties": TEXT}
PAGE: Schema = {"type": "integer", "minimum": 1, "maximum": 999_999_999}
PER_PAGE: Schema = {"type": "integer", "minimum": 1, "maximum": 1_000}


class Shape(NamedTuple):
    """A result by name. `many`: a list of them, in `pages` where it carries `result_info`."""

    name: str
    schema: Schema
    many: bool = False
    pages: bool = False


def list_of(items: Schema) -> Schema:
    """An array."""
    return {"type": "array", "items": items}


def object_of(optional: tuple[str, ...] = (), /, **properties: Any) -> Schema:
    """An object with these members, all needed but the optional ones."""
    return {"type": "object", "properties": properties, "required": [name for name in properties if name not in optional]}


def reference(name: str) -> Schema:
    """Where a shape stands in the document."""
    return {"$ref": f"#/components/schemas/{name}"}


MESSAGE = {"id": ID, "body": TEXT, "attempts": COUNT, "timestamp_ms": COUNT, "metadata": TEXTS}
"""The members of a message that is shown."""
METRICS_SCHEMA = object_of(backlog_bytes=COUNT, backlog_count=COUNT, oldest_message_timestamp_ms=COUNT)
METADATA = object_of(metrics=METRICS_SCHEMA)

NOTHING = Shape("Nothing", {"type": "null"})
PUSHED = Shape("Pushed", object_of(metadata=METADATA))
CONSUMER = Shape(
    "Consumer",
    object_of(
        ("script", "script_name", "environment"),
        consumer_id=ID,
        type={"type": "string", "enum": ["worker", "http_pull"]},
        queue_name=TEXT,
        queue_id=ID,
        dead_letter_queue=TEXT,
        created_on=MOMENT,
        script=TEXT,
        script_name=TEXT,
        environment=TEXT,
        settings=object_of(
            ("max_wait_time_ms", "max_concurrency", "visibility_timeout_ms"),
            batch_size=COUNT,
            max_retries=COUNT,
            retry_delay=COUNT,
            max_wait_time_ms=COUNT,
            max_concurrency={"type": ["integer", "null"]},
            visibility_timeout_ms=COUNT,
        ),
    ),
)
QUEUE = Shape(
    "Queue",
    object_of(
        ("jurisdiction",),
        queue_id=ID,
        queue_name=TEXT,
        jurisdiction=TEXT,
        created_on=MOMENT,
        modified_on=MOMENT,
        settings=object_of(delivery_delay=COUNT, delivery_paused=FLAG, message_retention_period=COUNT),
        producers=list_of({"type": "object"}),
        producers_total_count=COUNT,
        consumers=list_of(reference("ConsumerShown")),
        consumers_total_count=COUNT,
    ),
)
SUBSCRIPTION = Shape(
    "Subscription",
    object_of(
        id=ID,
        name=TEXT,
        enabled=FLAG,
        source=object_of(type=TEXT),
        destination=object_of(type=TEXT, queue_id=ID),
        events=list_of(TEXT),
        created_at=MOMENT,
        modified_at=MOMENT,
    ),
)

_INFO = object_of(page=PAGE, per_page=COUNT, count=COUNT, total_count=COUNT, total_pages=COUNT)
_ERROR = object_of(("documentation_url",), code=COUNT, message=TEXT, documentation_url=TEXT)
_EMPTY: Schema = {"type": "array", "maxItems": 0}
REFUSAL = object_of(
    success={"const": False}, errors={"type": "array", "items": _ERROR, "minItems": 1}, messages=_EMPTY, result={"type": "null"}
)


def components(shape: Shape) -> dict[str, Schema]:
    """A shape's schemas by name: of what is shown, and of the answer around it."""
    shown = reference(f"{shape.name}Shown")
    answer = object_of(success={"const": True}, errors=_EMPTY, messages=_EMPTY, result=list_of(shown) if shape.many else shown)
    if shape.pages:
        answer["properties"]["result_info"] = _INFO
    return {f"{shape.name}Shown": shape.schema, answer_name(shape): answer}


def answer_name(shape: Shape) -> str:
    """What the schema of an answer is called."""
    return f"{shape.name}{'List' if shape.many else ''}Answer"
