"""The account as a JSON file, and as rules see it: the plan, and the queues with settings, consumers, producers and backlog.

For `--facts` and `--write-facts`. Names are those of Cloudflare's API. A snapshot holds no token, no body and no lease.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from cfq_lint.facts import limits
from cfq_lint.facts.errors import WrongSettings
from cfq_lint.model.account_facts import PAID, ConsumerFacts, Facts, QueueFacts
from cfq_lint.model.measured import Hour, Measured, QueueMeasured, WorkerMeasured
from cfq_lint.model.mistakes import field_of, wanted

if TYPE_CHECKING:
    import datetime as dt

_Count = Annotated[int, Field(strict=True, ge=0)]
_Number = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
_MS_PER_SECOND = 1000
_DAYS_MAX = 31


class SnapshotConsumer(BaseModel):
    """A consumer of a queue in the account."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: str = Field("worker", description="worker, http_pull, notification, or what the API says")
    script_name: str | None = None
    dead_letter_queue: str | None = None
    settings: dict[str, int | None] = {}


class SnapshotQueue(BaseModel):
    """A queue in the account. Periods and delays are seconds; a jurisdiction of null is global."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    message_retention_period: _Count | None = None
    jurisdiction: Annotated[str, Field(pattern="^[a-z0-9][a-z0-9_-]*$")] | None = None
    delivery_delay: _Count | None = None
    delivery_paused: bool | None = None
    consumers: list[SnapshotConsumer] | None = Field(None, description="null where nobody looked; empty where there is none")
    producers: list[str] | None = Field(None, description="names of Workers, or of what else sends; null where nobody looked")
    backlog_count: _Count | None = Field(None, description="messages in the queue; null where nobody looked, as for all three")
    backlog_bytes: _Count | None = None
    oldest_message_timestamp_ms: _Count | None = Field(None, description="0 or null: no message, or not known")


class SnapshotHour(BaseModel):
    """One hour of a queue; what is absent had no row. Times are milliseconds, sizes bytes, what is fractional an average."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hour: Annotated[int, Field(strict=True, ge=0, lt=_DAYS_MAX * 24)] = Field(description="hours since the window's start")
    written: _Count | None = None
    delivered: _Count | None = None
    succeeded: _Count | None = None
    dead_lettered: _Count | None = None
    failed: _Count | None = None
    operations: _Count | None = None
    bytes_written: _Count | None = None
    largest_bytes: _Count | None = None
    lag_ms: _Number | None = None
    retries: _Number | None = None
    backlog_messages: _Number | None = None
    backlog_bytes: _Number | None = None
    concurrency: _Number | None = None


class SnapshotQueueMeasured(BaseModel):
    """What was measured of a queue; `id` is what Cloudflare's queries name it by."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Annotated[str, Field(pattern=r"^[0-9A-Za-z_-]{1,64}$")]
    hours: list[SnapshotHour] = []


class SnapshotWorkerMeasured(BaseModel):
    """What was measured of a Worker's invocations of all kinds; times are microseconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    requests: _Count | None = None
    errors: _Count | None = None
    wall_us: _Number | None = None
    cpu_us: _Number | None = None
    wall_us_max: _Number | None = None
    cpu_us_max: _Number | None = None
    wall_us_p50: _Number | None = None
    wall_us_p99: _Number | None = None
    cpu_us_p50: _Number | None = None
    cpu_us_p99: _Number | None = None


class SnapshotMeasured(BaseModel):
    """What the account measured in a window of whole hours, which does not hold its end."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    start: AwareDatetime
    end: AwareDatetime
    missing: dict[Literal["operations", "backlog", "concurrency", "invocations"], str] = Field(
        {}, description="by query: why it could not be read"
    )
    queues: dict[str, SnapshotQueueMeasured] = {}
    workers: dict[str, SnapshotWorkerMeasured] = {}

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        length = (self.end - self.start).total_seconds()
        if not 0 < length <= _DAYS_MAX * 86_400 or length % 3_600:
            raise ValueError(f"a window has whole hours, and at most {_DAYS_MAX} days")
        for queue in self.queues.values():
            hours = [each.hour for each in queue.hours]
            if hours != sorted(set(hours)) or any(hour * 3_600 >= length for hour in hours):
                raise ValueError("hours are within the window, in order, each once")
        return self


class Snapshot(BaseModel):
    """What is known of an account."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="Snapshot of an account for cfq-lint --facts")

    version: Literal[1] = 1
    taken_at: AwareDatetime | None = Field(None, description="when the account was read; ages count up to it")
    plan: Literal["free", "paid"] | None = None
    queues: dict[str, SnapshotQueue] = Field({}, description="all queues of the account, by name")
    measured: SnapshotMeasured | None = Field(None, description="what its analytics say; null where nobody asked")


def load(path: str, *, is_account: bool = False) -> Facts:
    """Read a snapshot; `is_account` takes it for the account itself. Raises WrongSettings, which says what is wrong with it."""
    try:
        with open(path, "rb") as file:
            snapshot = Snapshot.model_validate_json(file.read())
    except OSError as error:
        raise WrongSettings(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        lines = [f"{path}: {field_of(mistake) or 'it'} {wanted(mistake)}" for mistake in error.errors(include_url=False)]
        raise WrongSettings("\n".join(dict.fromkeys(lines))) from error
    origin = "in the account" if is_account else f"in {os.path.basename(path)}"
    return facts_of(snapshot, origin=origin, is_account=is_account)


def as_text(snapshot: Snapshot) -> str:
    """The snapshot as the file that `load` reads; what is not known is left out."""
    return snapshot.model_dump_json(indent=2, exclude_none=True) + "\n"


def from_text(text: str, *, origin: str, is_account: bool) -> Facts:
    """What `as_text` wrote, as rules see it: the same as `load` reads from a file of it."""
    return facts_of(Snapshot.model_validate_json(text), origin=origin, is_account=is_account)


def facts_of(snapshot: Snapshot, *, origin: str, is_account: bool) -> Facts:
    """A snapshot as rules see it. A retention that only the Paid plan has says what the plan is, where nobody does."""
    queues = {name: _queue_facts(queue, snapshot.taken_at) for name, queue in snapshot.queues.items()}
    plan: str | None = snapshot.plan
    if plan is None and any((q.message_retention_period or 0) > limits.RETENTION_SECONDS_FREE for q in queues.values()):
        plan = PAID
    measured = None if snapshot.measured is None else _measured(snapshot.measured)
    return Facts(plan, queues, frozenset(queues), origin, is_account, measured=measured)


def _measured(snapshot: SnapshotMeasured) -> Measured:
    queues = {
        name: QueueMeasured(
            queue.id, tuple(Hour(each.hour, **each.model_dump(exclude={"hour"}, exclude_none=True)) for each in queue.hours)
        )
        for name, queue in snapshot.queues.items()
    }
    workers = {name: WorkerMeasured(**each.model_dump(exclude_none=True)) for name, each in snapshot.workers.items()}
    return Measured(snapshot.start, snapshot.end, {str(key): why for key, why in snapshot.missing.items()}, queues, workers)


def _queue_facts(queue: SnapshotQueue, taken_at: dt.datetime | None) -> QueueFacts:
    consumers = None
    if queue.consumers is not None:
        consumers = tuple(
            ConsumerFacts(each.type, each.script_name or None, each.dead_letter_queue or None, each.settings)
            for each in queue.consumers
        )
    age = None
    if queue.oldest_message_timestamp_ms and taken_at is not None:
        age = max(0, int(taken_at.timestamp()) - queue.oldest_message_timestamp_ms // _MS_PER_SECOND)
    return QueueFacts(
        jurisdiction=queue.jurisdiction or "global",
        message_retention_period=queue.message_retention_period,
        delivery_delay=queue.delivery_delay,
        delivery_paused=queue.delivery_paused,
        consumers=consumers,
        producers=None if queue.producers is None else tuple(queue.producers),
        backlog_count=queue.backlog_count,
        backlog_bytes=queue.backlog_bytes,
        oldest_message_age_seconds=age,
    )
