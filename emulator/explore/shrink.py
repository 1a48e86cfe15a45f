"""Shrinking: a schedule that breaks becomes the shortest of its kind: fewer deviations, and smaller ones."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from emulator.explore.schedule import Schedule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.explore.schedule import Deviations
    from emulator.explore.world import World

_RUNS_MAX = 2_000


def shrunk(world: World, deviations: Deviations, error: BaseException) -> tuple[Deviations, BaseException]:
    """The shortest schedule that was found from there, and what breaks under it: an error of the same kind."""
    runs, better = 0, True
    while better and runs < _RUNS_MAX:
        better = False
        for candidate in _shorter(deviations):
            runs += 1
            run = world.run(Schedule(candidate))
            if type(run.error) is type(error) and run.error is not None and _size(run.schedule.deviations) < _size(deviations):
                deviations, error, better = run.schedule.deviations, run.error, True
                break
            if runs >= _RUNS_MAX:
                break
    return deviations, error


def _size(deviations: Deviations) -> tuple[int, int]:
    return len(deviations), sum(value for _, value in deviations)


def _shorter(deviations: Deviations) -> Iterator[Deviations]:
    """Fewer deviations first, the shortest before all; then each of them smaller."""
    for length in range(1, min(3, len(deviations))):
        yield from combinations(deviations, length)
    for place in range(len(deviations)):
        yield (*deviations[:place], *deviations[place + 1 :])
    for place, (number, value) in enumerate(deviations):
        for smaller in range(1, value):
            yield (*deviations[:place], (number, smaller), *deviations[place + 1 :])
