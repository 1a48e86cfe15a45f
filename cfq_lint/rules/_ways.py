"""What the rules about a consumer's code share: places of the tokens that are to be changed, and questions to a way."""

from __future__ import annotations

import re

from cfq_lint.model.finding import Related
from cfq_lint.worker_code.tree.asking import walk
from cfq_lint.worker_code.ways.state import ACK, ACK_ALL, ACKS, INVALID, in_order

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeVar

    T = TypeVar("T")

    from cfq_lint.model.consuming import Code, Consuming
    from cfq_lint.source.text import Place
    from cfq_lint.worker_code.following.handling import Handled
    from cfq_lint.worker_code.ways.marks import Mark
    from cfq_lint.worker_code.ways.state import State
    from cfq_lint.worker_code.ways.values import Called

_PATH = re.compile(r"(?:await\s+|new\s+)?[\w$]+(?:\s*[?!]*\.\s*[\w$]+)*")
_METHOD = re.compile(r"\.\s*(ack|retry|ackAll|retryAll|ack_all|retry_all)\b")
_WORD = re.compile(r"\w+")


def token(code: Code, mark: Mark) -> Place:
    """The first words at a place: the path of a call, or a keyword."""
    start = code.offset(mark)
    found = _PATH.match(code.lines(mark).text, start)
    return code.place(mark, start, len(found[0]) if found is not None else 1)


def keyword(code: Code, mark: Mark) -> Place:
    """The first word at a place, such as `catch` or `return`."""
    start = code.offset(mark)
    found = _WORD.match(code.lines(mark).text, start)
    return code.place(mark, start, len(found[0]) if found is not None else 1)


def settling(code: Code, mark: Mark) -> Place:
    """The name of the method that a call settles by."""
    start = code.offset(mark)
    found = _METHOD.search(code.lines(mark).text, start)
    return code.place(mark, found.start(1), len(found[1])) if found is not None else token(code, mark)


def span_of_given(code: Code, mark: Mark) -> tuple[int, int] | None:
    """Where the one argument of a call starts and ends: up to the bracket that closes it, or a comma."""
    text, start = code.lines(mark).text, code.offset(mark)
    depth, quote = 0, ""
    for at in range(start, len(text)):
        letter = text[at]
        if quote:
            quote = "" if letter == quote and text[at - 1] != "\\" else quote
        elif letter in "\"'`":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}" or (letter == "," and depth == 0):
            if depth == 0:
                return start, start + len(text[start:at].rstrip())
            depth -= 1
    return None


def order(mark: Mark) -> tuple[str, int, int]:
    """The order of places."""
    return mark.order


def stands_in(mark: Mark, around: Mark) -> bool:
    """Whether a place is within another one."""
    return any(each is mark.node for each in walk(around.node))


def nearest(called: Called, around: Mark) -> Mark:
    """The call that stands in a loop or `catch` itself, and that leads to a call in what it calls."""
    inside = {id(each) for each in walk(around.node)}
    return next((each for each in (*called.through, called.mark) if id(each.node) in inside), called.mark)


def line_of(mark: Mark, seen_from: Mark) -> str:
    """The line of a place, from 1, with its file where another place is in another one."""
    line = mark.node.at[0] + 1
    return f"line {line}" if mark.module.path == seen_from.module.path else f"{mark.module.path}:{line}"


def related(code: Code, mark: Mark, message: str) -> Related:
    """The other end of a way."""
    return Related(token(code, mark), message)


def calls(handled: Handled) -> dict[Mark, Called]:
    """The calls by their places."""
    return {each.mark: each for each in handled.called}


def every_way(handled: Handled) -> Iterator[State]:
    """All ways, those that return first, in an order that does not depend on chance."""
    yield from in_order(handled.ended)
    yield from in_order(handled.raised)


def is_plain(state: State) -> bool:
    """Whether nothing is unsure about a way."""
    return not state.guessed and state.doubt is None


def counts_as_done(state: State) -> bool:
    """Whether a way that returns leaves the message acknowledged."""
    return state.settled in {"", ACK, ACK_ALL}


def is_acked(state: State) -> bool:
    """Whether a way acknowledges in so many words."""
    return state.settled in ACKS


def has_failed(state: State) -> bool:
    """Whether work failed on a way, not a body that can never be right, and nothing was done about it."""
    return state.failed is not None and state.failed.kind != INVALID


def untouched(state: State) -> bool:
    """Whether nothing at all was done for the message on a way."""
    return not (state.done or state.after or state.failed or state.noted or state.pending or state.lost or state.doubt)


def is_given_back(handled: Handled, caught: Mark) -> bool:
    """Whether a failure that is caught at a place is given back on some way."""
    for state in handled.ended | handled.raised:
        failures = {each.caught for each in (state.failed, state.noted) if each is not None}
        is_thrown = state.error is not None and not state.settled and not state.error[1].is_call
        if caught in failures and (is_thrown or state.settled not in {"", ACK, ACK_ALL}):
            return True
    return False


def per_queue(code: Code) -> Iterator[Consuming]:
    """The consumers whose handler was followed."""
    for each in code.consuming:
        if not each.handled.problem:
            yield each


def once(found: Iterable[tuple[Mark, T]]) -> Iterator[tuple[Mark, T]]:
    """The first of what is said of each place, in the order of the text."""
    seen: dict[Mark, T] = {}
    for mark, said in found:
        seen.setdefault(mark, said)
    yield from sorted(seen.items(), key=lambda each: order(each[0]))


_LOOKED_AT = 300


def text_at(code: Code, mark: Mark) -> str:
    """The text from a place on, as much of it as one looks at."""
    start = code.offset(mark)
    return code.lines(mark).text[start : start + _LOOKED_AT]
