"""The run by count: queue after queue, each as a `Line`, dead letters flowing from one to the next."""

from __future__ import annotations

from heapq import merge
from typing import TYPE_CHECKING

from cfq_lint.facts import limits
from emulator.core.limits import SECOND_US
from emulator.simulate.by_count.queue_run import Line
from emulator.simulate.sources import DeadLetters, Source, accepted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulator.simulate.scenario import Scenario, Setting
    from emulator.simulate.tally import Tally

_BATCHES = 5_000
"""Batches between two words about progress."""


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


def run(scenario: Scenario, progress: Callable[[int], None] | None = None) -> list[Tally]:
    """Run a scenario by count; a tally for each queue, in the scenario's order. `progress` hears of the moment reached.

    Raises Unfit.
    """
    load = scenario.load
    dead: dict[str, list[Iterator[tuple[int, int]]]] = {setting.name: [] for setting in scenario.queues}
    lines = {}
    for setting in order(scenario):
        refused = 0
        source: Source
        if setting.loaded:
            source, refused = accepted(scenario.source(setting), scenario.peak_rate(setting), load.duration_us)
        else:
            source = DeadLetters((at_us, at_us, count) for at_us, count in merge(*dead.pop(setting.name)))
        line = Line(scenario, setting, source, lifetime_us(setting))
        while line.run(_BATCHES):
            if progress is not None:
                progress(line.now_us)
        line.tally.refused = refused
        if setting.consumer is not None and setting.consumer.dead_letter_queue is not None:
            dead[setting.consumer.dead_letter_queue].append(zip(line.dead[::2], line.dead[1::2], strict=True))
        lines[setting.name] = line
    end_us = max(line.idle_us for line in lines.values())
    for line in lines.values():
        line.finish(end_us)
    return [lines[setting.name].tally for setting in scenario.queues]
