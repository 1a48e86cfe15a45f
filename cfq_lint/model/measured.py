"""What the account measured of queues over a window, hour by hour, and the figures that reports take from it.

Each figure says how it was reckoned and from which query, so that every number of a report can be followed to where it is from.
Sums and counts are Cloudflare's, which samples: https://developers.cloudflare.com/queues/observability/metrics/.
"""

from __future__ import annotations

import datetime as dt

from cfq_lint.facts import limits
from cfq_lint.facts.durations import duration
from cfq_lint.facts.record import record

OPERATIONS, BACKLOG, CONCURRENCY, INVOCATIONS = "operations", "backlog", "concurrency", "invocations"
QUERIES = (OPERATIONS, BACKLOG, CONCURRENCY, INVOCATIONS)
HOUR_SECONDS, DAY_HOURS = 3_600, 24
_US_PER_SECOND = 1_000_000
_MS_PER_SECOND = 1_000


@record
class Hour:
    """One hour of a queue; None where there was no row for it.

    `number` counts from the window's start. Messages are counted: `written`, `delivered` (each retry once more), and by how
    they left: `succeeded`, `dead_lettered`, `failed`. `operations` are those billed. `lag_ms` is the deliveries' average age,
    `retries` how often the messages that left had been retried, on average. Backlog and concurrency are the hour's averages.
    """

    number: int
    written: int | None = None
    delivered: int | None = None
    succeeded: int | None = None
    dead_lettered: int | None = None
    failed: int | None = None
    operations: int | None = None
    bytes_written: int | None = None
    largest_bytes: int | None = None
    lag_ms: float | None = None
    retries: float | None = None
    backlog_messages: float | None = None
    backlog_bytes: float | None = None
    concurrency: float | None = None

    @property
    def left(self) -> int:
        """The messages that left the queue."""
        return (self.succeeded or 0) + (self.dead_lettered or 0) + (self.failed or 0)


@record
class QueueMeasured:
    """A queue by the hour, only hours with a row, in order; `id` is what queries name it by."""

    id: str
    hours: tuple[Hour, ...]

    def total(self, name: str, since: int = 0, until: int | None = None) -> int:
        """The sum of a count over the hours from `since` up to `until`."""
        return sum(getattr(each, name) or 0 for each in self.between(since, until))

    def between(self, since: int, until: int | None) -> list[Hour]:
        """The hours from `since` up to `until`."""
        return [each for each in self.hours if since <= each.number and (until is None or each.number < until)]

    def highest(self, name: str) -> tuple[float, int] | None:
        """The largest value of a field, with the first hour that has it; None where no hour has one."""
        known = [(float(value), -each.number) for each in self.hours if (value := getattr(each, name)) is not None]
        return (max(known)[0], -max(known)[1]) if known else None

    def last(self, name: str) -> float | None:
        """A field's value in the last hour that has one."""
        known = [float(value) for each in self.hours if (value := getattr(each, name)) is not None]
        return known[-1] if known else None


@record
class WorkerMeasured:
    """A Worker's invocations of all kinds over the window; times are microseconds. Events are not told apart."""

    requests: int | None = None
    errors: int | None = None
    wall_us: float | None = None
    cpu_us: float | None = None
    wall_us_max: float | None = None
    cpu_us_max: float | None = None
    wall_us_p50: float | None = None
    wall_us_p99: float | None = None
    cpu_us_p50: float | None = None
    cpu_us_p99: float | None = None


@record
class Measured:
    """All that was measured from `start` up to `end`. `missing` says by query why it could not be read."""

    start: dt.datetime
    end: dt.datetime
    missing: dict[str, str]
    queues: dict[str, QueueMeasured]
    workers: dict[str, WorkerMeasured]

    @property
    def seconds(self) -> int:
        """The window's length."""
        return int((self.end - self.start).total_seconds())

    @property
    def hours(self) -> int:
        """The window's length in hours."""
        return self.seconds // HOUR_SECONDS

    @property
    def window(self) -> str:
        """The window in words."""
        return f"{duration(self.seconds)} to {moment(self.end)}"

    def at(self, hour: int) -> str:
        """When an hour of the window began."""
        return moment(self.start + dt.timedelta(hours=hour))


@record
class Figure:
    """A number that a report shows: its value and unit, how it was reckoned, and the query that gave it."""

    name: str
    value: float
    unit: str
    how: str
    query: str


def moment(when: dt.datetime) -> str:
    """A moment as queries have it."""
    return when.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def figures(measured: Measured, queue: str) -> dict[str, Figure]:
    """The figures of a queue by name; those that nothing was read for are not there."""
    known = measured.queues.get(queue)
    if known is None:
        return {}
    found: list[Figure | None] = [
        _most(measured, known, "largest_bytes", "largest_message", "bytes", "max{messageSize} of WriteMessage", OPERATIONS),
        _most(measured, known, "lag_ms", "highest_lag", "ms", "avg{lagTime} of ReadMessage by hour", OPERATIONS),
        _most(measured, known, "backlog_messages", "largest_backlog", "messages", "avg{messages} by hour", BACKLOG),
        _most(measured, known, "concurrency", "highest_concurrency", "invocations", "avg{concurrency} by hour", CONCURRENCY),
    ]
    last = known.last("backlog_messages")
    if last is not None:
        found.append(Figure("backlog", last, "messages", "avg{messages} of the last hour that has one", BACKLOG))
    if OPERATIONS not in measured.missing:
        found += _counted(measured, known)
    return {each.name: each for each in found if each is not None}


def _most(measured: Measured, known: QueueMeasured, field: str, name: str, unit: str, what: str, query: str) -> Figure | None:  # noqa: PLR0917
    most = known.highest(field)
    return None if most is None else Figure(name, most[0], unit, f"the highest {what}, at {measured.at(most[1])}", query)


def _counted(measured: Measured, known: QueueMeasured) -> list[Figure]:
    groups = {
        "written": "count of WriteMessage",
        "delivered": "count of ReadMessage",
        "succeeded": "count of DeleteMessage with outcome success",
        "dead_lettered": "count of DeleteMessage with outcome dlq",
        "failed": "count of DeleteMessage with outcome fail",
        "operations": "sum{billableOperations}",
    }
    totals = {name: known.total(name) for name in groups}
    totals = {name: known.total(name) for name in groups}
    units = {"operations": "operations"}
    found = [
        Figure(name, float(totals[name]), units.get(name, "messages"), f"{what}, all hours together", OPERATIONS)
        for name, what in groups.items()
    ]
    busiest = known.highest("written")
    if busiest is not None:
        how = f"count of WriteMessage in the busiest hour, {measured.at(busiest[1])}, / {HOUR_SECONDS:,} s"
        found.append(Figure("busiest_hour_rate", busiest[0] / HOUR_SECONDS, "messages/s", how, OPERATIONS))
    found.append(
        Figure("rate", totals["written"] / measured.seconds, "messages/s", f"written / {measured.seconds:,} s", OPERATIONS)
    )
    size = known.total("bytes_written")
    if totals["written"] and size:
        found.append(
            Figure("average_message", size / totals["written"], "bytes", "sum{bytes} of WriteMessage / written", OPERATIONS)
        )
    retries = average_retries(known)
    if retries is not None:
        how = "avg{retryCount} of DeleteMessage, weighted by count"
        found.append(Figure("retries", retries, "retries a message", how, OPERATIONS))
    found += _of_the_last_day(measured, known)
    if totals["delivered"]:
        failing = min(1.0, max(0.0, 1 - totals["succeeded"] / totals["delivered"]))
        found.append(Figure("failure_share", failing, "of deliveries", "1 - succeeded / delivered", OPERATIONS))
    return found


def _of_the_last_day(measured: Measured, known: QueueMeasured) -> list[Figure]:
    """What the last 24 hours say apart from the days before."""
    since = max(0, measured.hours - DAY_HOURS)
    left = known.total("succeeded", since) + known.total("dead_lettered", since)
    how = f"count of DeleteMessage with outcome success or dlq, from {measured.at(since)}"
    found = [Figure("left_last_day", float(left), "messages", how, OPERATIONS)]
    for name, first, last in (("retries_before", 0, since), ("retries_last_day", since, measured.hours)):
        retries = average_retries(known, first, last)
        if retries is not None:
            how = f"avg{{retryCount}} of DeleteMessage, weighted by count, from {measured.at(first)} to {measured.at(last)}"
            found.append(Figure(name, retries, "retries a message", how, OPERATIONS))
    return found


def average_retries(known: QueueMeasured, since: int = 0, until: int | None = None) -> float | None:
    """How often the messages that left from hour `since` up to `until` had been retried on average; None where none left."""
    chosen = [each for each in known.between(since, until) if each.retries is not None and each.left]
    left = sum(each.left for each in chosen)
    return sum((each.retries or 0.0) * each.left for each in chosen) / left if left else None


def operations_by_day(measured: Measured) -> dict[str, int]:
    """Billed operations of all measured queues together by day of the calendar (UTC), as the Free plan counts them."""
    found: dict[str, int] = {}
    for known in measured.queues.values():
        for each in known.hours:
            day = measured.at(each.number)[:10]
            found[day] = found.get(day, 0) + (each.operations or 0)
    return found


def seconds_of(worker: WorkerMeasured, name: str) -> float | None:
    """A time of a Worker in seconds."""
    value = getattr(worker, name)
    return None if value is None else value / _US_PER_SECOND


def average_seconds(worker: WorkerMeasured) -> float | None:
    """The average wall time of an invocation."""
    if not worker.requests or worker.wall_us is None:
        return None
    return worker.wall_us / worker.requests / _US_PER_SECOND


def lag_seconds(lag_ms: float) -> float:
    """A lag as settings have theirs."""
    return lag_ms / _MS_PER_SECOND


def document(name: str) -> str:
    """The GraphQL query of that name, as it is sent."""
    scripts = name == INVOCATIONS
    chosen = "scriptName_in: $scripts" if scripts else "queueId_in: $queueIds"
    variable = "$scripts: [string!]!" if scripts else "$queueIds: [string!]!"
    order = "" if scripts else ", orderBy: [datetimeHour_ASC]"
    asked, fields, dimensions = _ASKED[name]
    return (
        f"query {name}($accountTag: string!, $start: Time!, $end: Time!, {variable}) {{\n"
        "  viewer { accounts(filter: {accountTag: $accountTag}) {\n"
        f"    {asked}(limit: {limits.ANALYTICS_ROWS}, filter: {{{chosen}, datetime_geq: $start, datetime_lt: $end}}"
        f"{order}) {{\n      {fields}\n      dimensions {{ {dimensions} }}\n    }}\n  }} }}\n}}"
    )


def data_set(name: str) -> str:
    """The data set that a query asks."""
    return _ASKED[name][0]


_QUANTILES = "wallTimeP50 wallTimeP99 cpuTimeP50 cpuTimeP99"
_ASKED = {
    OPERATIONS: (
        "queueMessageOperationsAdaptiveGroups",
        "count sum { billableOperations bytes } avg { lagTime retryCount } max { messageSize }",
        "queueId actionType outcome datetimeHour",
    ),
    BACKLOG: ("queueBacklogAdaptiveGroups", "avg { messages bytes }", "queueId datetimeHour"),
    CONCURRENCY: ("queueConsumerMetricsAdaptiveGroups", "avg { concurrency }", "queueId datetimeHour"),
    INVOCATIONS: (
        "workersInvocationsAdaptive",
        f"sum {{ requests errors wallTime cpuTimeUs }} max {{ wallTime cpuTime }} quantiles {{ {_QUANTILES} }}",
        "scriptName",
    ),
}
