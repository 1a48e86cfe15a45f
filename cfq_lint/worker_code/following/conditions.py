"""Conditions: on which ways they hold, and what they tell of a message, an error, a response or a setting."""

from __future__ import annotations

from cfq_lint.worker_code.following.naming import CHANGED
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.ways.state import (
    BELOW_500,
    FAILURE,
    FROM_400,
    HTTP,
    LAST,
    MISSING,
    OF_BODY,
    OF_ERROR,
    OF_READ,
    OF_STATUS,
    REJECTED,
    TYPE,
    Failure,
    Flow,
    State,
)
from cfq_lint.worker_code.ways.values import (
    ATTEMPTS,
    BOOLEAN,
    DATA,
    ERROR,
    FLAG,
    FUNCTION,
    INSTANCE,
    LIST,
    LITERAL,
    MESSAGE,
    OBJECT,
    OPAQUE,
    RESPONSE,
    RESULT,
    STATUS,
    Value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from cfq_lint.worker_code.ways.marks import Mark
    from cfq_lint.worker_code.ways.values import Called, Room

    States: TypeAlias = set[State]
    Ways: TypeAlias = tuple[States, States]

_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "not in", "has", "instanceof"})
_OPPOSITE = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_OK_FROM, _BAD_FROM, _SERVER_FROM, _TOO_MANY = 200, 400, 500, 429
_ASKED = frozenset({OF_ERROR, OF_STATUS, OF_BODY})
"""Of these it matters that a condition asked, and not what came of it."""
_KEYED = frozenset({FLAG, LIST, LITERAL})
UNKNOWN = object()
"""What a flag has where nobody knows its value."""


class Conditions:
    """Follows conditions. The values of expressions are left to whoever knows them."""

    def value(self, node: n.Node, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """What an expression stands for, and the ways on from it."""
        raise NotImplementedError

    def mark(self, node: n.Node, room: Room) -> Mark:
        """The place of a node."""
        raise NotImplementedError

    def condition(self, node: n.Node, states: States, room: Room, out: Flow) -> Ways:
        """The ways on which a condition holds, and those on which it does not."""
        match node:
            case n.Not(value):
                holds, fails = self.condition(value, states, room, out)
                return fails, holds
            case n.Binary("and", left, right):
                holds, fails = self.condition(left, states, room, out)
                inner, more = self.condition(right, holds, room, out)
                return inner, fails | more
            case n.Binary("or" | "??", left, right):
                holds, fails = self.condition(left, states, room, out)
                more, inner = self.condition(right, fails, room, out)
                return holds | more, inner
            case n.Binary(operator, left, right) if operator in _COMPARISONS:
                first, states = self.value(left, states, room, out)
                second, states = self.value(right, states, room, out)
                return self.compared(node, operator, (first, second), states, room)
            case n.Other((only,)):
                return self.condition(only, states, room, out)
        known, states = self.value(node, states, room, out)
        return self.truth(known, states, self.mark(node, room))

    def truth(self, value: Value, states: States, at: Mark) -> Ways:
        """The ways on which a value counts as true, and the others."""
        if value.kind == LITERAL:
            holds = bool(value.literal)
            return (states, set()) if holds else (set(), states)
        if value.kind == FLAG:
            return self._flagged(value, states, bool)
        if value.is_queue:
            return self.unsure(states)
        if value.key is not None and value.kind not in _KEYED:
            return self._on_some_ways(value, states, at)
        if value.guard is not None:
            return self._guarded(value.guard, states, at)
        if value.kind in {MESSAGE, FUNCTION, INSTANCE, OBJECT} or (value.kind == LIST and value.key is None):
            return states, set()
        if value.kind == ERROR:
            return self.both(states, OF_ERROR)
        if value.kind == ATTEMPTS:
            return self.both(states, OF_BODY)
        if value.kind == OPAQUE and value.chain[:1] == ("env",) and len(value.chain) > 1 and value.call is None:
            return states, {state._replace(guards=state.guards | {(MISSING, at)}) for state in states}
        if value.call is not None:
            self.looked_at(value.call)
        if value.kind in {RESULT, RESPONSE}:
            return self.both(states, OF_READ)
        if value.kind == DATA:
            return self.both(states, OF_BODY)
        return set(states), set(states)

    def _on_some_ways(self, value: Value, states: States, at: Mark) -> Ways:
        """The same of a name that has a literal value on some ways, and another one on others."""
        known = {state for state in states if state.flag(value.key, UNKNOWN) is not UNKNOWN}
        holds, fails = self._flagged(value, known, bool)
        more, less = self.truth(value.under(None), states - known, at)
        return holds | more, fails | less

    def looked_at(self, call: Called) -> None:
        """Note that somebody looks at what a call gave."""
        call.is_checked = True

    def both(self, states: States, guard: str) -> Ways:
        """Both ways, each knowing which it is where anybody asks that; else that it was asked."""
        holds = {state._replace(guards=state.guards | {(guard, True)}) for state in states}
        if guard in _ASKED:
            return holds, set(holds)
        return holds, {state._replace(guards=state.guards | {(guard, False)}) for state in states}

    def _flagged(self, value: Value, states: States, test: Any) -> Ways:
        holds, fails = set(), set()
        for state in states:
            known = state.flag(value.key, UNKNOWN)
            if known is UNKNOWN or test(known):
                holds.add(state)
            if known is UNKNOWN or not test(known):
                fails.add(state)
        return holds, fails

    def _guarded(self, guard: tuple[str, bool, Any], states: States, at: Mark) -> Ways:
        """What a look at a result tells: of a failure, on the ways on which it is one."""
        kind, holds_for, about = guard
        if kind in {HTTP, REJECTED, FAILURE}:
            if about is not None and hasattr(about, "is_checked"):
                about.is_checked = True
            failed = {self.failing(state, kind, about, at) for state in states}
            return (failed, set(states)) if holds_for else (set(states), failed)
        if kind == MISSING:
            missing = {state._replace(guards=state.guards | {(MISSING, at)}) for state in states}
            return (missing, set(states)) if holds_for else (set(states), missing)
        return self.both(states, kind)

    def failing(self, state: State, kind: str, about: Any, at: Mark) -> State:
        """A way on which a call turns out to have failed: it was no work done."""
        if about is None:
            return state._replace(failed=state.failed or Failure(kind, at, at)) if not state.settled else state
        called: Mark = about.mark
        if state.settled or state.failed is not None:
            return state
        done = tuple(each for each in state.done if each is not called)
        return state._replace(failed=Failure(kind, called, at), done=done)

    # --- comparisons

    def compared(self, node: n.Node, operator: str, sides: tuple[Value, Value], states: States, room: Room) -> Ways:
        """The ways on which a comparison holds, and the others."""
        left, right = sides
        known = {LITERAL, FLAG}
        if left.kind in known and right.kind in known and operator in {"==", "!=", "in", "<", "<=", ">", ">="}:
            return self._exactly(node, operator, left, right, states, room)
        if left.kind == LITERAL and right.kind not in known and operator in {"==", "!=", *_OPPOSITE}:
            left, right, operator = right, left, _OPPOSITE.get(operator, operator)
        if operator in {"in", "not in", "has"}:
            return self._contained(node, operator, left, right, states, room)
        if operator == "instanceof":
            if left.kind == ERROR and right.chain != ("Error",):
                return self.both(states, OF_ERROR)
            return set(states), set(states)
        if right.kind == LITERAL and right.literal is None and operator in {"==", "!="}:
            holds, fails = self.truth(left, states, self.mark(node, room))
            return (fails, holds) if operator == "==" else (holds, fails)
        if left.kind == FLAG and right.kind not in known:
            return set(states), set(states)
        return self._about(node, operator, left, right, states, room)

    def _exactly(self, node: n.Node, operator: str, left: Value, right: Value, states: States, room: Room) -> Ways:
        if (left.is_queue or right.is_queue) and CHANGED not in {left.name, right.name}:
            self.asked_of_queue(self.mark(node, room), is_it=left.kind == right.kind and left.literal == right.literal)
        holds, fails = set(), set()
        for state in states:
            mine = left.literal if left.kind == LITERAL else state.flag(left.key, UNKNOWN)
            its = right.literal if right.kind == LITERAL else state.flag(right.key, UNKNOWN)
            verdict = None if UNKNOWN in (mine, its) else _verdict(operator, mine, its)
            if verdict is not False:
                holds.add(state)
            if verdict is not True:
                fails.add(state)
        return holds, fails

    def asked_of_queue(self, at: Mark, *, is_it: bool = False) -> None:
        """Note that the queue's name is compared with something that is known, and whether that is its name."""
        raise NotImplementedError

    def _contained(self, node: n.Node, operator: str, left: Value, right: Value, states: States, room: Room) -> Ways:
        """`name in names`."""
        items = right.fields if right.kind == OBJECT and right.key is None else None
        if left.kind == LITERAL and items is not None:
            is_in = left.literal in items or left.literal in {each.literal for each in items.values() if right.name == LIST}
            if left.is_queue and left.name != CHANGED:
                self.asked_of_queue(self.mark(node, room), is_it=is_in)
            return (states, set()) if is_in == (operator != "not in") else (set(), states)
        if left.kind == DATA:
            return self.both(states, TYPE) if items is not None and operator != "not in" else self.both(states, OF_BODY)
        if left.is_queue:
            return self.unsure(states)
        call = left.call or right.call
        return self.both(states, OF_READ) if call is not None else (set(states), set(states))

    def unsure(self, states: States) -> Ways:
        """Both ways, of which it is not certain that this queue's messages take them."""
        guessed = {state._replace(guessed=True) for state in states}
        return guessed, set(guessed)

    def _about(self, node: n.Node, operator: str, left: Value, right: Value, states: States, room: Room) -> Ways:
        if left.is_queue or right.is_queue:
            return self.unsure(states)
        number = right.literal if right.kind == LITERAL else None
        if left.kind == STATUS:
            return self._of_status(operator, left, number, states, self.mark(node, room))
        if ATTEMPTS in {left.kind, right.kind}:
            is_last = operator in {">", ">=", "=="}
            if right.kind == ATTEMPTS and left.kind != ATTEMPTS:
                is_last = operator in {"<", "<=", "=="}
            last = {state._replace(guards=state.guards | {(LAST, True)}) for state in states}
            early = {state._replace(guards=state.guards | {(LAST, False)}) for state in states}
            return (last, early) if is_last else (early, last)
        for each in (left, right):
            if each.call is not None:
                self.looked_at(each.call)
        if ERROR in {left.kind, right.kind}:
            return self.both(states, OF_ERROR)
        if left.kind == DATA and right.kind == LITERAL and isinstance(right.literal, str) and operator in {"==", "!="}:
            yes, no = self.both(states, TYPE)
            return (yes, no) if operator == "==" else (no, yes)
        if left.guard is not None and right.kind == LITERAL and operator in {"==", "!="}:
            holds, fails = self.truth(left, states, self.mark(node, room))
            return (holds, fails) if bool(right.literal) == (operator == "==") else (fails, holds)
        for each in (left, right):
            if each.kind in {RESULT, RESPONSE}:
                return self.both(states, OF_READ)
        if DATA in {left.kind, right.kind}:
            return self.both(states, OF_BODY)
        if BOOLEAN in {left.kind, right.kind}:
            return set(states), set(states)
        return set(states), set(states)

    def _of_status(self, operator: str, left: Value, number: object, states: States, at: Mark) -> Ways:
        """What a look at an HTTP status tells."""
        call = left.call
        if call is not None:
            call.is_checked = True
        if not isinstance(number, int):
            return self.both(states, OF_STATUS)
        self.asked_of_status(number)
        failed = {self.failing(state, HTTP, call, at) for state in states}
        if operator in {">=", ">"} and _OK_FROM < number + (operator == ">") <= _BAD_FROM:
            return {state._replace(guards=state.guards | {(FROM_400, True)}) for state in failed}, set(states)
        if operator in {"<", "<="} and _OK_FROM <= number - (operator == "<") < _BAD_FROM:
            return set(states), failed
        if operator in {">=", ">", "=="} and number >= _BAD_FROM:
            holds, fails = self.both(failed, OF_STATUS)[0], self.both(states, OF_STATUS)[1]
            return holds, {
                state._replace(guards=state.guards | {(BELOW_500, True)}) for state in fails
            } if operator != "==" else fails
        if operator in {"<", "<="}:
            holds, fails = self.both(states, OF_STATUS)[0], self.both(failed, OF_STATUS)[1]
            return {state._replace(guards=state.guards | {(BELOW_500, True)}) for state in holds}, fails
        if operator == "==" and number < _BAD_FROM:
            return set(states), failed
        if operator == "!=" and number < _BAD_FROM:
            return failed, set(states)
        return self.both(states, OF_STATUS)

    def asked_of_status(self, number: int) -> None:
        """Note that a response's status is compared with a number."""
        raise NotImplementedError


def _verdict(operator: str, left: Any, right: Any) -> bool | None:
    try:
        match operator:
            case "==":
                return bool(left == right)
            case "!=":
                return bool(left != right)
            case "in":
                return left in right if isinstance(right, str) and isinstance(left, str) else None
            case "<":
                return bool(left < right)
            case "<=":
                return bool(left <= right)
            case ">":
                return bool(left > right)
            case _:
                return bool(left >= right)
    except TypeError:
        return None
