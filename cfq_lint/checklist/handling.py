"""What items 3 and 4 ask of a consumer's code, answered from the ways of its messages, as the rules of family 82 are."""

from __future__ import annotations

import re

from cfq_lint.facts.record import record
from cfq_lint.rules.registry import load
from cfq_lint.worker_code.ways.keys import IDEMPOTENCY_KEY, counted_up, idempotency_key, made_here, refuses
from cfq_lint.worker_code.ways.state import ACK, ACK_ALL, OF_READ, READ, WORK
from cfq_lint.worker_code.ways.values import CHANCE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.consuming import Code, Consuming
    from cfq_lint.worker_code.ways.marks import Mark
    from cfq_lint.worker_code.ways.state import State
    from cfq_lint.worker_code.ways.values import Called, Value

GOOD, BAD, UNSURE = "good", "bad", "unsure"
_AGAINST = (
    "cfq820_ack_before_work",
    "cfq821_failure_swallowed",
    "cfq822_failure_acked",
    "cfq823_work_not_awaited",
    "cfq825_return_in_loop",
    "cfq826_batch_fails_together",
    "cfq837_batch_acked_unprocessed",
)
"""The rules whose findings say that a message is not acknowledged on its own, and after its work."""
_KEEPS = frozenset({"put", "set", "add"})
_COLLECTS = frozenset({"push", "append", "add", "set"})
_INSERTS = re.compile(r"\binsert\s+(?:or\s+\w+\s+)?into\s+[\"'`\[]?(\w+)", re.IGNORECASE)
_LOOKS = re.compile(r"\bselect\b[^;]*?\bfrom\s+[\"'`\[]?(\w+)[^;]*?\bwhere\b", re.IGNORECASE | re.DOTALL)


@record
class Remark:
    """Something that is true of the source at a place, `path:line:column`, and what it means for the question."""

    kind: str
    spot: str
    text: str


def acknowledging(code: Code, facts: Facts) -> tuple[Remark, ...]:
    """Is each message acknowledged on its own, after its work? What speaks against it first."""
    (consuming,) = code.consuming
    found = [each for name in _AGAINST for each in load(name).check(code, facts)]
    bad = [Remark(BAD, f"{each.path}:{each.line}:{each.column}", each.message) for each in found]
    remarks = [
        *bad,
        *sorted({*_on_ways(code, consuming), *_fails(code, consuming)}, key=lambda each: (each.kind, each.spot, each.text)),
    ]
    # What a rule says of a place is enough; what is right elsewhere is shown beside it.
    return tuple(dict.fromkeys(each for each in remarks if not bad or each in bad or each.kind != BAD))


def _on_ways(code: Code, consuming: Consuming) -> Iterator[Remark]:
    handled = consuming.handled
    loops = {each.mark: each.loops for each in handled.called}
    is_done_before = any(state.done for state in handled.ended)
    for mark in handled.doubts:
        yield Remark(UNSURE, code.spot(mark), "what happens here was not followed; it may acknowledge")
    for state in handled.ended:
        work = state.done[0] if state.done else state.pending
        if state.doubt is not None or state.failed is not None:
            continue
        if work is None:
            if state.after is not None and state.settled_at is not None and not state.guessed:
                kind = UNSURE if is_done_before else BAD
                yield Remark(kind, code.spot(state.settled_at), f"ack() comes before the work ({_line(code, state.after)})")
            continue
        if state.guessed:
            yield Remark(UNSURE, code.spot(work), "whether this queue's messages come here is not certain")
        elif state.settled == ACK and state.settled_at is not None:
            yield _after_work(code, state, work)
        elif state.settled in {"", ACK_ALL}:
            yield _left_to_the_end(code, consuming, state, work, is_each=bool(loops.get(work)))


def _fails(code: Code, consuming: Consuming) -> Iterator[Remark]:
    """`finally { message.ack() }`: what failed is acknowledged on its way out."""
    handled = consuming.handled
    works = {each.mark for each in handled.called if each.effect == WORK or each.related}
    for state in handled.raised:
        if state.settled != ACK or state.settled_at is None or state.error is None or state.done or state.guessed:
            continue
        at = state.error[1]
        is_before = at.module is state.settled_at.module and at.node.at < state.settled_at.node.at
        if at in works and is_before and state.doubt is None:
            yield Remark(BAD, code.spot(state.settled_at), f"ack() is called as well where the work failed ({_line(code, at)})")


def _after_work(code: Code, state: State, work: Mark) -> Remark:
    assert state.settled_at is not None, "what is settled is settled somewhere"
    at = code.spot(state.settled_at)
    if state.after is not None:
        return Remark(UNSURE, at, f"work is done before ack() and after it ({_line(code, state.after)})")
    if not state.done:
        return Remark(BAD, at, f"ack() does not wait for the work in waitUntil() ({_line(code, work)})")
    return Remark(GOOD, at, f"ack() comes after the work ({_line(code, work)})")


def _left_to_the_end(code: Code, consuming: Consuming, state: State, work: Mark, *, is_each: bool) -> Remark:
    """What `ackAll()` or the end of the handler acknowledges."""
    at = code.spot(state.settled_at if state.settled_at is not None else work)
    how = "ackAll()" if state.settled == ACK_ALL else "the end of the handler"
    if consuming.batch_size == 1:
        return Remark(GOOD, at, f"{how} acknowledges after the work, and a batch is one message (max_batch_size 1)")
    is_kept = any(each.whole and each.name in _COLLECTS for each in consuming.handled.called)
    if is_each and not is_kept:
        return Remark(BAD, at, f"{how} acknowledges the whole batch, not each message after its work")
    return Remark(UNSURE, at, f"{how} acknowledges the whole batch after work for all of it: right if that is all or nothing")


def _line(code: Code, mark: Mark) -> str:
    place = code.place(mark)
    return f"{place.path}:{place.line}" if place.path != code.program.entry else f"line {place.line}"


def deduplicating(code: Code) -> tuple[Remark, ...]:
    """Does the consumer refuse what it has seen, by a key that came with the message?"""
    (consuming,) = code.consuming
    handled = consuming.handled
    calls = [each for each in handled.called if each.effect != READ and (each.related or each.loops)]
    remarks = [remark for each in calls for remark in _by_key(code, each)]
    skips = any(state.tells(OF_READ) and not state.done for state in handled.ended)
    looked = [each for each in handled.called if each.effect == READ and each.on_env and each.related] if skips else []
    remarks += [remark for each in calls for remark in _looked_up(code, each, looked)]
    if not remarks:
        said = "a row is inserted; whether one of its columns is unique stands in the database's schema"
        remarks += [Remark(UNSURE, code.spot(each.mark), said) for each in calls if _INSERTS.search(each.text)]
    return tuple(dict.fromkeys(remarks))


def _by_key(code: Code, called: Called) -> Iterator[Remark]:
    spot = code.spot(called.mark)
    names, is_fresh = idempotency_key(called)
    if names is not None or IDEMPOTENCY_KEY.search(called.text):
        keys = [key for each in called.all_given for key in _keys_in(each)]
        if is_fresh or any(key.fresh for key in keys):
            yield Remark(BAD, spot, "the idempotency key is made here: each delivery gets another one")
        elif called.related and names:
            yield Remark(GOOD, spot, "an idempotency key is passed on downstream")
    elif made_here(called):
        yield Remark(BAD, spot, f"the {made_here(called)} of this write is made here: each delivery makes another one")
    elif called.is_awaited and refuses(called) and not any(each.fresh == CHANCE for each in called.all_given):
        yield Remark(GOOD, spot, "the insert passes over what is there already")


def _keys_in(value: Value, depth: int = 3) -> Iterator[Value]:
    """What an object gives as idempotency key, itself or in its headers."""
    for name, each in (value.fields or {}).items() if depth else ():
        if IDEMPOTENCY_KEY.search(str(name)):
            yield each
        yield from _keys_in(each, depth - 1)


def _looked_up(code: Code, called: Called, looked: list[Called]) -> Iterator[Remark]:
    """A store that is asked first and written to afterwards; what is counted up is no such note."""
    if called.effect != WORK or counted_up(called) is not None:
        return
    tables = {each.lower() for each in _INSERTS.findall(called.text)}
    for each in looked:
        is_same = called.name in _KEEPS and called.on_env and each.chain[:2] == called.chain[:2]
        if is_same or not tables.isdisjoint(table.lower() for table in _LOOKS.findall(each.text)):
            where = ".".join(called.chain[:2]) if is_same else f"the table {min(tables)}"
            said = f"what was seen is kept in {where} and looked up at {_line(code, each.mark)}"
            yield Remark(GOOD, code.spot(called.mark), said)
            return
