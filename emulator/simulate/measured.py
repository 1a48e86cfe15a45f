"""A load that an account has had: messages by the hour, sizes, failures and times, from what `cfq-lint audit` read of it.

An hour's messages come evenly. An hour in which much was delivered and nothing succeeded is an outage; in all other hours
together the same share of deliveries fails.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from cfq_lint.facts.errors import WrongSettings
from cfq_lint.model.facts_file import load as read
from cfq_lint.model.measured import HOUR_SECONDS, OPERATIONS, average_seconds, figures
from emulator.core.limits import SECOND_US
from emulator.simulate.scenario import Load, Seen, Traffic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cfq_lint.model.measured import Hour, Measured, QueueMeasured
    from emulator.simulate.scenario import Scenario

_HOUR_US = HOUR_SECONDS * SECOND_US
_OUTAGE_DELIVERIES = 10
"""With fewer in an hour, one message that always fails would be an outage."""


def measured_in(path: str) -> Measured:
    """What a file of `cfq-lint audit --write-facts` holds of it. Raises ValueError."""
    try:
        found = read(path).measured
    except WrongSettings as error:
        raise ValueError(str(error)) from None
    if found is None:
        message = f"{path} holds nothing that was measured: write it with cfq-lint audit --analytics --write-facts {path}"
        raise ValueError(message)
    if OPERATIONS in found.missing:
        message = f"{path}: messages were not counted: {found.missing[OPERATIONS]}"
        raise ValueError(message)
    return found


def as_measured(scenario: Scenario, measured: Measured, script: str) -> Scenario:
    """The scenario with the account's traffic in the place of its load. Raises ValueError where none of its queues had any."""
    worker = measured.workers.get(script)
    seconds = None if worker is None else average_seconds(worker)
    processing_us = None if seconds is None else round(seconds * SECOND_US)
    queues = []
    for queue in scenario.queues:
        known = measured.queues.get(queue.name)
        traffic = None if known is None else _traffic(measured, known, queue.name, processing_us, scenario.load.size_bytes)
        queues.append(queue._replace(traffic=traffic, loaded=queue.loaded and traffic is not None))
    made = scenario._replace(load=scenario.load._replace(duration_us=measured.seconds * SECOND_US), queues=tuple(queues))
    total = made.messages
    if not total:
        message = f"{scenario.label}: nothing was written to its queues in {measured.window}"
        raise ValueError(message)
    return made._replace(load=_together(made, total))


def _together(scenario: Scenario, total: int) -> Load:
    """The load that says of all queues what each one's traffic says of it."""
    known = [queue.traffic for queue in scenario.queues if queue.loaded and queue.traffic is not None]
    delivered = sum(each.seen.delivered for each in known)
    failed = sum(each.failure * each.seen.delivered for each in known)
    size = sum(each.size_bytes * each.seen.sent for each in known)
    load = scenario.load
    return load._replace(
        rate=Fraction(total * SECOND_US, load.duration_us * len(known)),
        failure=failed / delivered if delivered else 0.0,
        size_bytes=round(size / total),
        processing_us=next((each.processing_us for each in known if each.processing_us is not None), load.processing_us),
    )


def _traffic(measured: Measured, known: QueueMeasured, name: str, processing_us: int | None, size_bytes: int) -> Traffic:
    hours = known.hours
    dark = {each.number for each in hours if (each.delivered or 0) >= _OUTAGE_DELIVERIES and not each.succeeded}
    numbers = {key: figure.value for key, figure in figures(measured, name).items()}
    return Traffic(
        lots=tuple((each.number * _HOUR_US, (each.number + 1) * _HOUR_US, each.written) for each in hours if each.written),
        failure=_failure(each for each in hours if each.number not in dark),
        outages=tuple(_spans(dark)),
        size_bytes=round(numbers.get("average_message", size_bytes)),
        seen=Seen(
            window=measured.window,
            sent=known.total("written"),
            delivered=known.total("delivered"),
            acked=known.total("succeeded"),
            dead_lettered=known.total("dead_lettered"),
            dropped=known.total("failed"),
            operations=known.total("operations"),
            backlog_max=numbers.get("largest_backlog"),
        ),
        processing_us=processing_us,
    )


def _failure(hours: Iterable[Hour]) -> float:
    delivered = succeeded = 0
    for each in hours:
        delivered += each.delivered or 0
        succeeded += each.succeeded or 0
    return min(1.0, max(0.0, 1 - succeeded / delivered)) if delivered else 0.0


def _spans(numbers: set[int]) -> Iterator[tuple[int, int]]:
    """Hours that follow each other, as one time."""
    for number in sorted(numbers):
        if number - 1 not in numbers:
            last = number
            while last + 1 in numbers:
                last += 1
            yield number * _HOUR_US, (last + 1) * _HOUR_US
