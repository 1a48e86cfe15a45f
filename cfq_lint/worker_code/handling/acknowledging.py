"""Is each message acknowledged on its own, after its side effect? Said of every way through a handler.

A way that is certainly wrong is bad, whatever the others do. What was not followed is unsure. A way that does nothing with the
message, such as skipping what was seen before, says nothing.
"""

from __future__ import annotations

from cfq_lint.facts.record import record, replace
from cfq_lint.worker_code.handling.following import Follower
from cfq_lint.worker_code.handling.state import ACK, ACK_ALL, NONE, RELATED, RETRY, Flow, Seen, State, TooLong

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.worker_code.lowering.steps import Spot
    from cfq_lint.worker_code.modules.program import Program

GOOD, BAD, UNSURE = "good", "bad", "unsure"


@record
class Remark:
    """Something that is true of the source at a place, and what it means for the question."""

    kind: str
    spot: Spot
    text: str


@record
class Handling:
    """What a handler does with the messages of one queue. `problem` says why nothing is known."""

    remarks: tuple[Remark, ...]
    seen: tuple[Seen, ...]
    problem: str = ""


def handling(program: Program, queue: str, batch_size: int | None) -> Handling:
    """Follow the messages of a queue through the program's handler; a batch of one is the message itself."""
    if program.problem:
        return Handling((), (), program.problem)
    handlers = program.handlers()
    if len(handlers) != 1:
        found = "several queue handlers" if handlers else "no queue handler that can be found by reading"
        said = f"{program.entry} has {found}"
        return Handling((), (), said)
    follower = Follower(program, queue)
    try:
        flow = follower.follow(*handlers[0])
    except (TooLong, RecursionError):
        return Handling(
            (), tuple(follower.seen), f"the handler in {handlers[0][1].spot} has too many ways through it to follow"
        )
    remarks = sorted(
        set(_remarks(flow, handlers[0][1].spot, batch_size)), key=lambda each: (each.kind, each.spot.line, each.text)
    )
    return Handling(tuple(remarks), tuple(follower.seen))


def _remarks(flow: Flow, handler: Spot, batch_size: int | None) -> Iterable[Remark]:
    ended = flow.normal | flow.returned
    every = ended | flow.raised
    given_back = {spot for state in every if state.settled == RETRY for spot in (state.failed, state.noted) if spot}
    given_back |= {state.failed for state in flow.raised if state.failed and not state.settled}
    for state in sorted(every, key=repr):
        for remark in _remarks_on(state, handler, batch_size, given_back, ends=state in ended):
            # Where it is not certain that this queue's messages come that way, neither is that they go wrong.
            yield replace(remark, kind=UNSURE) if state.guessed and remark.kind == BAD else remark


def _remarks_on(state: State, handler: Spot, batch_size: int | None, given_back: set[Spot], *, ends: bool) -> Iterable[Remark]:
    """What one way through means; `ends` says that the handler returns at its end."""
    if state.failed is not None and (ends or state.settled):
        if state.failed not in given_back:
            yield from _swallowed(state, state.failed)
    elif state.settled == ACK:
        yield from _acknowledged(state, state.settled_at or handler)
    elif ends and state.settled != RETRY:
        yield from _left_to_the_end(state, handler, batch_size, are_retried=bool(given_back))


def _swallowed(state: State, failed: Spot) -> Iterable[Remark]:
    if state.doubt is not None:
        yield Remark(UNSURE, failed, f"whether a failure is caught without a retry: {state.doubt} was not followed")
    elif state.before == RELATED:
        yield Remark(UNSURE, failed, "a failure is caught here after work that succeeded; it may be beside the point")
    elif state.settled == ACK:
        assert state.settled_at is not None, "what is settled is settled somewhere"
        yield Remark(
            BAD,
            state.settled_at,
            f"ack() is called as well where the work failed (the try at {failed.seen_from(state.settled_at)})",
        )
    else:
        said = "a failure is caught here and the handler returns: the message counts as acknowledged though its work failed"
        yield Remark(BAD, failed, said)


def _acknowledged(state: State, at: Spot) -> Iterable[Remark]:
    if state.lost is not None:
        yield Remark(
            BAD, state.lost, "forEach() does not wait for its async function: the handler returns before work and ack()"
        )
    elif state.after == RELATED:
        assert state.after_at is not None, "work is done somewhere"
        if state.before == RELATED:
            yield Remark(UNSURE, at, f"work is done before ack() and after it ({state.after_at.seen_from(at)})")
        else:
            yield Remark(BAD, at, f"ack() comes before the work ({state.after_at.seen_from(at)})")
    elif state.floating is not None and state.before != RELATED:
        yield Remark(BAD, at, f"ack() does not wait for the work in waitUntil() ({state.floating.seen_from(at)})")
    elif state.before == RELATED and state.before_at is not None:
        yield Remark(GOOD, at, f"ack() comes after the work ({state.before_at.seen_from(at)})")
    elif state.after != NONE and state.after_at is not None:
        yield Remark(UNSURE, at, f"ack() comes before {state.after_at.seen_from(at)}, which may be the work")
    elif state.doubt is not None:
        yield Remark(UNSURE, at, f"ack() comes after {state.doubt.seen_from(at)}, which may still be at work")


def _left_to_the_end(state: State, handler: Spot, batch_size: int | None, *, are_retried: bool) -> Iterable[Remark]:
    """What `ackAll()` or the end of the handler acknowledges; `are_retried` says that failures are given back one by one."""
    at = state.settled_at if state.settled == ACK_ALL and state.settled_at is not None else handler
    how = "ackAll()" if state.settled == ACK_ALL else "the end of the handler"
    if state.lost is not None:
        yield Remark(
            BAD, state.lost, "forEach() does not wait for its async function: the batch is acknowledged before the work"
        )
    elif state.settled == ACK_ALL and state.after == RELATED and state.before != RELATED and state.after_at is not None:
        yield Remark(BAD, at, f"ackAll() comes before the work ({state.after_at.seen_from(at)})")
    elif state.settled == ACK_ALL and state.after != NONE and state.before != RELATED and state.after_at is not None:
        yield Remark(UNSURE, at, f"ackAll() comes before {state.after_at.seen_from(at)}, which may be the work")
    elif state.doubt is not None and not state.settled:
        where = f" at line {state.doubt.line}" if state.doubt.line else ""
        yield Remark(UNSURE, state.doubt if where else handler, f"what happens{where} was not followed; it may acknowledge")
    elif (state.before == RELATED or state.floating is not None) and batch_size == 1:
        yield Remark(GOOD, at, f"{how} acknowledges after the work, and a batch is one message (max_batch_size 1)")
    elif state.before == RELATED and state.before_at is not None and state.each:
        said = f"{how} acknowledges the whole batch, not each message after its work ({state.before_at.seen_from(at)})"
        what = "a handler that does not get to its end" if are_retried else "one failure"
        yield Remark(BAD, at, f"{said}: {what} delivers all of them again")
    elif state.before == RELATED and state.before_at is not None:
        said = f"{how} acknowledges the whole batch after work for all of it at once ({state.before_at.seen_from(at)})"
        yield Remark(UNSURE, at, f"{said}: right only if that is all or nothing")
    elif state.floating is not None:
        yield Remark(
            BAD, state.floating, f"waitUntil() does the work, and {how} acknowledges the whole batch, not each message"
        )
