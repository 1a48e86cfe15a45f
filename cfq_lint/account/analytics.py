"""Reads what an account measured: a data set a query, over a window of whole hours, as few queues a query as its rows allow."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints

from cfq_lint.account.errors import AnotherShape, NotMeasured, TooManyRows
from cfq_lint.account.payloads import read_as
from cfq_lint.facts import limits
from cfq_lint.model.facts_file import SnapshotHour, SnapshotMeasured, SnapshotQueueMeasured, SnapshotWorkerMeasured
from cfq_lint.model.measured import (
    BACKLOG,
    CONCURRENCY,
    HOUR_SECONDS,
    INVOCATIONS,
    OPERATIONS,
    data_set,
    document,
    moment,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from cfq_lint.account.api import Api

    Told = Callable[[str, int, int | None], None]

QUEUES_MAX = 100
"""Of how many queues the analytics are read, and of how many Workers."""
_GROUPS_AN_HOUR = 5
"""Rows of one queue in an hour: written, delivered, and the three ways out."""
_Row = TypeVar("_Row", bound="_Grouped")
_Count = Annotated[int, Field(ge=0, le=2**63)]
_Number = Annotated[float, Field(ge=0, le=1e18, allow_inf_nan=False)]
_Name = Annotated[str, StringConstraints(max_length=255)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Sum(_Part):
    billableOperations: _Count | None = None  # noqa: N815 - Cloudflare's names
    bytes: _Count | None = None
    requests: _Count | None = None
    errors: _Count | None = None
    wallTime: _Number | None = None  # noqa: N815
    cpuTimeUs: _Number | None = None  # noqa: N815


class _Average(_Part):
    lagTime: _Number | None = None  # noqa: N815
    retryCount: _Number | None = None  # noqa: N815
    messages: _Number | None = None
    bytes: _Number | None = None
    concurrency: _Number | None = None


class _Most(_Part):
    messageSize: _Count | None = None  # noqa: N815
    wallTime: _Number | None = None  # noqa: N815
    cpuTime: _Number | None = None  # noqa: N815


class _Quantiles(_Part):
    wallTimeP50: _Number | None = None  # noqa: N815
    wallTimeP99: _Number | None = None  # noqa: N815
    cpuTimeP50: _Number | None = None  # noqa: N815
    cpuTimeP99: _Number | None = None  # noqa: N815


class _OfQueue(_Part):
    queueId: _Name  # noqa: N815
    datetimeHour: AwareDatetime  # noqa: N815
    actionType: _Name = ""  # noqa: N815
    outcome: _Name | None = None


class _OfWorker(_Part):
    scriptName: _Name  # noqa: N815


class _Grouped(_Part):
    """A row: what was asked for of a group. Absent is not known."""

    count: _Count = 0
    sum: _Sum = _Sum()
    avg: _Average = _Average()
    max: _Most = _Most()
    quantiles: _Quantiles = _Quantiles()


class _QueueRow(_Grouped):
    dimensions: _OfQueue


class _WorkerRow(_Grouped):
    dimensions: _OfWorker


async def measure(api: Api, ids: dict[str, str], scripts: list[str], window_seconds: int, told: Told) -> SnapshotMeasured:
    """What was measured of queues, given with their ids by name, and of Workers, up to the last whole hour.

    What the token may not read is missing, and why is said. Raises AccountError.
    """
    end = api.now.astimezone(dt.UTC).replace(minute=0, second=0, microsecond=0)
    start = end - dt.timedelta(seconds=window_seconds)
    reading = _Reading(api, start, end, told)
    chosen = dict(sorted(ids.items())[:QUEUES_MAX])
    hours: dict[str, dict[int, dict[str, Any]]] = {id: {} for id in chosen.values()}
    for name, groups in ((OPERATIONS, _GROUPS_AN_HOUR), (BACKLOG, 1), (CONCURRENCY, 1)):
        a_query = max(1, limits.ANALYTICS_ROWS // (groups * window_seconds // HOUR_SECONDS))
        for row in await reading.rows(name, "queueIds", list(chosen.values()), a_query, _QueueRow):
            reading.into(hours, name, row)
    workers: dict[str, dict[str, Any]] = {}
    for each in await reading.rows(INVOCATIONS, "scripts", sorted(scripts)[:QUEUES_MAX], QUEUES_MAX, _WorkerRow):
        if each.dimensions.scriptName in scripts:
            workers[each.dimensions.scriptName] = _worker(each)
    return SnapshotMeasured.model_validate(
        {
            "start": start,
            "end": end,
            "missing": reading.missing,
            "queues": {
                name: SnapshotQueueMeasured(
                    id=id, hours=[SnapshotHour(hour=hour, **fields) for hour, fields in sorted(hours[id].items())]
                )
                for name, id in chosen.items()
            },
            "workers": {name: SnapshotWorkerMeasured(**fields) for name, fields in sorted(workers.items())},
        }
    )


class _Reading:
    """One reading: its window, and what could not be had."""

    def __init__(self, api: Api, start: dt.datetime, end: dt.datetime, told: Told) -> None:
        self._api, self._start, self._end, self._told = api, start, end, told
        self.missing: dict[str, str] = {}

    async def rows(self, name: str, variable: str, asked: list[str], a_query: int, kind: type[_Row]) -> list[_Row]:
        """All rows of a query about so many at a time."""
        found: list[_Row] = []
        for at in range(0, len(asked), a_query):
            self._told(f"analytics: {name}", at, len(asked))
            some = asked[at : at + a_query]
            variables = {"start": moment(self._start), "end": moment(self._end), variable: some}
            try:
                plain = await self._api.query(document(name), variables, data_set(name))
            except NotMeasured as error:
                self.missing[name] = str(error)
                return []
            if len(plain) > limits.ANALYTICS_ROWS:
                raise TooManyRows(self._api.host, data_set(name), limits.ANALYTICS_ROWS)
            found += read_as(list[kind], plain, self._api.host, data_set(name))  # type: ignore[valid-type]
        return found

    def into(self, hours: dict[str, dict[int, dict[str, Any]]], name: str, row: _QueueRow) -> None:
        """Put a row where it belongs."""
        of = row.dimensions
        number, rest = divmod((of.datetimeHour - self._start).total_seconds(), HOUR_SECONDS)
        if of.queueId not in hours:
            raise AnotherShape(self._api.host, f"{data_set(name)}: dimensions.queueId", "a queue that was not asked for")
        if rest or not self._start <= of.datetimeHour < self._end:
            raise AnotherShape(self._api.host, f"{data_set(name)}: dimensions.datetimeHour", "no hour of the window")
        fields = hours[of.queueId].setdefault(int(number), {})
        if name == BACKLOG:
            new = {"backlog_messages": row.avg.messages, "backlog_bytes": row.avg.bytes}
        elif name == CONCURRENCY:
            new = {"concurrency": row.avg.concurrency}
        else:
            new = _operations(fields, row)
        fields |= {key: value for key, value in new.items() if value is not None}


def _operations(before: dict[str, Any], row: _QueueRow) -> dict[str, Any]:
    """An hour's fields with one more group of its operations."""
    count, of = row.count, row.dimensions
    new: dict[str, Any] = {"operations": before.get("operations", 0) + (row.sum.billableOperations or 0)}
    if of.actionType == "WriteMessage":
        new["written"] = before.get("written", 0) + count
        new["bytes_written"] = before.get("bytes_written", 0) + (row.sum.bytes or 0)
        new["largest_bytes"] = max(before.get("largest_bytes", 0), row.max.messageSize or 0) or None
    elif of.actionType == "ReadMessage":
        new["lag_ms"] = _weighed(before.get("lag_ms"), before.get("delivered", 0), row.avg.lagTime, count)
        new["delivered"] = before.get("delivered", 0) + count
    elif of.actionType == "DeleteMessage":
        name = {"success": "succeeded", "dlq": "dead_lettered"}.get(of.outcome or "", "failed")
        left = sum(before.get(key, 0) for key in ("succeeded", "dead_lettered", "failed"))
        new["retries"] = _weighed(before.get("retries"), left, row.avg.retryCount, count)
        new[name] = before.get(name, 0) + count
    return new


def _weighed(before: float | None, weight: int, value: float | None, count: int) -> float | None:
    """An average of what was known and of what is added."""
    if value is None or not count:
        return before
    return value if before is None or not weight else (before * weight + value * count) / (weight + count)


def _worker(row: _WorkerRow) -> dict[str, Any]:
    return {
        "requests": row.sum.requests,
        "errors": row.sum.errors,
        "wall_us": row.sum.wallTime,
        "cpu_us": row.sum.cpuTimeUs,
        "wall_us_max": row.max.wallTime,
        "cpu_us_max": row.max.cpuTime,
        "wall_us_p50": row.quantiles.wallTimeP50,
        "wall_us_p99": row.quantiles.wallTimeP99,
        "cpu_us_p50": row.quantiles.cpuTimeP50,
        "cpu_us_p99": row.quantiles.cpuTimeP99,
    }
