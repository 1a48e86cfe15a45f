"""What Cloudflare's API answers about queues, as far as it is read; absent fields, unknown and older ones are no fault."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from cfq_lint.account.errors import AnotherShape

_T = TypeVar("_T")
_Count = Annotated[int, Field(ge=0, le=2**63)]
_Name = Annotated[str, Field(min_length=1, max_length=255)]


class _Payload(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Mistake(_Payload):
    """Why the API refuses."""

    code: int | None = None
    message: str = ""


class PageInfo(_Payload):
    """Where a page stands in its list."""

    total_count: _Count | None = None
    total_pages: _Count | None = None


class Envelope(_Payload):
    """Every answer."""

    success: bool
    errors: list[Mistake] | None = None
    result: Any = None
    result_info: PageInfo | None = None


class Trouble(_Payload):
    """Why a GraphQL query fails, all or in part."""

    message: str = ""


class _Viewer(_Payload):
    accounts: list[dict[str, Any]]


class _Data(_Payload):
    viewer: _Viewer | None = None


class Queried(_Payload):
    """Every answer to a GraphQL query."""

    data: _Data | None = None
    errors: list[Trouble] | None = None


class ConsumerSettings(_Payload):
    """Settings of a consumer; absent or null is automatic, or the default."""

    batch_size: _Count | None = None
    max_retries: _Count | None = None
    max_wait_time_ms: _Count | None = None
    max_concurrency: _Count | None = None
    retry_delay: _Count | None = None
    visibility_timeout_ms: _Count | None = None


class ConsumerPayload(_Payload):
    """A consumer. Its Worker is `script_name`, in older answers `script`, or `service` with an environment."""

    type: str | None = None
    script_name: str | None = None
    script: str | None = None
    service: str | None = None
    dead_letter_queue: str | None = None
    settings: ConsumerSettings | None = None


class ProducerPayload(_Payload):
    """A producer: a Worker, named as a consumer's is, or a bucket."""

    type: str | None = None
    script_name: str | None = None
    script: str | None = None
    service: str | None = None
    bucket_name: str | None = None


class QueueSettings(_Payload):
    """Settings of a queue."""

    delivery_delay: _Count | None = None
    delivery_paused: bool | None = None
    message_retention_period: _Count | None = None


class QueuePayload(_Payload):
    """A queue, with as many of its consumers and producers as the API lists along."""

    queue_id: Annotated[str, Field(pattern=r"^[0-9A-Za-z_-]{1,64}$")]
    queue_name: _Name
    jurisdiction: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]*$")] | None = None
    settings: QueueSettings | None = None
    producers: list[ProducerPayload] | None = None
    producers_total_count: _Count | None = None
    consumers: list[ConsumerPayload] | None = None
    consumers_total_count: _Count | None = None


class MetricsPayload(_Payload):
    """The backlog of a queue."""

    backlog_count: _Count | None = None
    backlog_bytes: _Count | None = None
    oldest_message_timestamp_ms: _Count | None = None


def read_as(kind: type[_T], plain: Any, host: str, what: str) -> _T:
    """Plain JSON as a payload. Raises AnotherShape, which names the first place that is wrong and not what stands there."""
    try:
        return TypeAdapter(kind).validate_python(plain)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join([what, *map(str, first["loc"])])
        raise AnotherShape(host, where, first["msg"]) from None
