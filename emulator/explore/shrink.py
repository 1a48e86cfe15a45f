"""Shrinking: a schedule that breaks becomes the shortest of its kind: fewer deviations, fewer messages, shorter delays."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from emulator.explore.schedule import Replay, Schedule
from emulator.explore.world import SetupFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulator.explore.schedule import Deviations
    from emulator.explore.world import Run, World

_RUNS_MAX = 2_000
_PLACES_MAX = 200
"""So many places are tried for the deviations of a schedule that has lost messages."""


def shrunk(
    world: World, replay: Replay, error: BaseException, tell: Callable[[Replay], None] = lambda _replay: None
) -> tuple[Replay, BaseException]:
    """The shortest schedule that was found from there, and what breaks under it: the same failure. `tell` hears of each."""
    shrinking = _Shrinking(world, replay, error, tell)
    tell(replay)
    shrinking.fewer_deviations()
    shrinking.fewer_messages()
    shrinking.fewer_deviations()
    return shrinking.replay, shrinking.error


class _Shrinking:
    """`replay` is the shortest so far, `error` is what breaks under it."""

    def __init__(self, world: World, replay: Replay, error: BaseException, tell: Callable[[Replay], None]) -> None:
        self._world, self.replay, self.error, self._tell = world, replay, error, tell
        self._runs = 0

    def fewer_deviations(self) -> None:
        """Leave out deviations, and make each of them smaller: an alternative with a lower number is a shorter delay."""
        better = True
        while better and self._runs < _RUNS_MAX:
            better = False
            for candidate in _shorter(self.replay.deviations):
                run = self._run(Replay(candidate, self.replay.without))
                if run is not None and self._is_same(run) and _size(run.schedule.deviations) < _size(self.replay.deviations):
                    self._take(run)
                    better = True
                    break
                if self._runs >= _RUNS_MAX:
                    break

    def fewer_messages(self) -> None:
        """Leave out what the setup sends: half of it at once, then less, at last one by one, the latest first. One stays."""
        run = self._run(self.replay)
        sent = 0 if run is None else run.schedule.sent
        left = [number for number in range(1, sent + 1) if number not in self.replay.without]
        size = len(left) // 2
        while size and self._runs < _RUNS_MAX:
            for end in range(len(left), 0, -size):
                chunk = left[max(0, end - size) : end]
                if len(chunk) < len(left) and self._without(chunk):
                    left = [number for number in left if number not in chunk]
            size = min(size // 2, len(left))

    def _without(self, numbers: list[int]) -> bool:
        """Leave these messages out, if the same breaks then, and breaks by the deviations alone."""
        without = tuple(sorted((*self.replay.without, *numbers)))
        if self.replay.deviations:
            ordinary = self._run(Replay((), without))
            if ordinary is None or ordinary.error is not None:
                return False  # it expects what is left out
        found = self._placed(without)
        if found is None:
            return False
        self._take(found)
        return True

    def _take(self, run: Run) -> None:
        """What is shorter."""
        self.replay = Replay(run.schedule.deviations, tuple(sorted(run.schedule.without)))
        self.error = run.error or self.error
        self._tell(self.replay)

    def _placed(self, without: tuple[int, ...]) -> Run | None:
        """A run without these messages in which the same deviations break the same: at the same choices, or at others."""
        before = self._run(self.replay)
        again = self._run(Replay(self.replay.deviations, without))
        if before is None or again is None:
            return None
        taken = _taken(before.schedule)
        if self._is_same(again) and _taken(again.schedule) == taken:
            return again
        most = self._runs + _PLACES_MAX

        def placed(done: Deviations, rest: list[tuple[str, int]]) -> Run | None:
            run = self._run(Replay(done, without)) if self._runs < most else None
            if run is None or not rest:
                return run if run is not None and self._is_same(run) and run.schedule.deviations == done else None
            (label, value), *others = rest
            behind = len(run.schedule.points) if done else 0
            if done:
                behind = 1 + next((at for at, point in enumerate(run.schedule.points) if point[0] == done[-1][0]), behind)
            for number, n, kind in run.schedule.points[behind:]:
                if kind == label and value < n and (found := placed((*done, (number, value)), others)) is not None:
                    return found
            return None

        return placed((), taken) if taken else None

    def _run(self, replay: Replay) -> Run | None:
        """None where the world cannot be made so."""
        self._runs += 1
        try:
            return self._world.run(replay.schedule())
        except SetupFailed:
            return None

    def _is_same(self, run: Run) -> bool:
        """Whether the same breaks: an error of the same type, raised at the same place; without any deviation the same text."""
        error = run.error
        if error is None or type(error) is not type(self.error) or _place(error) != _place(self.error):
            return False
        return bool(self.replay.deviations) or str(error) == str(self.error)


def _taken(schedule: Schedule) -> list[tuple[str, int]]:
    """The deviations by their kinds."""
    labels = {number: label for number, _, label in schedule.points}
    return [(labels[number], value) for number, value in schedule.deviations]


def _place(error: BaseException) -> tuple[str, int] | None:
    """Where an error was raised: file and line."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return None if trace is None else (trace.tb_frame.f_code.co_filename, trace.tb_lineno)


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
