"""The run by count: queue after queue, each as a `Line`, dead letters flowing from one to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cfq_lint import limits
from emulator.core.limits import SECOND_US
from emulator.simulation.line import Line
from emulator.simulation.sources import DeadLetters, Source, producer

if TYPE_CHECKING:
    from collections.abc import Callable

    from emulator.simulation.scenario import Scenario, Setting
    from emulator.simulation.tally import Tally

_BATCHES = 125
"""Batches between two looks at whether the queue runs steadily."""
_BATCHES_AT_ONCE = 25
"""The same where leaps are wanted from the start: in a slice that tests them."""


PLAIN_BATCHES = 50_000
"""So many batches of each queue are taken one by one before the first leap: a short run is exact."""


class Unfit(ValueError):  # noqa: N818 - what the scenario is
    """A scenario that only the exact run can take."""


def order(scenario: Scenario) -> list[Setting]:
    """The queues, each before its dead-letter queue. Raises Unfit for a circle, and for a queue with two kinds of arrivals."""
    ordered: list[Setting] = []
    waiting = list(scenario.queues)
    while waiting:
        fed_by = {queue.consumer.dead_letter_queue for queue in waiting if queue.consumer is not None}
        free = [queue for queue in waiting if queue.name not in fed_by]
        if not free:
            names = ", ".join(queue.name for queue in waiting)
            message = f"dead-letter queues form a circle ({names}): only the exact run can take that, see --method"
            raise Unfit(message)
        ordered += free
        waiting = [queue for queue in waiting if queue not in free]
    fed = {queue.consumer.dead_letter_queue for queue in scenario.queues if queue.consumer is not None}
    for queue in scenario.queues:
        if queue.loaded and queue.name in fed:
            message = f"{queue.name} is sent to and gets dead letters: only the exact run can take that, see --method"
            raise Unfit(message)
    return ordered


def lifetime_us(setting: Setting) -> int:
    """How long a message lives in the queue: its retention, and as a dead letter that nobody consumes at most 4 days."""
    seconds = setting.message_retention_period
    if setting.consumer is None and not setting.loaded:
        seconds = min(seconds, limits.DEAD_LETTER_UNCONSUMED_SECONDS)
    return seconds * SECOND_US


def run(scenario: Scenario, progress: Callable[[int], None] | None = None, *, plain: int | None = PLAIN_BATCHES) -> list[Tally]:
    """Run a scenario by count; a tally for each queue, in the scenario's order. `progress` hears of the moment reached.

    The first `plain` batches of each queue are taken one by one, None: all of them. Raises Unfit.
    """
    from emulator.simulation.leap import Leaper

    load = scenario.load
    dead: dict[str, list[tuple[int, int, int]]] = {setting.name: [] for setting in scenario.queues}
    lines = {}
    between = _BATCHES_AT_ONCE if plain == 0 else _BATCHES
    for setting in order(scenario):
        refused = 0
        source: Source
        if setting.loaded:
            source, refused = producer(load.rate, load.duration_us)
        else:
            source = DeadLetters(sorted(dead.pop(setting.name)))
        line = Line(scenario, setting, source, lifetime_us(setting))
        leaper = Leaper(line, plain) if plain is not None and setting.consumer is not None else None
        while line.run(between):
            if leaper is not None:
                leaper.look()
            if progress is not None:
                progress(line.now_us)
        line.tally.refused = refused
        if setting.consumer is not None and setting.consumer.dead_letter_queue is not None:
            dead[setting.consumer.dead_letter_queue] += line.dead
        lines[setting.name] = line
    end_us = max(line.idle_us for line in lines.values())
    for line in lines.values():
        line.finish(end_us)
    return [lines[setting.name].tally for setting in scenario.queues]
