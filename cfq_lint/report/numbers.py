"""Each number that was measured: how it was reckoned, and the query that gives its rows."""

from __future__ import annotations

import json

from cfq_lint.drawing.lines import printable
from cfq_lint.facts.quantities import number
from cfq_lint.model.kept_promises import (
    NEAR_PERCENT,
    concurrency,
    full_hours,
    late_hours,
    promised_seconds,
    pushed,
    taken_at_once,
)
from cfq_lint.model.measured import (
    BACKLOG,
    CONCURRENCY,
    INVOCATIONS,
    OPERATIONS,
    QUERIES,
    Figure,
    document,
    figures,
    moment,
    operations_by_day,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts, QueueFacts
    from cfq_lint.model.measured import Measured, QueueMeasured

_WORKER = {
    "requests": ("invocations", "sum{requests}"),
    "errors": ("invocations", "sum{errors}"),
    "wall_us": ("us", "sum{wallTime}"),
    "cpu_us": ("us", "sum{cpuTimeUs}"),
    "wall_us_max": ("us", "max{wallTime}"),
    "cpu_us_max": ("us", "max{cpuTime}"),
    "wall_us_p50": ("us", "quantiles{wallTimeP50}"),
    "wall_us_p99": ("us", "quantiles{wallTimeP99}"),
    "cpu_us_p50": ("us", "quantiles{cpuTimeP50}"),
    "cpu_us_p99": ("us", "quantiles{cpuTimeP99}"),
}


def explained(facts: Facts, measured: Measured) -> str:
    """A line for each number, and the queries with their variables, so that anybody can ask again."""
    lines = [f"numbers measured in {measured.window}:"]
    for queue, hours in measured.queues.items():
        known = [*figures(measured, queue).values(), *_counted_hours(measured, hours, facts.queues.get(queue))]
        lines += [
            f"  {printable(queue)}: {each.name} = {number(each.value)} {each.unit}: {each.how} [{each.query}]" for each in known
        ]
    for day, operations in operations_by_day(measured).items():
        how = "sum{billableOperations} of all these queues"
        lines.append(f"  {day}: operations = {operations:,} operations: {how} [{OPERATIONS}]")
    for script, worker in measured.workers.items():
        for name, (unit, how) in _WORKER.items():
            value = getattr(worker, name)
            if value is not None:
                lines.append(f"  {printable(script)}: {name} = {number(value)} {unit}: {how} [{INVOCATIONS}]")
    for name in QUERIES:
        asked = list(measured.workers) if name == INVOCATIONS else [each.id for each in measured.queues.values()]
        variables = {
            "accountTag": "the account id",
            "start": moment(measured.start),
            "end": moment(measured.end),
            "scripts" if name == INVOCATIONS else "queueIds": asked,
        }
        why = measured.missing.get(name)
        lines += ["", f"[{name}]" + (f" could not be read: {why}" if why else "")]
        lines += [document(name), f"variables: {json.dumps(variables)}"]
    names = ", ".join(f"{each.id} is {printable(queue)}" for queue, each in measured.queues.items())
    return "\n".join([*lines, "", f"queues: {names or 'none'}"]) + "\n"


def _counted_hours(measured: Measured, known: QueueMeasured, facts: QueueFacts | None) -> Iterator[Figure]:
    """How many hours were late or full, with the hours and what was measured in them."""
    consumer = None if facts is None else pushed(facts)
    if facts is None or consumer is None:
        return
    if late := late_hours(known, facts):
        most = number(promised_seconds(facts, consumer))
        each = ", ".join(f"{measured.at(hour.number)} ({number(hour.lag_ms or 0)} ms)" for hour in late)
        yield Figure("late_hours", len(late), "hours", f"avg{{lagTime}} above the settings' {most} s: {each}", OPERATIONS)
    if full := full_hours(known, facts):
        least = number(concurrency(consumer) * NEAR_PERCENT / 100)
        each = ", ".join(
            f"{measured.at(hour.number)} ({number(hour.concurrency or 0)}; {number(hour.backlog_messages or 0)} messages)"
            for hour in full
        )
        how = f"avg{{concurrency}} from {least} on, avg{{messages}} up by more than {taken_at_once(consumer):,}: {each}"
        yield Figure("full_hours", len(full), "hours", how, f"{CONCURRENCY}, {BACKLOG}")
