"""The check that a run by count carries with it: a slice of the same load, on the emulator and by count, laid side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cfq_lint.facts import limits
from emulator.core.limits import SECOND_US
from emulator.simulate.output.report import TOTALS

if TYPE_CHECKING:
    from emulator.simulate.scenario import Scenario, Setting
    from emulator.simulate.tally import Tally

SLICE_MESSAGES = 40_000


def slice_of(scenario: Scenario, length_us: int | None = None) -> Scenario:
    """The same load for a shorter time, with outages, delays and a short retention shortened in proportion.

    So an outage, what comes back of it late, and the recovery are all in it.
    """
    load = scenario.load
    if length_us is None:
        most = max(scenario.source(queue).total for queue in scenario.queues if queue.loaded)
        length_us = max(SECOND_US, SLICE_MESSAGES * load.duration_us // max(1, most))
    length_us = min(length_us, load.duration_us)
    outages = _parts(load.outages, length_us, load.duration_us)
    queues = tuple(_shortened(queue, length_us, load.duration_us) for queue in scenario.queues)
    return scenario._replace(load=load._replace(duration_us=length_us, outages=outages), queues=queues)


def _shortened(queue: Setting, length_us: int, whole_us: int) -> Setting:
    """A queue whose times are those of a slice; none becomes nothing."""

    def part(seconds: int, least: int) -> int:
        return max(min(seconds, least), round(seconds * length_us / whole_us))

    retention = queue.message_retention_period
    if retention * SECOND_US <= whole_us:
        retention = part(retention, limits.RETENTION_SECONDS_MIN)
    consumer = queue.consumer
    if consumer is not None:
        consumer = consumer._replace(retry_delay=part(consumer.retry_delay, 1))
    delay, traffic = part(queue.delivery_delay, 1), queue.traffic
    if traffic is not None:
        lots = [(start, end, round(count * length_us / whole_us)) for start, end, count in traffic.lots]
        shorter = ((start * length_us // whole_us, end * length_us // whole_us, count) for start, end, count in lots if count)
        traffic = traffic._replace(lots=tuple(shorter), outages=_parts(traffic.outages, length_us, whole_us))
    return queue._replace(consumer=consumer, delivery_delay=delay, message_retention_period=retention, traffic=traffic)


def _parts(outages: tuple[tuple[int, int], ...], length_us: int, whole_us: int) -> tuple[tuple[int, int], ...]:
    """Outages at their place in a slice; one that is too short for it is left out."""
    scaled = ((start * length_us // whole_us, end * length_us // whole_us) for start, end in outages)
    return tuple((start, end) for start, end in scaled if start < end)


def differences(scenario: Scenario, exact: list[Tally], counted: list[Tally]) -> dict[str, Any]:
    """Every total of the slice twice: on the emulator, and by count."""
    rows = []
    for one, other in zip(exact, counted, strict=True):
        for name in TOTALS:
            values = getattr(one, name), getattr(other, name)
            if any(values):
                rows.append({"queue": one.name, "total": name, "exact": values[0], "batched": values[1]})
    return {
        "slice_seconds": scenario.load.duration_us / SECOND_US,
        "outages": len({outage for queue in scenario.queues for outage in scenario.outages(queue)}),
        "recovered": sum(watch.recovered_us is not None for tally in exact for watch in tally.watches),
        "largest_difference": round(max(abs(row["batched"] - row["exact"]) / max(1, row["exact"]) for row in rows), 6),
        "totals": rows,
    }
