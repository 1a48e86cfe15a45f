"""explore: all schedules with one deviation, then with two, and so on; where that is too much, random ones; then the shortest.

>>> def setup(emu):
...     charges = []
...     jobs = emu.create_queue("jobs")
...     emu.consume("jobs", lambda batch: charges.extend(message.body for message in batch.messages))
...     jobs.send("order-7")
...     return charges
>>> def once(charges):
...     assert len(charges) <= 1, f"charged {len(charges)} times"
>>> found = explore(setup, once)
>>> (found.replay, str(found.error))
('2:1', 'charged 2 times')
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any

from emulator.explore.found import Covered, Found, Nothing, Now
from emulator.explore.local import several
from emulator.explore.rewrite import reached, rewritten
from emulator.explore.schedule import Deviations, Replay, Schedule
from emulator.explore.shards import Result, Seen, Shard, Watch
from emulator.explore.shrink import shrunk
from emulator.explore.world import World, arity, few_collections

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emulator.explore.local import Runner

SCHEDULES_MAX = 20_000
_EXHAUSTIVE_SHARE = 0.7
"""Where all cannot be had, so much of the budget is spent on what comes first, and the rest on random schedules."""
_RANDOM_SHARD = 50


def explore(
    setup: Callable[..., Any],
    invariant: Callable[..., Any] | Iterable[Callable[..., Any]],
    max_faults: int = 2,
    replay: str | None = None,
    *,
    schedules: int = SCHEDULES_MAX,
    seconds: float | None = None,
    each_step: bool = False,
    seed: int = 0,
    workers: int = 1,
    scheduler: str | None = None,
    progress: Callable[..., None] | None = None,
    **options: Any,
) -> Found | Nothing:
    """Search for a schedule under which an invariant does not hold: every one of up to `max_faults` deviations, few first.

    `setup(emu)` makes queues, consumers, stores and sends, and returns what the invariant needs; without an argument it makes
    the emulator too. `invariant(emu, value)`, or several, raise at the end, with `each_step` also after every step. `replay`
    runs that one schedule alone. At most `schedules` are run, for at most `seconds`; `progress(schedules, seconds)` hears of
    both, and where it takes three, of how far the search has come (Now). `workers` processes share the work, or those of a
    Dask `scheduler` (tcp://…). `options` go to Emulator.

    Raises SetupFailed where the world cannot be made, ValueError and TypeError for arguments that do not fit.
    """
    if max_faults < 0 or schedules < 1 or workers < 1:
        raise ValueError("max_faults counts from 0, schedules and workers from 1")
    invariants = (invariant,) if callable(invariant) else tuple(invariant)
    if not invariants:
        raise ValueError("there is no invariant: nothing could break")
    with rewritten([setup, *invariants]), few_collections():
        world = World(setup, invariants, each_step=each_step, options=options)
        try:
            if replay is not None:
                return replayed(world, replay)
            with several(world, workers, scheduler) as runner:
                bounds = {"max_faults": max_faults, "schedules": schedules, "seed": seed}
                search = Search(world, runner, Watch(seconds), **bounds)
                search.watch.tell = progress
                if progress is not None and arity(progress) > 2:  # noqa: PLR2004 - see above
                    search.watch.tell = lambda done, took: progress(done, took, search.now(done, took))
                return search.run()
        finally:
            world.close()


def replayed(world: World, text: str) -> Found | Nothing:
    """One schedule alone. Raises ValueError where it does not fit the world."""
    replay = Replay.of(text)
    run = world.run(replay.schedule())
    if run.schedule.deviations != replay.deviations or run.schedule.sent < max(replay.without, default=0):
        points, sent = len(run.schedule.points), run.schedule.sent
        message = f"replay {text!r} does not fit: that way has {points} choices, and {sent} messages are sent; search again"
        raise ValueError(message)
    covered = Covered(1, 0, len(replay.deviations), {}, {}, 0.0)
    return Nothing(covered, exhaustive=False) if run.error is None else Found(world, replay, run.error, covered)


class Search:
    """One search. `covered()` may be asked at any time."""

    def __init__(self, world: World, runner: Runner, watch: Watch, *, max_faults: int, schedules: int, seed: int = 0) -> None:
        self.world, self.runner, self.watch = world, runner, watch
        self.max_faults, self.schedules, self.seed = max_faults, schedules, seed
        self.done = 0
        self.complete = -1
        self.random = self.spared = self.states = 0
        self.depth = 0
        self.best: str | None = None
        self.seen = Seen(world)
        self.tried: Counter[str] = Counter()
        self.kinds: dict[str, int] = {}
        self._known: tuple[tuple[str, int], ...] = ()
        self._hot: list[Deviations] = []

    def run(self) -> Found | Nothing:
        """Search. KeyboardInterrupt comes through, with a note of what was covered."""
        try:
            failure = self._levels()
            if failure is None and self.complete < self.max_faults and not self.watch.over:
                failure = self._random()
        except KeyboardInterrupt as stop:
            stop.add_note(str(self.covered()))
            raise
        if failure is None:
            return Nothing(self.covered(), exhaustive=self.complete >= self.max_faults)
        error = self.world.run(Schedule(failure)).error
        if error is None:
            raise RuntimeError("a failure did not come again: the handlers or the setup do not do the same in every run")
        return Found(self.world, *shrunk(self.world, Replay(failure), error, self._better), self.covered())

    def _better(self, replay: Replay) -> None:
        """Something that breaks was found, or has become shorter."""
        self.best = str(replay)
        self.watch(0)

    def now(self, schedules: int, seconds: float) -> Now:
        """How far it has come."""
        kinds, tried = dict(self.kinds), dict(self.tried)
        return Now(schedules, seconds, self.depth, self.complete, kinds, tried, self.spared, self.states, self.best)

    def covered(self) -> Covered:
        """What was covered so far."""
        seconds = self.watch.elapsed
        return Covered(
            self.done, self.random, self.complete, dict(self.kinds), dict(self.tried), seconds, self.spared, self.states
        )

    def _levels(self) -> Deviations | None:
        """All schedules by number of deviations; the first that breaks."""
        reached.begin(())
        first = self.world.run(Schedule())
        self.done += 1
        self.watch(1)
        self.kinds = dict(Counter(label for _, n, label in first.schedule.points if n > 1))
        self._known = tuple(reached.take())
        if first.error is not None:
            return ()
        self.complete = 0
        for level in range(1, self.max_faults + 1):
            self.depth = level
            hot, self._hot = self._hot, []
            shards = (self._shard(prefix) for prefix in self._prefixes(level - 1, hot))
            failure, whole = self._take(shards, int(self.schedules * _EXHAUSTIVE_SHARE) if level > 1 else self.schedules)
            if failure is not None or not whole:
                return failure
            self.complete = level
        return None

    def _shard(self, prefix: Deviations) -> Shard:
        after = self.seen.after(prefix)
        return Shard(prefix, self.max_faults, *after, seed=self.seed, known=self._known)

    def _prefixes(self, length: int, hot: list[Deviations]) -> Iterator[Deviations]:
        """All schedules of so many deviations; those first that have reached new code."""
        first = set(hot)
        return chain(hot, (prefix for prefix in self._all(length) if prefix not in first))

    def _all(self, length: int) -> Iterator[Deviations]:
        if not length:
            yield ()
            return
        for prefix in self._all(length - 1):
            for deviation, _ in self.seen.after(prefix).deviations:
                yield (*prefix, deviation)

    def _random(self) -> Deviations | None:
        left = self.schedules - self.done
        shards = (
            Shard((), self.max_faults, (), 0, 0, first, min(_RANDOM_SHARD, left - first), self.seed, self._known)
            for first in range(0, left, _RANDOM_SHARD)
        )
        before, self.depth = self.done, -1
        failure, _ = self._take(shards, self.schedules)
        self.random = self.done - before
        return failure

    def _take(self, shards: Iterator[Shard], most: int) -> tuple[Deviations | None, bool]:
        """Go through shards in order: the first failure, and whether all of them are done."""
        results = self.runner(shards, self.watch)
        known = set(self._known)
        try:
            for result in results:
                self._count(result, known)
                if result.failure is not None:
                    return result.failure, False
                if self.done >= most or self.watch.over:
                    return None, next(shards, None) is None and not self.watch.over
        finally:
            with suppress(AttributeError):
                results.close()  # type: ignore[attr-defined]
            self._known = tuple(sorted(known))
        return None, True

    def _count(self, result: Result, known: set[tuple[str, int]]) -> None:
        self.done += result.schedules
        self.tried.update(result.tried)
        self.spared += result.spared
        self.states += result.states
        for deviations, places in result.hot:
            if not known.issuperset(places):
                known.update(places)
                self._hot.append(deviations)
