"""The data sets: rows of the figures, grouped by the dimensions that are asked for, with the fields that each has."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.engine.clock import moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from emulator.server.analytics.figures import Figures

Row = tuple[dict[str, Any], dict[str, Any]]
"""Dimensions, and what is added up."""


class DataSet(NamedTuple):
    """`rows` are as fine as can be asked for; `fields` make what is shown of several rows that are one group."""

    dimensions: tuple[str, ...]
    fields: Mapping[str, Callable[[Sequence[dict[str, Any]]], Any]]
    rows: Callable[[Figures, Mapping[str, str], Mapping[str, str]], Iterable[Row]]


def grouped(rows: Iterable[Row], dimensions: Sequence[str]) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Rows that are alike in the dimensions together."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = defaultdict(list)
    for own, parts in rows:
        groups[tuple(own[name] for name in dimensions)].append(parts)
    return [(dict(zip(dimensions, key, strict=True)), parts) for key, parts in groups.items()]


def _sum(name: str) -> Callable[[Sequence[dict[str, Any]]], Any]:
    return lambda parts: sum(part[name] for part in parts)


def _max(name: str) -> Callable[[Sequence[dict[str, Any]]], Any]:
    return lambda parts: max(part[name] for part in parts)


def _mean(name: str, weight: str) -> Callable[[Sequence[dict[str, Any]]], Any]:
    return lambda parts: sum(part[name] for part in parts) / (sum(part[weight] for part in parts) or 1)


def _quantile(name: str, share: float) -> Callable[[Sequence[dict[str, Any]]], Any]:
    def of(parts: Sequence[dict[str, Any]]) -> Any:
        values = sorted(part[name] for part in parts)
        return values[min(len(values) - 1, int(len(values) * share))]

    return of


def _times(at_us: int) -> dict[str, str]:
    text = moment(at_us).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"datetimeHour": text, "date": text[:10]}


def _operations(figures: Figures, ids: Mapping[str, str], _scripts: Mapping[str, str]) -> Iterable[Row]:
    for (queue, hour_us, action, outcome), each in figures.operations.items():
        if queue in ids:
            own = {"queueId": ids[queue], "actionType": action, "outcome": outcome, **_times(hour_us)}
            yield own, {name: getattr(each, name) for name in type(each).__slots__}


def _backlog(figures: Figures, ids: Mapping[str, str], _scripts: Mapping[str, str]) -> Iterable[Row]:
    for (queue, hour_us), (messages, size) in figures.backlog.items():
        if queue in ids:
            parts = {"messages": messages, "bytes": size, "elapsed": figures.elapsed_us(hour_us)}
            yield {"queueId": ids[queue], **_times(hour_us)}, parts


def _concurrency(figures: Figures, ids: Mapping[str, str], _scripts: Mapping[str, str]) -> Iterable[Row]:
    for (queue, hour_us), batches in figures.concurrency.items():
        if queue in ids:
            parts = {"batches": batches, "elapsed": figures.elapsed_us(hour_us)}
            yield {"queueId": ids[queue], **_times(hour_us)}, parts


def _invocations(figures: Figures, _ids: Mapping[str, str], scripts: Mapping[str, str]) -> Iterable[Row]:
    for each in figures.invocations:
        if scripts.get(each.queue):
            own = {"scriptName": scripts[each.queue], "status": "scriptThrewException" if each.failed else "success"}
            yield (
                {**own, **_times(each.at_us - each.at_us % 3_600_000_000)},
                {"wall_us": each.wall_us, "failed": int(each.failed)},
            )


_HOURS = ("datetimeHour", "date")
DATA_SETS: dict[str, DataSet] = {
    "queueMessageOperationsAdaptiveGroups": DataSet(
        ("queueId", "actionType", "outcome", *_HOURS),
        {
            "count": _sum("count"),
            "sum.billableOperations": _sum("billable"),
            "sum.bytes": _sum("bytes"),
            "avg.lagTime": _mean("lag_ms", "count"),
            "avg.retryCount": _mean("retries", "count"),
            "max.messageSize": _max("largest"),
        },
        _operations,
    ),
    "queueBacklogAdaptiveGroups": DataSet(
        ("queueId", *_HOURS), {"avg.messages": _mean("messages", "elapsed"), "avg.bytes": _mean("bytes", "elapsed")}, _backlog
    ),
    "queueConsumerMetricsAdaptiveGroups": DataSet(
        ("queueId", *_HOURS), {"avg.concurrency": _mean("batches", "elapsed")}, _concurrency
    ),
    "workersInvocationsAdaptive": DataSet(
        ("scriptName", "status", *_HOURS),
        {
            "sum.requests": len,
            "sum.errors": _sum("failed"),
            "sum.wallTime": _sum("wall_us"),
            "max.wallTime": _max("wall_us"),
            "quantiles.wallTimeP50": _quantile("wall_us", 0.5),
            "quantiles.wallTimeP99": _quantile("wall_us", 0.99),
            # CPU time is real time, which virtual time knows nothing of: there is none to tell.
            "sum.cpuTimeUs": lambda _parts: None,
            "max.cpuTime": lambda _parts: None,
            "quantiles.cpuTimeP50": lambda _parts: None,
            "quantiles.cpuTimeP99": lambda _parts: None,
        },
        _invocations,
    ),
}
