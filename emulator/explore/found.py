"""What a search has found: a schedule that breaks an invariant, or nothing, and what was covered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.engine.error_text import error_message, error_text
from emulator.explore.pytest_test import test_text
from emulator.explore.story import Told, deviations

if TYPE_CHECKING:
    from emulator.engine.ledger.trace import Trace
    from emulator.explore.schedule import Deviations, Replay
    from emulator.explore.world import World


class Covered(NamedTuple):
    """What was covered: schedules, random ones among them, up to how many deviations all of them.

    `points` are the choices of the ordinary course by kind, `tried` the alternatives that were taken by kind. At least `spared`
    schedules were not run because they come to one of `states` that were seen, from where another one went on.
    """

    schedules: int
    random: int
    deviations: int
    points: dict[str, int]
    tried: dict[str, int]
    seconds: float
    spared: int = 0
    states: int = 0

    def as_dict(self) -> dict[str, Any]:
        """The same without the seconds, which differ from run to run."""
        return {name: value for name, value in self._asdict().items() if name != "seconds"}

    def __str__(self) -> str:
        rate = f", {self.schedules / self.seconds:,.0f} a second" if self.seconds else ""
        depth = {-1: "not even the ordinary course", 0: "the ordinary course"}.get(
            self.deviations, f"all with up to {deviations(self.deviations)}"
        )
        lines = [f"{self.schedules:,} schedules{rate}: {depth}{f', {self.random:,} random' if self.random else ''}"]
        if self.spared:
            lines.append(f"  {self.spared:,} schedules spared by {self.states:,} states seen")
        kinds = {**self.points, **self.tried}
        lines += [f"  {name}: {self.points.get(name, 0)} choices, {self.tried.get(name, 0):,} tried" for name in sorted(kinds)]
        return "\n".join(lines)


class Now(NamedTuple):
    """How far a search has come: `depth` deviations are being tried (-1: random ones), all of up to `complete` are done.

    `best` is the replay of what was found and is being shrunk; None before something was found. The rest is as in Covered.
    """

    schedules: int
    seconds: float
    depth: int
    complete: int
    points: dict[str, int]
    tried: dict[str, int]
    spared: int
    states: int
    best: str | None


class Found:
    """A schedule under which something breaks. `replay` runs it again, `error` is what was raised, `story` are lines for
    people, `trace` is the timeline of every message.
    """  # noqa: D205 - the first sentences are short

    def __init__(self, world: World, replay: Replay, error: BaseException, covered: Covered) -> None:
        self.error, self.covered = error, covered
        self.deviations: Deviations = replay.deviations
        self.replay, self._left_out = str(replay), len(replay.without)
        self.told = Told()
        run = world.run(replay.schedule(self.told))
        self._sent = run.schedule.sent
        self.trace: Trace | None = None if run.emulator is None else run.emulator.trace()
        self._names = [_name(each) for each in (world.setup, *world.invariants)]

    found = True

    @property
    def schedules(self) -> int:
        """How many schedules were run until then."""
        return self.covered.schedules

    @property
    def faults(self) -> int:
        """How many deviations from the ordinary course it takes."""
        return len(self.deviations)

    @property
    def story(self) -> str:
        """What happened, a line each, ending with what does not hold."""
        return "\n".join(self.told.lines(error_message(self.error).partition("\n")[0] or error_text(self.error)))

    def as_dict(self) -> dict[str, Any]:
        """Plain values, the same in every run."""
        return {
            "version": 1, "found": True, "replay": self.replay, "error": error_text(self.error), "faults": self.faults,
            "story": self.story.splitlines(), "covered": self.covered.as_dict(),
        }  # fmt: skip

    def test(self) -> str:
        """A pytest test that runs this schedule alone."""
        return test_text(self._names, self.replay, self.story)

    def page(self) -> str:
        """The same as an HTML page, with a drawing of who had which message when."""
        from emulator.explore.page import page

        return page(self)

    @property
    def summary(self) -> str:
        """How many faults it takes, and how to run it again: one line."""
        faults = {0: "without any fault", 1: "with one fault"}.get(self.faults, f"with {self.faults} faults")
        without = f"; {self._left_out} of {self._sent} messages left out" if self._left_out else ""
        return f"broken {faults}, found in {self.schedules:,} schedules{without}; replay={self.replay!r}"

    def __str__(self) -> str:
        return f"{error_text(self.error)}\n{self.summary}\n\n{self.story}"

    __repr__ = __str__


def _name(function: Any) -> tuple[str, str]:
    """The module and the name of a function; a name that is not a module's own has none."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return getattr(function, "__module__", "") or "", name


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

    def as_dict(self) -> dict[str, Any]:
        """Plain values, the same in every run."""
        return {"version": 1, "found": False, "exhaustive": self.exhaustive, "covered": self.covered.as_dict()}

    def __bool__(self) -> bool:
        return False

    def __str__(self) -> str:
        whole = f"all of them, up to {deviations(self.covered.deviations)}" if self.exhaustive else "not all of them"
        return f"nothing breaks in {self.schedules:,} schedules ({whole})"

    __repr__ = __str__
