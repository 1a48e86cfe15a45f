"""What a Worker's source must show before a rule about a consumer's code is loaded: a look at the ways of its messages."""

from __future__ import annotations

from cfq_lint.rules import signs
from cfq_lint.worker_code.ways.retrying import delay_of, is_plain, may_be_long
from cfq_lint.worker_code.ways.state import BELOW_500, DEFAULT_ARM, FROM_400, MISSING, RETRIES, WORK, State

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.consuming import Code
    from cfq_lint.worker_code.following.handling import Handled
    from cfq_lint.worker_code.ways.values import Called, Settled

_OF_GUARDS = {
    DEFAULT_ARM: signs.DEFAULT_ARM,
    MISSING: signs.MISSING_SETTING,
    FROM_400: signs.STATUS_RANGE,
    BELOW_500: signs.STATUS_RANGE,
}


def signs_in(code: Code) -> set[str]:
    """The signs that a source shows."""
    found: set[str] = set()
    seen: set[int] = set()
    for consuming in code.consuming:
        handled = consuming.handled
        if id(handled.called) not in seen:
            seen.add(id(handled.called))
            _look_at(handled, found)
    for send in code.sends:
        if send.loop is not None:
            found.add(signs.SEND_IN_LOOP)
        if send.unbounded is not None:
            found.add(signs.UNBOUNDED_BATCH)
    return found


def _look_at(handled: Handled, found: set[str]) -> None:
    for state in (*handled.ended, *handled.raised):
        _look_at_way(state, found)
    if any(state.error is not None and not state.settled for state in handled.raised):
        found.add(signs.THROWN)
    if handled.asked:
        found.add(signs.ASKS_OF_QUEUE)
    if handled.left:
        found.add(signs.LEFT_LOOP)
    for settled in handled.settled:
        _look_at_settled(settled, found)
    for called in handled.called:
        _look_at_call(called, found)


def _look_at_settled(settled: Settled, found: set[str]) -> None:
    if settled.how in RETRIES:
        delay = delay_of(settled.node)
        if delay is None:
            found.add(signs.RETRY_PLAIN if is_plain(settled) else signs.RETRY_ODD)
        elif may_be_long(delay):
            found.add(signs.RETRY_GROWS)
        if any(state.changed is not None for state in settled.states):
            found.add(signs.CHANGED_BODY)
    elif any(state.failed is not None for state in settled.states):
        found.add(signs.ACKED_FAILURE)


def _look_at_way(state: State, found: set[str]) -> None:
    if state.after is not None:
        found.add(signs.WORK_AFTER_ACK)
    if state.failed is not None and state.settled not in RETRIES:
        found.add(signs.CAUGHT_FAILURE)
    if state.lost is not None or state.pending is not None:
        found.add(signs.UNAWAITED)
    if state.risked is not None:
        found.add(signs.WORK_IN_CATCH)
    found.update(_OF_GUARDS[guard] for guard, _ in state.guards if guard in _OF_GUARDS)


def _look_at_call(called: Called, found: set[str]) -> None:
    if called.effect == WORK and any(each.fresh for each in called.all_given):
        found.add(signs.FRESH_KEY)
    if called.effect == WORK and any(each.grown for each in called.all_given):
        found.add(signs.COUNTED_UP)
    if called.name == "fetch" and called.is_awaited and not called.is_checked:
        found.add(signs.UNCHECKED_RESPONSE)
