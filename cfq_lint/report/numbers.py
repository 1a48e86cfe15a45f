"""Each number that was measured: how it was reckoned, and the query that gives its rows."""

from __future__ import annotations

import json

from cfq_lint.drawing.lines import printable
from cfq_lint.facts.quantities import number
from cfq_lint.model.measured import INVOCATIONS, OPERATIONS, QUERIES, document, figures, moment, operations_by_day

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.measured import Measured

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


def explained(measured: Measured) -> str:
    """A line for each number, and the queries with their variables, so that anybody can ask again."""
    lines = [f"numbers measured in {measured.window}:"]
    for queue in measured.queues:
        lines += [
            f"  {printable(queue)}: {each.name} = {number(each.value)} {each.unit}: {each.how} [{each.query}]"
            for each in figures(measured, queue).values()
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
