"""How far a message has got on one way through a handler, and the ways out of a piece of it."""

from __future__ import annotations

from typing import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from cfq_lint.worker_code.ways.marks import Mark

ACK, ACK_ALL, RETRY, RETRY_ALL = "ack()", "ackAll()", "retry()", "retryAll()"
ACKS, RETRIES = frozenset({ACK, ACK_ALL}), frozenset({RETRY, RETRY_ALL})
WORK, PERHAPS, READ, PARSE, TELL, TIDY = "work", "perhaps", "read", "parse", "tell", "tidy"
"""What a call does: work for certain, work perhaps, reading, making a value that may be none, telling, tidying up."""
INVALID, FAILURE, HTTP, REJECTED = "invalid", "failure", "http", "rejected"
"""Why something failed: a body that can never be right, whatever was thrown, a response's status, a result that says so."""
LAST, OF_ERROR, OF_STATUS, OF_BODY, OF_READ, MISSING, TYPE, DEFAULT_ARM = (
    "last",
    "error",
    "status",
    "body",
    "read",
    "missing",
    "type",
    "default arm",
)
FROM_400, BELOW_500 = "from 400", "below 500"
DONE_MAX = 2
TOO_MANY_REQUESTS = 429


class Failure(NamedTuple):
    """Something that failed: why, where, and where it was caught or looked at."""

    kind: str
    at: Mark
    caught: Mark


class State(NamedTuple):
    """Where a message has got to on one way.

    `settled` is how it was settled first, at `settled_at`. `done` are the first pieces of its work, `after` the first that came
    after an acknowledgement. `failed` is a failure that was caught and about which nothing was done yet, `noted` one about
    which something was done, `error` what is being thrown and why. `pending` is work that the runtime waits for, `lost` work
    for which nobody does. `risked` is what was awaited unguarded while a failure was dealt with, `changed` a change of the
    body, `doubt` what was not followed. `guards` are what conditions told on the way, `flags` the literal values of names.
    `guessed` says that it is not certain that this queue's messages come this way.
    """

    settled: str = ""
    settled_at: Mark | None = None
    done: tuple[Mark, ...] = ()
    after: Mark | None = None
    failed: Failure | None = None
    noted: Failure | None = None
    error: tuple[str, Mark] | None = None
    pending: Mark | None = None
    lost: Mark | None = None
    risked: Mark | None = None
    changed: Mark | None = None
    doubt: Mark | None = None
    guards: frozenset[tuple[str, Any]] = frozenset()
    flags: frozenset[tuple[Any, Any]] = frozenset()
    guessed: bool = False

    def flag(self, key: Any, default: Any = None) -> Any:
        """The literal value that a flag has on this way."""
        return next((value for each, value in self.flags if each == key), default)

    def flagged(self, key: Any, value: Any) -> State:
        """The same way, with a flag set."""
        return self._replace(flags=frozenset({*(pair for pair in self.flags if pair[0] != key), (key, value)}))

    def knows(self, guard: str, value: Any = True) -> bool:
        """Whether a condition told so on the way."""
        return (guard, value) in self.guards

    def tells(self, guard: str) -> bool:
        """Whether a condition of that kind stands on the way."""
        return any(each == guard for each, _ in self.guards)


WIDENED = "widened"
"""That not all is known any more that conditions told on a way, nor what lists hold: there were too many ways to keep apart."""
_STATES_KEPT = (40, 60, 120, 200)
_WIDE = (WIDENED, True)
_LOOKS = frozenset({(OF_READ, True), (OF_READ, False), (OF_BODY, True)})
_TOLD = frozenset({TYPE, DEFAULT_ARM, MISSING})
_TRUTHS = (True, False, "rejected", "fulfilled")
_PLAIN = frozenset({"name", "=", "settled", "rejected", "rest"})


def widened(states: set[State]) -> set[State]:
    """The ways, of which some are no longer kept apart where there are too many: first by what matters least."""
    for forget, most in zip((_forget_looks, _forget_flags, _forget_details, _forget_most), _STATES_KEPT, strict=True):
        if len(states) <= most:
            return states
        states = {forget(state) for state in states}
        if forget is _forget_looks:
            states = _alike(states)
    return states


def _alike(states: set[State]) -> set[State]:
    """Ways that differ in nothing but what a type or a setting told are one, of which is known what all of them were told."""
    found: dict[State, frozenset[tuple[str, Any]]] = {}
    for state in states:
        told = frozenset([guard for guard in state.guards if guard[0] in _TOLD])
        bare = state._replace(guards=state.guards - told) if told else state
        found[bare] = found[bare] & told if bare in found else told
    return {bare._replace(guards=bare.guards | told) if told else bare for bare, told in found.items()}


def _forget_looks(state: State) -> State:
    guards = state.guards
    if _WIDE in guards and guards.isdisjoint(_LOOKS):
        return state
    return state._replace(guards=guards - _LOOKS | {_WIDE})


def _forget_flags(state: State) -> State:
    flags = frozenset([(key, value) for key, value in state.flags if key[0] in _PLAIN and value in _TRUTHS])
    return state._replace(flags=flags) if len(flags) < len(state.flags) else state


def _forget_details(state: State) -> State:
    """What is left is no longer certain."""
    failed, noted = (each and each._replace(at=each.caught) for each in (state.failed, state.noted))
    flags = frozenset(each for each in state.flags if each[0][0] in {"rest", "settled", "rejected"})
    guards = frozenset(each for each in state.guards if each[0] not in {TYPE, MISSING})
    kept = state._replace(done=state.done[:1], noted=noted, failed=failed, risked=None, flags=flags, guards=guards)
    return kept._replace(guessed=True)


def _forget_most(state: State) -> State:
    """Only how the message was settled is left, and what makes a way one that nothing is said of."""
    failed = state.failed and state.failed._replace(at=state.failed.caught)
    return State(state.settled, state.settled_at, state.done[:1], state.after, failed, error=state.error, guessed=True)


def in_order(states: Iterable[State]) -> list[State]:
    """Ways in an order that does not depend on chance: sets of them have another one in every process."""
    return sorted(states, key=_key)


def _key(state: State) -> tuple[str, ...]:
    marks = (
        state.settled_at,
        state.after,
        state.lost,
        state.pending,
        state.risked,
        state.changed,
        state.failed and state.failed.at,
        state.failed and state.failed.caught,
        state.noted and state.noted.at,
        state.noted and state.noted.caught,
        state.doubt,
    )
    shown = tuple(f"{each.order}" if each else "" for each in marks)
    done = "".join(f"{each.order}" for each in state.done)
    error = f"{state.error[1].order}" if state.error else ""
    guards = sorted(f"{kind}{value if value in (True, False) else value.order}" for kind, value in state.guards)
    return (state.settled, *shown, done, error, str(guards))


class TooLong(Exception):  # noqa: N818 - it says what a handler is
    """There are more ways through a handler than are followed."""


class Flow:
    """The states at the ways out of some statements."""

    __slots__ = ("_raised", "broken", "continued", "normal", "raised", "returned")

    def __init__(self, normal: set[State] | None = None) -> None:
        self.normal: set[State] = normal if normal is not None else set()
        self.returned: set[State] = set()
        self.raised: set[State] = set()
        self.broken: set[State] = set()
        self.continued: set[State] = set()
        self._raised: set[tuple[State, str]] = set()

    def throw(self, states: Iterable[State], kind: str, at: Mark) -> None:
        """Raise an error on each way; of errors of one kind on ways that are alike, the first counts."""
        for state in states:
            bare = state._replace(error=None) if state.error is not None else state
            if (bare, kind) not in self._raised:
                self._raised.add((bare, kind))
                self.raised.add(bare._replace(error=(kind, at)))

    def leave(self, other: Flow) -> None:
        """Add the abrupt ways out of another flow."""
        self.returned |= other.returned
        self.raised |= other.raised
        self.broken |= other.broken
        self.continued |= other.continued
