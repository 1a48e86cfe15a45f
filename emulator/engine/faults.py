"""Faults: what Cloudflare warns of and a test seldom meets. A table, one row a fault; all are off unless somebody asks.

https://developers.cloudflare.com/queues/reference/delivery-guarantees/: at least once, in no particular order.
A new fault is a row here and a question to `chance` at the place that it names; everything else reads the table.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, NamedTuple

PYTHON, THREAD, URL, WORKERD = "python", "thread", "url", "workerd"
TARGETS = (PYTHON, THREAD, URL, WORKERD)
"""Where a batch may go: a handler on the virtual loop or on a thread, an endpoint behind a URL, JavaScript in workerd."""


DIED = "a fault ended the handler's process"
LIMIT = "a fault ended the handler at a limit"


class WorkerCrashed(BaseException):
    """A fault ends the handler's process here. No `except Exception` catches it; nothing that it does later has an effect."""


class Fault(NamedTuple):
    """One row: its `name` (also the REST field), the `doc` of what it brings about, and the `place` at which it is drawn.

    `targets` are those on which it acts; one that is not among them is in `why_not`, with the reason. A fault of sends and
    pulls has none. Its chance lies within `bounds`.
    """

    name: str
    doc: str
    place: str
    targets: tuple[str, ...] = ()
    why_not: tuple[tuple[str, str], ...] = ()
    bounds: tuple[float, float] = (0.0, 1.0)


SEND, PULL, DEPARTURE, HANDLER, SETTLEMENT = "send", "pull", "departure", "handler", "settlement"
_OURS, _URL = (PYTHON, THREAD, WORKERD), ((URL, "what an endpoint does inside of a request cannot be seen"),)

_ROWS = (
    Fault("duplicates", "an acknowledgement gets lost, and the message comes again", SETTLEMENT, TARGETS),
    Fault("reorder", "a batch is taken in random order from the messages that are next in line", DEPARTURE, TARGETS),
    Fault("small_batches", "a batch leaves with fewer messages than it might have", DEPARTURE, TARGETS),
    Fault("crashes", "the process dies at a message, before its body is read; what it said is lost", HANDLER, TARGETS),
    Fault("crashes_at_end", "the process dies after the handler's last statement; what it said is lost", HANDLER, TARGETS),
    Fault("crashes_at_await", "the process dies where the handler awaits something", HANDLER, _OURS, _URL),
    Fault("crashes_at_call", "the process dies before or after a call of a binding, such as a send", HANDLER, _OURS, _URL),
    Fault("cut_off", "a limit ends the handler where it has acknowledged something: that holds, the rest is not done",
          HANDLER, _OURS, _URL),
    Fault("failed_calls", "a call of a store, a service or a fetch fails, and has done nothing", HANDLER, _OURS, _URL),
    Fault("lost_answers", "a call of a store, a service or a fetch has acted, and its caller sees an error",
          HANDLER, _OURS, _URL),
    Fault("late_answers", "what a handler awaits comes later, by whole seconds from `slow_seconds`", HANDLER, (PYTHON, WORKERD),
          (*_URL, (THREAD, "what runs on a thread waits in real time"))),
    Fault("slow", "a handler takes longer, by whole seconds from `slow_seconds` (least, most)", HANDLER, TARGETS),
    Fault("overlaps", "a batch is given out again while its handler works; that one's end is not heard", HANDLER, TARGETS),
    Fault("refused_sends", "a send is refused with 10250, and nothing is stored", SEND),
    Fault("lost_replies", "a send is stored, and its answer gets lost: the sender sees 15000", SEND),
    Fault("short_leases", "a pulled message's lease lapses at once, while its holder works", PULL),
)  # fmt: skip
FAULTS = {row.name: row for row in _ROWS}
"""Every fault by its name."""

ORDERS = {
    "early_batches": "a batch leaves before it has waited as long as it might",
    "queues": "another queue goes first, where several have a batch at one moment",
    "turns": "another handler goes first, where several can go on at one moment",
    "producer": "the consumers have come further when a message is sent",
}
"""What is open although nothing goes wrong: the order of things. Only a search chooses another one."""

SLOW_SECONDS = (1, 60)
WINDOW_BATCHES = 3
"""A reordered batch is drawn from so many batches' worth of waiting messages."""


class Faults:
    """The chance of each fault in the table, from 0 to 1, by name: `Faults(crashes=0.1)`; what is not named is 0.

    `slow_seconds` are the least and the most whole seconds of a slow handler. Raises TypeError for a name that is not in the
    table, ValueError for a chance out of bounds.
    """

    __slots__ = ("_chances", "slow_seconds")

    def __init__(self, *, slow_seconds: tuple[int, int] = SLOW_SECONDS, **chances: float) -> None:
        for name, chance in chances.items():
            if name not in FAULTS:
                raise TypeError(f"there is no fault {name!r}{_near(name)}")
            low, high = FAULTS[name].bounds
            if isinstance(chance, bool) or not isinstance(chance, int | float) or not low <= chance <= high:
                raise ValueError(f"{name} must be a chance from {low:g} to {high:g}, not {chance!r}")
        least, most = slow_seconds
        if not (isinstance(least, int) and isinstance(most, int) and 0 < least <= most):
            raise ValueError(f"slow_seconds must be two whole numbers of seconds, the least and the most, not {slow_seconds!r}")
        self._chances = {name: float(chance) for name, chance in chances.items() if chance}
        self.slow_seconds = (least, most)

    def __getattr__(self, name: str) -> float:
        if name not in FAULTS:
            raise AttributeError(f"there is no fault {name!r}{_near(name)}")
        return self._chances.get(name, 0.0)

    def __bool__(self) -> bool:
        """Whether any fault may happen."""
        return bool(self._chances)

    def as_dict(self) -> dict[str, Any]:
        """Every fault's chance, and `slow_seconds`."""
        return {**{name: self._chances.get(name, 0.0) for name in FAULTS}, "slow_seconds": self.slow_seconds}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Faults) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash((tuple(sorted(self._chances.items())), self.slow_seconds))

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self._chances, self.slow_seconds)

    def __repr__(self) -> str:
        slow = f", slow_seconds={self.slow_seconds}" if self.slow_seconds != SLOW_SECONDS else ""
        return f"Faults({', '.join(f'{name}={chance:g}' for name, chance in self._chances.items())}{slow})"


def _made(chances: dict[str, float], slow_seconds: tuple[int, int]) -> Faults:
    return Faults(slow_seconds=slow_seconds, **chances)


def _near(name: str) -> str:
    near = get_close_matches(name, FAULTS, n=1)
    return f": did you mean {near[0]!r}?" if near else f": there are {', '.join(FAULTS)}"


CALM = Faults()
