"""Shards of the search: a schedule with everything that deviates from it once more, or some random ones.

What a shard finds depends on nothing but the world and the shard: on one core and on many machines it is the same.
"""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
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
_STATES_MAX = 20_000
"""So many states are remembered; those that come later are met anew."""


class Shard(NamedTuple):
    """`prefix` and each of `after` with it: (deviation, kind); with `randoms`, so many random schedules from number `first`.

    `spared` schedules need not be run, because what would follow was seen; `states` are new ones that were seen meanwhile.
    """

    prefix: Deviations
    max_faults: int
    after: tuple[tuple[tuple[int, int], str], ...] = ()
    spared: int = 0
    states: int = 0
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
    spared: int
    states: int


def search(world: World, shard: Shard, look: Callable[[int], bool] = lambda _more: False) -> Result:
    """Run a shard up to its first failure. `look` is told now and then how many more there were; true ends it."""
    reached.begin(shard.known)
    done, told, tried, hot = 0, 0, Counter[str](), list[tuple[Deviations, list[tuple[str, int]]]]()
    failure: Deviations | None = None
    for schedule, label in _schedules(shard):
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
    return Result(done, failure, dict(tried), hot, shard.spared, shard.states)


def _schedules(shard: Shard) -> Iterator[tuple[Schedule, str]]:
    if shard.randoms:
        for number in range(shard.first, shard.first + shard.randoms):
            yield Schedule(draw=_Random(stream(str(shard.seed), number), shard.max_faults)), ""
        return
    for deviation, label in sorted(shard.after, key=lambda each: _RANKS.get(each[1], _RANK)):
        yield Schedule((*shard.prefix, deviation)), label


class After(NamedTuple):
    """What a schedule may still deviate in, behind its last deviation; how much of it is `spared`; how many states are new."""

    deviations: tuple[tuple[tuple[int, int], str], ...]
    spared: int
    states: int


class Seen:
    """The states that were seen, and which schedule was there first: others that come there go on as that one does.

    A schedule is run once to learn what it may still deviate in. States count as the same where also the choices are that
    follow from them in the ordinary course, and its end. Schedules come with few deviations first, so that whoever was there
    first has as many left, and all of what it may still do is run as well.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._first: dict[bytes, int] = {}

    def after(self, prefix: Deviations) -> After:
        """What to try behind a schedule's last deviation."""
        run = self._world.run(Schedule(prefix), look=True).schedule
        points, new, end = run.points, 0, len(run.points)
        last = prefix[-1][0] if prefix else None
        start = 0 if last is None else 1 + next((at for at, point in enumerate(points) if point[0] == last), end)
        if run.states and run.states[-1][0] == end:
            ended = run.states[-1][1]
            for at, state in run.states:
                told = blake2b(state + ended + repr([point[1:] for point in points[at:]]).encode(), digest_size=16).digest()
                first = self._first.get(told)
                if first is None and len(self._first) < _STATES_MAX:
                    self._first[told] = hash(prefix)
                    new += 1
                elif first is not None and first != hash(prefix):
                    end = max(at, start)
                    break
        rows = [((number, value), label) for number, n, label in points[start:] for value in range(1, n)]
        kept = sum(n - 1 for _, n, _ in points[start:end])
        return After(tuple(rows[:kept]), len(rows) - kept, new)


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

    def __init__(self, seconds: float | None, tell: Callable[[int, float], None] | None = None) -> None:
        self.began, self.schedules = real_seconds(), 0
        self._seconds, self.tell = seconds, tell

    def __call__(self, more: int) -> bool:
        """So many more schedules are done; whether the time is over."""
        self.schedules += more
        if self.tell is not None:
            self.tell(self.schedules, self.elapsed)
        return self.over

    @property
    def elapsed(self) -> float:
        """Seconds so far."""
        return real_seconds() - self.began

    @property
    def over(self) -> bool:
        """Whether the time is over."""
        return self._seconds is not None and self.elapsed >= self._seconds
