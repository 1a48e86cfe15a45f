"""A world under search: its setup, its invariants, and one run of it under one schedule."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import inspect
import os
import random
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.engine.chance import memory, searched
from emulator.explore.schedule import Schedule
from emulator.testing.emulator import Emulator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_EMULATORS = frozenset({"emu", "emulator", "_emu", "_emulator", "cf_queues"})
"""What an invariant of one argument calls it when it wants the emulator."""

_YOUNG_MAX = 2_000
"""So many objects may a search make before those that nobody holds are looked for: a few runs."""
_URANDOM = os.urandom


class SetupFailed(Exception):  # noqa: N818 - what has happened
    """The world could not be made; the cause says why."""


class Run(NamedTuple):
    """One run: what broke (None: nothing did), its schedule, its emulator, what setup made."""

    error: BaseException | None
    schedule: Schedule
    emulator: Emulator | None
    world: Any


class World:
    """`setup(emu)` makes a world and may return a value; `setup()` makes its own emulator and returns it, or (emulator, value).

    Each invariant is `invariant(emu, value)`, `invariant(value)` or `invariant(emu)`, and raises when it does not hold; with
    `each_step` it is asked after every moment at which something happened. Both may be async. `options` go to Emulator.
    """

    def __init__(
        self,
        setup: Callable[..., Any],
        invariants: Iterable[Callable[..., Any]],
        *,
        each_step: bool = False,
        options: dict[str, Any] | None = None,
    ) -> None:
        self.setup, self.invariants, self.each_step = setup, tuple(invariants), each_step
        self.options = {"seed": 0, **(options or {})}
        self._given = arity(setup)
        self._checks = [_check(each) for each in self.invariants]
        self._runner: asyncio.Runner | None = None
        self._memory: dict[Any, Any] = {}
        self._drawn = random.getstate()
        self._learned: frozenset[int] | None = None
        self.opaque = ""
        """Why a state could not be read, if that was so."""
        self._learners = [each for each in self.invariants if hasattr(each, "learn")]

    def run(self, schedule: Schedule, *, look: bool = False) -> Run:
        """One run from the beginning. Raises SetupFailed. With `look`, the schedule learns of the states that it meets."""
        if self._learners and schedule.without != self._learned:
            self._learn(schedule.without)
        token, remembering = searched.set(schedule), memory.set(self._memory)
        random.seed(0)  # what a user's code draws has to be the same in every run
        os.urandom = random._urandom = _Drawn()  # type: ignore[attr-defined] # noqa: SLF001 - uuid4(), secrets
        emulator: Emulator | None = None
        value: Any = None
        error: BaseException | None = None
        try:
            try:
                emulator, value = self._made()
            except Exception as failure:
                if schedule.taken or isinstance(failure, AssertionError):
                    error = failure  # what the setup asserts on its way is an invariant too
                else:
                    raise SetupFailed from failure
            else:
                error = self._broken(emulator, value, schedule if look else None)
        finally:
            os.urandom = random._urandom = _URANDOM  # type: ignore[attr-defined] # noqa: SLF001 - as above
            searched.reset(token)
            memory.reset(remembering)
            if emulator is not None:
                emulator.close()
        return Run(error, schedule, emulator, value)

    def _learn(self, without: frozenset[int]) -> None:
        """Let the invariants see the ordinary course that need to know it."""
        self._learned = without
        checks, self._checks = self._checks, [each.learn for each in self._learners]
        try:
            self.run(Schedule(without=without))
        finally:
            self._checks = checks

    def _made(self) -> tuple[Emulator, Any]:
        if self._given:
            emulator = Emulator(**self.options)
            return emulator, self._settled(self.setup(emulator))
        made = self._settled(self.setup())
        if isinstance(made, Emulator):
            return made, None
        if isinstance(made, tuple) and len(made) == 2 and isinstance(made[0], Emulator):  # noqa: PLR2004 - and its value
            return made
        message = f"a setup without arguments returns an Emulator, or (Emulator, value), not {type(made).__name__}"
        raise TypeError(message)

    def _broken(self, emulator: Emulator, value: Any, looking: Schedule | None) -> BaseException | None:
        """What breaks; None when all holds to the end. Only while nobody but the world moves time, its state can be seen."""
        try:
            if looking is not None:
                looking.look = lambda: self._state(emulator, value)
            if self.each_step:
                while (due_us := emulator.timeline.next_due_us()) is not None:
                    emulator.advance(max(0, due_us - emulator.account.now_us) / 1_000_000)
                    self._check(emulator, value)
            emulator.run_until_idle()
            if looking is not None:
                looking.look = None
            self._check(emulator, value)
        except Exception as error:  # noqa: BLE001 - whatever an invariant raises, it does not hold
            return error
        return None

    def _state(self, emulator: Emulator, value: Any) -> bytes | None:
        """The hash of the world as it is now; None where it cannot be read whole."""
        from emulator.explore.state import Opaque, state_of

        history = [each.history(emulator) for each in self.invariants if hasattr(each, "history")]
        try:
            return state_of(emulator, (value, self.invariants), history)
        except Opaque as opaque:
            self.opaque = str(opaque)
            return None

    def _check(self, emulator: Emulator, value: Any) -> None:
        for check in self._checks:
            self._settled(check(emulator, value))

    def _settled(self, value: Any) -> Any:
        if not inspect.iscoroutine(value):
            return value
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(value, context=contextvars.copy_context())

    def close(self) -> None:
        """Let go of what async setups ran on, and let chance go on where it was before."""
        random.setstate(self._drawn)
        if self._runner is not None:
            self._runner.close()
            self._runner = None


class _Drawn:
    """`os.urandom`, the same in every run; made when somebody draws there."""

    __slots__ = ("_random",)

    def __init__(self) -> None:
        self._random: random.Random | None = None

    def __call__(self, count: int) -> bytes:
        if self._random is None:
            self._random = random.Random(0)  # noqa: S311 - as above
        return self._random.randbytes(count)


@contextmanager
def few_collections() -> Iterator[None]:
    """Let Python look for garbage among what the runs of a search make, and not each time through all that was there before."""
    if gc.get_freeze_count() or not gc.isenabled():  # somebody has a plan of his own
        yield
        return
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(_YOUNG_MAX, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def arity(function: Callable[..., Any]) -> int:
    """How many arguments a function takes by their places."""
    kinds = inspect.Parameter
    parameters = inspect.signature(function).parameters.values()
    return sum(each.kind in {kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD, kinds.VAR_POSITIONAL} for each in parameters)


def _check(invariant: Callable[..., Any]) -> Callable[[Emulator, Any], Any]:
    """An invariant as a function of both. Raises TypeError for one that takes other arguments."""
    count = arity(invariant)
    if count == 2:  # noqa: PLR2004 - the emulator, and what setup made
        return invariant
    if count == 0:
        return lambda _emulator, _value: invariant()
    if count != 1:
        message = f"an invariant takes (emu, value), not {inspect.signature(invariant)}"
        raise TypeError(message)
    name = next(iter(inspect.signature(invariant).parameters))
    if name in _EMULATORS:
        return lambda emulator, _value: invariant(emulator)
    return lambda emulator, value: invariant(emulator if value is None else value)
