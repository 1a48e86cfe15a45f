"""Shards of the search: a schedule with everything that deviates from it once more, or some random ones.

What a shard finds depends on nothing but the world and the shard: on one core and on many machines it is the same.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from emulator.engine.clock import real_seconds
from emulator.engine.ids import Stream, stream
from emulator.explore.rewrite import reached
from emulator.explore.schedule import REORDERINGS, Deviations, Schedule

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulator.explore.world import World

_RATES = (0.02, 0.05, 0.15, 0.4)
_RANKS = {
    "crashes_at_call": 0, "crashes_at_await": 0, "crashes_at_end": 0, "lost_answers": 1, "failed_calls": 1, "cut_off": 2,
    "crashes": 3, "duplicates": 3, "overlaps": 5, "producer": 5,
}  # fmt: skip
_RANK = 4
"""What people find the likeliest is tried first."""
_CHANGES = 3
"""How often in a run the preferences of its orders change."""
_LOOK_EVERY = 16


class Shard(NamedTuple):
    """`prefix` and all that deviates from it once more; or, with `randoms`, so many random schedules from number `first`."""

    prefix: Deviations
    max_faults: int
    first: int = 0
    randoms: int = 0
    seed: int = 0
    known: tuple[tuple[str, int], ...] = ()


class Result(NamedTuple):
    """How many schedules a shard had, its first failure, the alternatives tried by kind, and those that reached new code."""

    schedules: int
    failure: Deviations | None
    tried: dict[str, int]
    hot: list[tuple[Deviations, list[tuple[str, int]]]]


def search(world: World, shard: Shard, look: Callable[[int], bool] = lambda _more: False) -> Result:
    """Run a shard up to its first failure. `look` is told now and then how many more there were; true ends it."""
    reached.begin(shard.known)
    done, told, tried, hot = 0, 0, Counter[str](), list[tuple[Deviations, list[tuple[str, int]]]]()
    failure: Deviations | None = None
    for schedule, label in _schedules(world, shard):
        run = world.run(schedule)
        done += 1
        if label:
            tried[label] += 1
        else:
            tried.update({name: count for name, count in run.schedule.drawn.items() if count})
        fresh = reached.take()
        if fresh:
            hot.append((schedule.deviations, fresh))
        if run.error is not None:
            failure = schedule.deviations
            break
        if done - told >= _LOOK_EVERY:
            if look(done - told):
                break
            told = done
    look(done - told)
    return Result(done, failure, dict(tried), hot)


def _schedules(world: World, shard: Shard) -> Iterator[tuple[Schedule, str]]:
    if shard.randoms:
        for number in range(shard.first, shard.first + shard.randoms):
            yield Schedule(draw=_Random(stream(str(shard.seed), number), shard.max_faults)), ""
        return
    found = sorted(deviations_after(world, shard.prefix), key=lambda each: _RANKS.get(each[1], _RANK))
    for deviation, label in found:
        yield Schedule((*shard.prefix, deviation)), label


def deviations_after(world: World, prefix: Deviations) -> Iterator[tuple[tuple[int, int], str]]:
    """What a schedule may still deviate in, behind its last deviation; it is run once to learn that."""
    points = world.run(Schedule(prefix)).schedule.points
    last = prefix[-1][0] if prefix else None
    start = 0 if last is None else 1 + next((at for at, point in enumerate(points) if point[0] == last), len(points))
    for number, n, label in points[start:]:
        for value in range(1, n):
            yield (number, value), label


class _Random:
    """Random courses: every run has rates and kinds of faults of its own (a swarm), never more than `max_faults` of them.

    In every other run orders follow preferences that change a few times in a run, so that one goes first for a long while
    (PCT: Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010).
    """

    def __init__(self, drawn: Stream, max_faults: int) -> None:
        self._drawn, self._left = drawn, max_faults
        self._rate, self._prefers = drawn.choice(_RATES), drawn.random() < 0.5  # noqa: PLR2004 - every other run
        self._kinds: dict[str, bool] = {}
        self._preferences: dict[str, float] = {}

    def __call__(self, n: int, label: str) -> int:
        """An alternative of n."""
        drawn = self._drawn
        if label not in self._kinds:
            self._kinds[label], self._preferences[label] = drawn.random() < 0.5, drawn.random()  # noqa: PLR2004 - half of them
        if label in REORDERINGS:
            if self._prefers:
                if drawn.random() < _CHANGES / 100:
                    self._preferences[label] = drawn.random()
                return int(self._preferences[label] * n)
            return drawn.randrange(n) if self._kinds[label] and drawn.random() < self._rate else 0
        if not self._left or not self._kinds[label] or drawn.random() >= self._rate:
            return 0
        self._left -= 1
        return drawn.randrange(1, n)


class Watch:
    """Counts schedules, tells of them, and says when the time is over."""

    def __init__(self, seconds: float | None, tell: Callable[[int, float], None] | None) -> None:
        self.began, self.schedules = real_seconds(), 0
        self._seconds, self._tell = seconds, tell

    def __call__(self, more: int) -> bool:
        """So many more schedules are done; whether the time is over."""
        self.schedules += more
        if self._tell is not None:
            self._tell(self.schedules, self.elapsed)
        return self.over

    @property
    def elapsed(self) -> float:
        """Seconds so far."""
        return real_seconds() - self.began

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self._seconds is not None and self.elapsed >= self._seconds
