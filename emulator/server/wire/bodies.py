"""The bodies that the REST API takes, as pydantic models. Unknown members are ignored, as Cloudflare does.

What comes a hundred at a time (messages, leases) is a typed dictionary: checked alike, in a third of the time of a model.
A number may be written 5 or 5.0; a text, a boolean or a fraction is no whole number. Ranges are the core's business, so that
each refusal carries the code that Cloudflare gives it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, RootModel, WithJsonSchema
from typing_extensions import TypedDict

from cfq_lint.facts import limits
from emulator.core.limits import QUEUE_NAME

_SAFE_MAX = 2**53
_LONG = 1_024


def _whole(value: object) -> object:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _SAFE_MAX:
        raise ValueError("a whole number is needed")
    return value


def _span(low: int, high: int) -> WithJsonSchema:
    return WithJsonSchema({"type": "integer", "minimum": low, "maximum": high})


_WHOLE = BeforeValidator(_whole)
Delay = Annotated[int, _WHOLE, _span(limits.DELAY_SECONDS_MIN, limits.DELAY_SECONDS_MAX)]
Retention = Annotated[int, _WHOLE, _span(limits.RETENTION_SECONDS_MIN, limits.RETENTION_SECONDS_MAX)]
BatchSize = Annotated[int, _WHOLE, _span(limits.BATCH_SIZE_MIN, limits.BATCH_SIZE_MAX)]
Retries = Annotated[int, _WHOLE, _span(limits.RETRIES_MIN, limits.RETRIES_MAX)]
Wait = Annotated[int, _WHOLE, _span(0, limits.BATCH_TIMEOUT_SECONDS_MAX * 1_000)]
Concurrency = Annotated[int, _WHOLE, _span(limits.CONCURRENCY_MIN, limits.CONCURRENCY_MAX)]
Visibility = Annotated[int, _WHOLE, _span(limits.VISIBILITY_TIMEOUT_MS_MIN, limits.VISIBILITY_TIMEOUT_MS_MAX)]
Name = Annotated[str, WithJsonSchema({"type": "string", "pattern": QUEUE_NAME.pattern})]
DeadLetterQueue = Annotated[
    str, Field(max_length=_LONG), WithJsonSchema({"type": "string", "pattern": f"^$|{QUEUE_NAME.pattern}"})
]
Content = Annotated[str, WithJsonSchema({"type": "string", "enum": ["text", "json"]})]
Jurisdiction = Annotated[str, WithJsonSchema({"type": "string", "enum": list(limits.JURISDICTIONS)})]
Short = Annotated[str, Field(max_length=_LONG)]


_CONFIG = ConfigDict(strict=True, extra="ignore")


class Body(BaseModel):
    """A request's body."""

    model_config = _CONFIG


class QueueSettings(Body):
    """What can be set on a queue."""

    delivery_delay: Delay | None = None
    delivery_paused: bool | None = None
    message_retention_period: Retention | None = None


class CreateQueue(Body):
    """A new queue."""

    queue_name: Name
    jurisdiction: Jurisdiction | None = None
    settings: QueueSettings | None = None


class PutQueue(Body):
    """A queue, overwritten: what is left out takes its default."""

    queue_name: Name | None = None
    settings: QueueSettings | None = None


class PatchQueue(PutQueue):
    """A queue, changed: what is left out stays."""


class ConsumerSettings(Body):
    """What can be set on a consumer: wait and concurrency on a Worker's, `visibility_timeout_ms` on an http_pull consumer."""

    batch_size: BatchSize | None = None
    max_retries: Retries | None = None
    max_wait_time_ms: Wait | None = None
    max_concurrency: Concurrency | None = None
    retry_delay: Delay | None = None
    visibility_timeout_ms: Visibility | None = None


def _needs(name: str) -> dict[str, Any]:
    return {"required": [name], "properties": {name: {"type": "string", "minLength": 1}}}


class SetConsumer(Body):
    """A consumer; a worker's needs `script_name` (or, as of old, `script` or `service`)."""

    model_config = ConfigDict(
        json_schema_extra={
            "anyOf": [{"properties": {"type": {"const": "http_pull"}}}, *map(_needs, ("script_name", "script", "service"))]
        }
    )

    type: Annotated[str, WithJsonSchema({"type": "string", "enum": ["worker", "http_pull"]})]
    script_name: Short | None = None
    script: Short | None = None
    service: Short | None = None
    dead_letter_queue: DeadLetterQueue | None = None
    settings: ConsumerSettings | None = None


class PushItem(TypedDict):
    """A message; as text only a text can be sent."""

    __pydantic_config__ = ConfigDict(  # type: ignore[misc] # pydantic reads it; it is no key
        **_CONFIG,
        json_schema_extra={
            "anyOf": [
                {"properties": {"content_type": {"enum": ["json", None]}}},
                {"properties": {"body": {"type": "string"}}},
            ]
        },
    )

    body: Any
    content_type: NotRequired[Content | None]
    delay_seconds: NotRequired[Delay | None]


class Push(RootModel[PushItem]):
    """A message by itself."""


class PushBatch(Body):
    """Messages, all stored or none."""

    messages: list[PushItem] = Field(json_schema_extra={"minItems": 1, "maxItems": limits.SEND_BATCH_COUNT_MAX})
    delay_seconds: Delay | None = None


class Pull(Body):
    """How many messages to lease, and for how long."""

    batch_size: BatchSize | None = None
    visibility_timeout_ms: Visibility | None = None


class LeaseId(TypedDict):
    """A lease."""

    __pydantic_config__ = _CONFIG  # type: ignore[misc] # as above

    lease_id: Short


class Retry(TypedDict):
    """A lease to give back, and how long the message shall wait."""

    __pydantic_config__ = _CONFIG  # type: ignore[misc] # as above

    lease_id: Short
    delay_seconds: NotRequired[Delay | None]


class Ack(Body):
    """Leases to settle."""

    acks: list[LeaseId] | None = None
    retries: list[Retry] | None = None


class PreviewAck(Body):
    """Messages that were previewed, to be deleted; `retries` change nothing."""

    acks: list[LeaseId] | None = None
    retries: list[LeaseId] | None = None


class Extend(Body):
    """Leases to prolong."""

    extend: list[LeaseId]
    visibility_timeout_ms: Visibility | None = None


class Peek(Body):
    """How many messages to look at."""

    batch_size: BatchSize | None = None


class Ref(Body):
    """A message that was looked at."""

    ref: Short


class PurgeRefs(Body):
    """Messages to delete."""

    refs: list[Ref]


class PurgeAll(Body):
    """Everything is to be deleted: it must be said."""

    delete_messages_permanently: Literal[True]


SOURCES = (
    "access", "aiSearch", "artifacts", "artifacts.repo", "browserRun", "email.sending", "images", "kv", "r2", "stream",
    "superSlurper", "vectorize", "workers", "workersAi.model", "workersBuilds.worker", "workflows.workflow",
)  # fmt: skip
"""The sources of events that Cloudflare has."""


class Source(BaseModel):
    """Whose events: a type, and what narrows it down."""

    model_config = ConfigDict(strict=True, extra="allow")

    type: Annotated[str, WithJsonSchema({"type": "string", "enum": list(SOURCES)})]


class Destination(Body):
    """Which queue the events are for."""

    type: Literal["queues.queue"]
    queue_id: Short


class CreateSubscription(Body):
    """A new subscription to events."""

    name: Annotated[str, Field(min_length=1, max_length=_LONG)]
    enabled: bool = True
    source: Source
    destination: Destination
    events: Annotated[list[Short], Field(min_length=1, max_length=_LONG)]


class PatchSubscription(Body):
    """A subscription, changed."""

    name: Annotated[str, Field(min_length=1, max_length=_LONG)] | None = None
    enabled: bool | None = None
    destination: Destination | None = None
    events: Annotated[list[Short], Field(min_length=1, max_length=_LONG)] | None = None


class Advance(Body):
    """How far to move the clock."""

    seconds: Annotated[float, Field(ge=0, le=10**10, strict=False, allow_inf_nan=False)]


class FaultChances(Body):
    """Chances from 0 to 1; what is left out is 0."""

    duplicates: float = 0
    reorder: float = 0
    crashes: float = 0
    refused_sends: float = 0
    slow: float = 0
