"""Invariants that people need, ready to use: `explore(setup, [at_most_once("POST /charge"), no_message_lost])`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from emulator.core.events import LeasesSettled, Sent, Settled
from emulator.engine import bodies
from emulator.explore.schedule import Schedule
from emulator.explore.story import call_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from emulator.testing.emulator import Emulator

_TOLD_MAX = 5


def at_most_once(of: str | Callable[[Any], Iterable[Any]]) -> Callable[[Emulator, Any], None]:
    """Each effect happens at most once. `of` gives the effects of what setup made; or it is how a call begins that acts.

    Such as `at_most_once(lambda world: world.charges)`, `at_most_once("POST /charge")`, `at_most_once("KV put")`,
    `at_most_once("D1 INSERT INTO payments")`, `at_most_once("MAIL.send")`: calls of a Worker's fetch, of KV and D1, of queues
    (`send 'jobs'`), and of what a test has put into `env`, with what they were given.
    """

    def calls(emu: Emulator) -> list[tuple[str, str]]:
        made = [(call_text(what), repr(what)) for what in _schedule(emu).calls]
        return [(said, exact) for said, exact in made if said.startswith(str(of))]

    def invariant(emu: Emulator, value: Any) -> None:
        if isinstance(of, str):
            counts = Counter(calls(emu))
            twice = [f"{said} ({count} times)" for (said, _), count in counts.items() if count > 1]
        else:
            twice = [f"{effect!r} ({count} times)" for effect, count in Counter(of(value)).items() if count > 1]
        if twice:
            raise AssertionError(f"more than once: {_several(twice)}")

    if isinstance(of, str):
        invariant.history = calls  # type: ignore[attr-defined] # what it looks at beside the journal
    return invariant


def no_message_lost(emu: Emulator, _value: Any = None) -> None:
    """No message is deleted after its last attempt, and none expires: each is acknowledged, dead-lettered or still there."""
    lost = [f"{fate.body!r} ({fate.state})" for fate in emu.fates if fate.state in {"dropped", "expired"}]
    if lost:
        raise AssertionError(f"lost: {_several(lost)}")


def every_message_ends(emu: Emulator, _value: Any = None) -> None:
    """Each message ends acknowledged or dead-lettered: none is lost, and none waits where somebody should take it."""
    no_message_lost(emu)
    consumed = {name for name, queue in emu.account.state.queues.items() if queue.consumer is not None}
    waiting = [f"{fate.body!r} in {fate.queue}" for fate in emu.fates if fate.state == "waiting" and fate.queue in consumed]
    if waiting:
        raise AssertionError(f"neither acknowledged nor dead-lettered: {_several(waiting)}")


def in_order(key: str | Callable[[Any], Any]) -> Callable[[Emulator, Any], None]:
    """Messages of the same key are acknowledged in the order in which they were sent. `key` is a member of the body, or a
    function of it.
    """  # noqa: D205 - the first sentence is short

    def key_of(body: Any) -> Any:
        return body.get(key) if isinstance(key, str) else key(body)

    def invariant(emu: Emulator, _value: Any = None) -> None:
        number: dict[str, int] = {}
        keys: dict[str, Any] = {}
        last: dict[Any, int] = {}
        for event in emu.account.events():
            if isinstance(event, Sent):
                for id, body, kind in zip(event.ids, event.bodies, event.content_types, strict=True):
                    number[id], keys[id] = len(number), key_of(bodies.decode(body, kind))
            elif isinstance(event, Settled | LeasesSettled):
                for id in event.acked:
                    before = last.get(keys[id], -1)
                    if number[id] <= before:
                        text = f"out of order: of {keys[id]!r}, a message was done after one that was sent later"
                        raise AssertionError(text)
                    last[keys[id]] = number[id]

    return invariant


def converges(within_seconds: float) -> Callable[[Emulator, Any], None]:
    """When no more faults come, everything is done within so many seconds: each message is acknowledged or dead-lettered."""

    def invariant(emu: Emulator, value: Any = None) -> None:
        every_message_ends(emu, value)
        ends = [event.at_us for event in emu.account.events() if isinstance(event, Settled | LeasesSettled)]
        took = (max(ends, default=0) - (_schedule(emu).last_us or min(ends, default=0))) / 1_000_000
        if took > within_seconds:
            raise AssertionError(f"it took {took:g} seconds after the last fault, not {within_seconds:g}")

    return invariant


class SameEndState:
    """What `of` gives of a world is the same in the end, whatever went wrong on the way."""

    __name__ = __qualname__ = "same_end_state"

    def __init__(self, of: Callable[[Any], Any]) -> None:
        self._of = of
        self._ordinary: Any = None

    def learn(self, _emu: Emulator, value: Any) -> None:
        """Remember the end of the ordinary course."""
        self._ordinary = self._of(value)

    def __call__(self, _emu: Emulator, value: Any) -> None:
        """Compare."""
        ended = self._of(value)
        if ended != self._ordinary:
            raise AssertionError(f"another end state: {ended!r}, and without faults {self._ordinary!r}")


def same_end_state(of: Callable[[Any], Any]) -> SameEndState:
    """What `of` gives of what setup made is the same in the end as without any fault. It must give a value of its own."""
    return SameEndState(of)


def _schedule(emu: Emulator) -> Schedule:
    chance = emu.account.chance
    assert isinstance(chance, Schedule), "this invariant is for explore()"
    return chance


def _several(texts: list[str]) -> str:
    more = len(texts) - _TOLD_MAX
    return ", ".join(texts[:_TOLD_MAX]) + (f" and {more} more" if more > 0 else "")
