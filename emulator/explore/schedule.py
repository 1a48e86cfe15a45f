"""A schedule: what becomes of every choice in one run. It stands in for chance, for every account made meanwhile.

A run is told by its deviations from the ordinary course, 0: `2:3` is alternative 3 at choice 2. The turns of handlers on the
virtual loop are numbered apart (`t0:1`), so that what a version of asyncio does in more turns moves no other number. A shrunk
one may also leave out messages that the setup sends: `2:3,without=1+3` has neither the first nor the third.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from msgspec.structs import replace

from emulator.core.events import Delivered
from emulator.engine.clock import SECOND_US
from emulator.engine.faults import FAULTS, ORDERS, SEND
from emulator.engine.targets.invocation import current

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from emulator.core.commands import Send
    from emulator.core.model import Consumer
    from emulator.engine.account import Account
    from emulator.engine.delivery import Delivery
    from emulator.engine.timeline import Timeline

T = TypeVar("T")
Deviations = tuple[tuple[int, int], ...]
"""(choice, alternative) in the order in which they were asked; the turns have negative numbers, from -1 down."""
LATE_SECONDS = (0, 1, 60)
"""How much later something may come: so that others go first, or so that a caller's patience is over."""
_FIRST_MAX = 10
"""So many of the waiting messages may come first."""
_DELAY_SECONDS_MAX = 86_400
BATCHES_MAX = 500
"""So many batches may leave in one run, and some for each message there is; then it is taken to have no end."""
_SENDS = frozenset(name for name, row in FAULTS.items() if row.place == SEND)
_FAILURES = frozenset({
    "crashes", "crashes_at_call", "crashes_at_await", "crashes_at_end", "cut_off", "failed_calls", "lost_answers",
})  # fmt: skip
REORDERINGS = frozenset({"reorder", "small_batches", *ORDERS})
"""Choices of an order, in which nothing goes wrong."""


class Schedule:
    """Answers each choice with the deviation that is given for it, else what `draw` says, else with 0.

    The messages that a test sends itself are numbered from 1; those of `without` are accepted and never stored.
    `points` are the choices that were asked: (number, alternatives, label). `calls` are those of handlers that have acted,
    `last_us` is when the last deviation was taken. `told` hears of what happens, for a story. While somebody wants to `look`,
    `states` are what it gives where the world is at rest behind the last deviation: (choices asked until then, hash).
    """

    active = searches = True

    def __init__(
        self,
        given: Iterable[tuple[int, int]] = (),
        draw: Callable[[int, str], int] | None = None,
        told: Any = None,
        without: Iterable[int] = (),
    ) -> None:
        self._given, self._draw, self._told = dict(given), draw, told
        self.without, self.sent = frozenset(without), 0
        self._numbered = self._turns = 0
        self.points: list[tuple[int, int, str]] = []
        self.taken: list[tuple[int, int]] = []
        self.drawn = dict.fromkeys(FAULTS, 0)
        self.timelines: list[Timeline] = []
        self.calls: list[Any] = []
        self.last_us = 0
        self._spent: set[str] = set()
        """Messages whose retries are over: what goes wrong with their last delivery brings none of them again."""
        self.look: Callable[[], bytes | None] | None = None
        self.states: list[tuple[int, bytes]] = []

    @property
    def deviations(self) -> Deviations:
        """Where this run left the ordinary course."""
        return tuple(self.taken)

    def choose(self, n: int, label: str, where: Any = None) -> int:
        """The alternative of this choice."""
        if n < 2 or (label in _SENDS and current.get() is None):  # noqa: PLR2004 - one course; nobody tests the sends of a test
            return 0
        if self._spent and label in _FAILURES and not self._spent.isdisjoint(where[0].event.ids):
            return 0
        if label == "turns":
            self._turns += 1
            number = -self._turns
        else:
            number = self._numbered
            self._numbered += 1
        self.points.append((number, n, label))
        value = self._given.get(number, 0)
        if self._draw is not None and not value:
            value = self._draw(n, label)
        return self._take(number, min(value, n - 1), label, where) if value else 0

    def _take(self, number: int, value: int, label: str, where: Any) -> int:
        """Leave the ordinary course."""
        self.taken.append((number, value))
        if self.timelines:
            self.last_us = self.timelines[0].account.now_us
        if label in self.drawn:
            self.drawn[label] += 1
        if self._told is not None:
            self._told.fault(label, value, where)
        return value

    def seconds(self, label: str, where: Any = None) -> int:
        """0, a second or a minute."""
        return LATE_SECONDS[self.choose(len(LATE_SECONDS), label, where)]

    def order(self, waiting: Sequence[T], count: int) -> list[T]:
        """Another message first; or one message alone, where more could go."""
        if len(waiting) < 2:  # noqa: PLR2004 - who is alone is first
            return []
        first = self.choose(min(len(waiting), _FIRST_MAX), "reorder", waiting)
        alone = count > 1 and self.choose(2, "small_batches", waiting)
        if not first and not alone:
            return []
        taken = [waiting[first], *waiting[:first], *waiting[first + 1 :]]
        return taken[: 1 if alone else count]

    def again_seconds(self, message: Any, consumer: Consumer) -> int | None:
        """None; or its acknowledgement gets lost, and it comes again at once, or when its retries would be over.

        They would be over so long after its first delivery as all of them take, whatever has become of some of them.
        """
        if message.attempts > consumer.max_retries:
            return None
        account, span = self.timelines[0].account, consumer.retry_delay * consumer.max_retries
        if span and message.attempts > 1:
            span = max(0, span - (account.now_us - _first_delivery_us(account, message.id)) // SECOND_US)
        span = min(span, _DELAY_SECONDS_MAX)
        chosen = self.choose(3 if span else 2, "duplicates", message)
        if chosen > 1:
            self._spent.add(message.id)
        return (None, 0, span)[chosen]

    def heard(self, delivery: Delivery, what: Any) -> None:
        """A handler has called something outside."""
        self.calls.append(what)
        if self._told is not None:
            self._told.call(delivery, what)

    def described(self, awaitable: Any) -> Any:
        """What a handler awaits, where a story is told."""
        return None if self._told is None else self._told.awaited(awaitable)

    def stored(self, send: Send) -> Send | None:
        """What is stored of the messages that are sent; None where it is nothing."""
        if current.get() is not None or any(timeline.moving for timeline in self.timelines):
            return send
        first = self.sent + 1
        self.sent += len(send.ids)
        if self.without.isdisjoint(range(first, self.sent + 1)):
            return send
        kept = [place for place in range(len(send.ids)) if first + place not in self.without]
        columns = (send.ids, send.bodies, send.content_types, send.delays_seconds)
        ids, bodies, kinds, delays = (tuple([column[place] for place in kept]) for column in columns)
        return replace(send, ids=ids, bodies=bodies, content_types=kinds, delays_seconds=delays) if kept else None

    def before_send(self, account: Account) -> None:
        """Let the consumers come further before a test sends on: one step, or until nothing is due."""
        if current.get() is not None:
            return
        timeline = next((each for each in self.timelines if each.account is account), None)
        if timeline is None or timeline.moving:
            return
        due_us = timeline.next_due_us()
        if due_us is None:
            return
        further = self.choose(3, "producer")
        if further == 1:
            timeline.run_until_idle()
        elif further:
            timeline.advance(max(0, due_us - account.now_us) / 1_000_000)

    def moved(self, timeline: Timeline) -> None:
        """A moment is over."""
        if self.look is None or len(self.taken) < len(self._given) or not timeline.deliveries.at_rest:
            return
        state = self.look() if len(self.timelines) == 1 else None
        if state is None:
            self.look = None
        else:
            self.states.append((len(self.points), state + repr(sorted(self._spent)).encode()))

    def drive(self, timeline: Timeline) -> None:
        """An account of this run."""
        timeline.batches_min = BATCHES_MAX
        if self._told is not None:
            timeline.account.listeners.append(self._told.hear)
        self.timelines.append(timeline)


def _first_delivery_us(account: Account, id: str) -> int:
    """When a message was delivered for the first time in the queue where it is now."""
    first_us = account.now_us
    for event in account.events():
        if isinstance(event, Delivered) and id in event.ids and event.attempts[event.ids.index(id)] == 1:
            first_us = event.at_us
    return first_us


class Replay(NamedTuple):
    """What makes a run what it is: its deviations, and the numbers of the messages that are left out."""

    deviations: Deviations = ()
    without: tuple[int, ...] = ()

    def schedule(self, told: Any = None) -> Schedule:
        """To run it."""
        return Schedule(self.deviations, told=told, without=self.without)

    def __str__(self) -> str:
        """`2:3`, `2:3,t0:1,without=1+3`; the ordinary course is empty."""
        parts = [f"t{-number - 1}:{value}" if number < 0 else f"{number}:{value}" for number, value in self.deviations]
        return ",".join([*parts, *(["without=" + "+".join(map(str, self.without))] if self.without else [])])

    @classmethod
    def of(cls, text: str) -> Replay:
        """What `str` wrote. Raises ValueError."""
        found: list[tuple[int, int]] = []
        without: tuple[int, ...] = ()
        for part in filter(None, text.replace(" ", "").split(",")):
            number, _, value = part.partition(":")
            left_out = part.removeprefix("without=").split("+")
            if part.startswith("without=") and all(map(str.isdigit, left_out)):
                without += tuple(map(int, left_out))
            elif number.removeprefix("t").isdigit() and value.isdigit():
                at = int(number.removeprefix("t"))
                found.append((-at - 1 if number.startswith("t") else at, int(value)))
            else:
                message = (
                    f"replay {text!r}: expected choices and alternatives such as '2:3' or '2:3,t0:1', and messages that are "
                    f"left out such as 'without=1+3', not {part!r}"
                )
                raise ValueError(message)
        return cls(tuple(found), without)
