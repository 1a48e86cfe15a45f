"""Where a message has got to on one way through a handler, and what the steps of a way do to that."""

from __future__ import annotations

from typing import NamedTuple

from cfq_lint.facts.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.lowering.steps import Call, Spot

ACK, ACK_ALL, RETRY = "ack()", "ackAll()", "retry"
NONE, OTHER, RELATED = 0, 1, 2
"""How work has to do with the message: none was done, it was other work, or the message is in it."""


class State(NamedTuple):
    """Where a message has got to on one way through the handler.

    `settled` is how it was settled first. `before` and `after` are the work around an acknowledgement, `each` whether it is
    done message by message. `failed` is the `try` that caught a failure of its work, `noted` the one whose failure further work
    was done about, `floating` work that the runtime waits for at the end only, `lost` a loop that waits for nothing, `doubt` a
    place that was not followed. `guessed` says that it is not certain that this queue's messages come this way.
    """

    settled: str = ""
    settled_at: Spot | None = None
    before: int = NONE
    before_at: Spot | None = None
    after: int = NONE
    after_at: Spot | None = None
    each: bool = False
    failed: Spot | None = None
    noted: Spot | None = None
    floating: Spot | None = None
    lost: Spot | None = None
    doubt: Spot | None = None
    guessed: bool = False


@record
class Seen:
    """A call that the handler may make: whether the message is in it, and whether an id made on the spot is.

    `is_of_one` says that it is made for each message, and not just for the batch; `others` are the names in it that stand for
    no such id. Of its idempotency key `key` says whether it is made on the spot, True, or of the message, False; None where
    that is not certain.
    """

    call: Call
    is_related: bool
    is_of_one: bool
    is_fresh: bool
    others: frozenset[str]
    key: bool | None


class TooLong(Exception):  # noqa: N818 - it says what a handler is
    """There are more ways through a handler than are followed."""


class Flow:
    """The states at the ways out of some steps."""

    __slots__ = ("broken", "continued", "normal", "raised", "returned")

    def __init__(self, normal: set[State]) -> None:
        self.normal = normal
        self.returned: set[State] = set()
        self.raised: set[State] = set()
        self.broken: set[State] = set()
        self.continued: set[State] = set()

    def leave(self, other: Flow) -> None:
        """Add the abrupt ways out of another flow."""
        self.returned |= other.returned
        self.raised |= other.raised
        self.broken |= other.broken
        self.continued |= other.continued


def settle(state: State, how: str, spot: Spot) -> State:
    """The first call on a message wins; `ackAll` counts for those that nothing was called on."""
    return state if state.settled else state._replace(settled=how, settled_at=spot)


def doubted(states: set[State], spot: Spot | None) -> set[State]:
    """What has the message may settle it, at once or later."""
    return {state if state.settled else state._replace(doubt=spot) for state in states}


def failed(state: State, spot: Spot) -> State:
    """The first failure counts: what fails while it is dealt with is no other one."""
    return state if state.settled or state.failed is not None else state._replace(failed=spot)


def worked(state: State, spot: Spot, *, is_related: bool, each: bool) -> State:
    """Work was done; what failed before it is dealt with elsewhere."""
    weight = RELATED if is_related else OTHER
    if state.settled in {ACK, ACK_ALL}:
        return state._replace(after=weight, after_at=spot) if weight > state.after else state
    if state.settled:
        return state
    if is_related:
        state = state._replace(failed=None, noted=state.failed or state.noted, each=state.each or each)
    return state._replace(before=weight, before_at=spot) if weight > state.before else state


def as_related(state: State, spot: Spot) -> State:
    """Work that a function does to which the message was given concerns the message."""
    if state.before == OTHER and not state.settled:
        return state._replace(before=RELATED, before_at=spot)
    return state
