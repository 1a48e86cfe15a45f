"""What a search has found: a schedule that breaks an invariant, or nothing, and what was covered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.engine.error_text import error_message
from emulator.explore.schedule import Schedule, replay_text

if TYPE_CHECKING:
    from emulator.engine.ledger.trace import Trace
    from emulator.explore.schedule import Deviations
    from emulator.explore.world import World


class Covered(NamedTuple):
    """What was covered: schedules, random ones among them, up to how many deviations all of them.

    `points` are the choices of the ordinary course by kind, `tried` the alternatives that were taken by kind.
    """

    schedules: int
    random: int
    deviations: int
    points: dict[str, int]
    tried: dict[str, int]
    seconds: float

    def __str__(self) -> str:
        rate = f", {self.schedules / self.seconds:,.0f} a second" if self.seconds else ""
        depth = {-1: "not even the ordinary course", 0: "the ordinary course"}.get(
            self.deviations, f"all with up to {self.deviations} deviations"
        )
        lines = [f"{self.schedules:,} schedules{rate}: {depth}{f', {self.random:,} random' if self.random else ''}"]
        kinds = {**self.points, **self.tried}
        lines += [f"  {name}: {self.points.get(name, 0)} choices, {self.tried.get(name, 0):,} tried" for name in sorted(kinds)]
        return "\n".join(lines)


class Found:
    """A schedule under which something breaks: `replay` runs it again, `error` is what was raised, `trace` the timeline."""

    def __init__(self, world: World, deviations: Deviations, error: BaseException, covered: Covered) -> None:
        self.deviations, self.error, self.covered = deviations, error, covered
        self.replay = replay_text(deviations)
        run = world.run(Schedule(deviations))
        self.trace: Trace | None = None if run.emulator is None else run.emulator.trace()
        self.world: Any = run.world

    found = True

    @property
    def schedules(self) -> int:
        """How many schedules were run until then."""
        return self.covered.schedules

    def __str__(self) -> str:
        return f"{error_message(self.error)}\nreplay={self.replay!r}"

    __repr__ = __str__


class Nothing:
    """No schedule breaks anything, as far as the search went: `exhaustive` up to its number of faults, or not."""

    def __init__(self, covered: Covered, *, exhaustive: bool) -> None:
        self.covered, self.exhaustive = covered, exhaustive

    found = False
    error = replay = trace = None

    @property
    def schedules(self) -> int:
        """How many schedules were run."""
        return self.covered.schedules

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        return f"nothing breaks in {self.schedules:,} schedules ({'all of them' if self.exhaustive else 'not all of them'})"

    __repr__ = __str__
