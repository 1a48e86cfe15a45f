"""Statements and functions: every way of a message through them."""

from __future__ import annotations

import re

from cfq_lint.worker_code.following.functions import Functions
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.asking import walk
from cfq_lint.worker_code.tree.statements import BREAK, CONTINUE, RAISE, RETURN
from cfq_lint.worker_code.ways.state import (
    DEFAULT_ARM,
    FAILURE,
    INVALID,
    OF_BODY,
    OF_ERROR,
    READ,
    TYPE,
    Flow,
    State,
    TooLong,
    in_order,
    widened,
)
from cfq_lint.worker_code.ways.values import (
    ERROR,
    FUNCTION,
    OBJECT,
    OPAQUE,
    Room,
    Value,
    literal,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.following.conditions import States

_FINAL = re.compile(
    r"valid|parse|permanent|non_?retr|unretr|terminal|fatal|bad_?request|poison|schema|zod|malformed|unprocessable",
    re.IGNORECASE,
)
_OF_VALUES = re.compile(r"Validation|Value|Key|Type|JSON|Decode|Parse|Schema|Attribute|Zod|Syntax", re.IGNORECASE)
_STATES_MAX = 2000


class Statements(Functions):
    """Runs statements."""

    def block(self, nodes: tuple[n.Node, ...], states: States, room: Room) -> Flow:
        """The ways through statements."""
        for each in nodes:
            if isinstance(each, n.Lambda) and each.name:
                room.names[each.name] = Value(FUNCTION, function=each, room=room, module=room.module)
        flow = Flow(states)
        for each in nodes:
            if not flow.normal:
                break
            if len(flow.normal) > _STATES_MAX:
                raise TooLong
            part = self.statement(each, flow.normal, room)
            flow.leave(part)
            flow.normal = widened(part.normal)
        flow.raised = widened(flow.raised)
        return flow

    def statement(self, node: n.Node, states: States, room: Room) -> Flow:
        """The ways through one statement."""
        match node:
            case n.Lambda() | n.Class():
                return Flow(states)
            case n.Either(test, then, other):
                return self.chosen(test, then, other, states, room)
            case s.Each():
                return self.each(node, states, room)
            case s.Repeat():
                return self.repeated(node, states, room)
            case s.Switch():
                return self.switched(node, states, room)
            case s.Attempt():
                return self.tried(node, states, room)
            case s.With():
                return self.within(node, states, room)
            case s.Leave(kind, values):
                return self.left(node, kind, values, states, room)
            case n.Other(inner) if any(isinstance(each, _STATEMENTS) for each in inner) or len(inner) != 1:
                return self.block(inner, states, room)
            case n.Other((only,)):
                return self.statement(only, states, room)
        flow = Flow()
        self.unused = node
        value, after = self.value(node, states, room, flow)
        flow.normal = self.discarded(value, node, after, room, flow) if not isinstance(node, n.Bind) else after
        return flow

    def chosen(self, test: n.Node, then: n.Node, other: n.Node, states: States, room: Room) -> Flow:
        """`if`."""
        flow = Flow()
        holds, fails = self.condition(test, states, room, flow)
        is_type = any(state.knows(TYPE) or state.knows(TYPE, False) for state in holds | fails)
        if is_type and other.parts and not isinstance(other, n.Either) and not _is_chain(other):
            fails = self._as_default(fails, other, room)
        elif is_type and then.parts and all(state.knows(TYPE, False) for state in holds):
            holds = self._as_default(holds, then, room)
        first = self.statement(then, holds, room) if holds else Flow()
        second = self.statement(other, fails, room) if fails else Flow()
        flow.leave(first)
        flow.leave(second)
        flow.normal = self.merged(first.normal, second.normal, states)
        return flow

    def _as_default(self, states: States, node: n.Node, room: Room) -> States:
        """The arm for messages of a type that no other arm is for."""
        at = self.mark(node, room)
        return {
            state._replace(guards=state.guards | {(DEFAULT_ARM, at)})
            if state.knows(TYPE, False) and not state.knows(TYPE)
            else state
            for state in states
        }

    def switched(self, node: s.Switch, states: States, room: Room) -> Flow:
        """A choice among cases."""
        flow = Flow()
        subject, states = self.value(node.subject, states, room, flow)
        left, default, before = states, None, states
        ends: list[States] = []
        for case in node.cases:
            if not case.options:
                default = case
                continue
            taken: set[State] = set()
            for option in case.options:
                value, left = self.value(option, left, room, flow)
                holds, left = self.compared(option, "==", (subject, value), left, room)
                taken |= holds
            ends.append(self._case(node, case, taken, room, flow) if taken else set())
        if default is not None and left:
            marked = self._as_default(left, default, room) if default.body.parts else left
            ends.append(self._case(node, default, marked, room, flow))
        elif left:
            ends.append(left)
        merged: States = ends[0] if ends else left
        for each in ends[1:]:
            merged = self.merged(merged, each, before)
        flow.normal = merged
        return flow

    def _case(self, node: s.Switch, case: s.Case, states: States, room: Room, flow: Flow) -> States:
        part = self.statement(case.body, states, room)
        broken = part.broken if node.is_left else set()
        if node.is_left:
            part.broken = set()
        flow.leave(part)
        return part.normal | broken

    # --- failures

    def tried(self, node: s.Attempt, states: States, room: Room) -> Flow:
        """What is thrown in the body goes to the handlers, and everything through the final block."""
        body = self.statement(node.body, states, room)
        flow = Flow(body.normal)
        flow.leave(body)
        if node.handlers:
            flow.raised = set()
            self._handled(node, body.raised, flow, room)
            orelse = self.statement(node.orelse, body.normal, room) if body.normal else Flow()
            flow.leave(orelse)
            flow.normal = (flow.normal - body.normal) | orelse.normal if node.orelse.parts else flow.normal
        if node.final.parts:
            flow = self._finally(node, flow, room)
        return flow

    def _handled(self, node: s.Attempt, raised: States, flow: Flow, room: Room) -> None:
        is_caught_whole = False
        for handler in node.handlers:
            at = self.mark(handler, room)
            only_values = bool(handler.options) and all(_OF_VALUES.search(_named(each)) for each in handler.options)
            taken = {state for state in raised if not only_values or (state.error is not None and state.error[0] == INVALID)}
            if handler.options and not only_values:
                taken = {state._replace(guards=state.guards | {(OF_ERROR, True)}) for state in taken}
            if handler.name:
                room.names[handler.name] = Value(ERROR, related=True)
            part = (
                self.statement(handler.body, {self.caught(state, at, node.body) for state in taken}, room) if taken else Flow()
            )
            flow.leave(part)
            flow.normal = flow.normal | part.normal
            is_caught_whole = is_caught_whole or not handler.options
        if not is_caught_whole:
            flow.raised |= raised

    def _finally(self, node: s.Attempt, flow: Flow, room: Room) -> Flow:
        """Each way out goes on as it was."""
        out = Flow()
        at = self.mark(node, room)
        for way in ("normal", "returned", "broken", "continued"):
            part = self.statement(node.final, getattr(flow, way), room) if getattr(flow, way) else Flow()
            out.leave(part)
            setattr(out, way, getattr(out, way) | part.normal)
        for state in in_order(flow.raised):
            part = self.statement(node.final, {self.caught(state, at)}, room)
            out.leave(part)
            out.raised |= {each._replace(error=state.error) for each in part.normal}
        return out

    def within(self, node: s.With, states: States, room: Room) -> Flow:
        """A context."""
        flow = Flow()
        for item in node.items:
            value, states = self.value(item, states, room, flow)
            for target in node.targets:
                if isinstance(target, n.Name):
                    is_group = bool(value.chain) and value.chain[-1] == "TaskGroup"
                    room.names[target.id] = Value(
                        OPAQUE, chain=value.chain, name="group" if is_group else "", related=value.related, call=value.call
                    )
        part = self.statement(node.body, states, room)
        flow.leave(part)
        flow.normal = part.normal
        if node.swallows is not None:
            at = self.mark(node, room)
            flow.normal = flow.normal | {self.caught(state, at) for state in part.raised}
            flow.raised = set() if node.swallows else flow.raised
        return flow

    def left(self, node: s.Leave, kind: str, values: tuple[n.Node, ...], states: States, room: Room) -> Flow:
        """`return`, `throw`, `break` or `continue`."""
        flow = Flow()
        if kind == RETURN:
            value, states = self.value(values[0], states, room, flow) if values else (literal(None), states)
            states = self._instead(value, states, room)
            flow.returned = states
            room.returned.append((states, value))
            if room.loops and states:
                self.left_loop(node, states, room)
            return flow
        states = self.values(values, states, room, flow)[1] if kind == RAISE else states
        if kind == RAISE:
            name = _named(values[0]) if values else ""
            if self.loops:
                self.in_loop.add(self.mark(node, room))
            for state in states:
                is_final = _FINAL.search(name) is not None or (state.failed is None and _is_about_body(state))
                why = state.failed.kind if state.failed is not None and not values else INVALID if is_final else FAILURE
                flow.throw([state], why, self.mark(node, room))
        elif kind == BREAK:
            flow.broken = states
        elif kind == CONTINUE:
            flow.continued = states
        return flow

    def _instead(self, value: Value, states: States, room: Room) -> States:
        """The ways on which a function gives something else for what could not be read: that was dealt with."""
        fields = value.fields or {}
        says_so = {"ok", "success", "error", "errors", "status", "message"} & set(fields)
        if len(room.calls) < 2 or value.kind != OBJECT or says_so:  # noqa: PLR2004 - the handler, and a function that it calls
            return states
        return {
            state._replace(failed=None, noted=state.noted or state.failed) if self._was_reading(state) else state
            for state in states
        }

    def _was_reading(self, state: State) -> bool:
        called = self.called.get(id(state.failed.at.node)) if state.failed is not None and not state.settled else None
        return called is not None and called.effect == READ

    def left_loop(self, node: s.Leave, states: States, room: Room) -> None:
        """Note that a `return` ends a loop over messages."""
        raise NotImplementedError


_STATEMENTS = (s.Each, s.Repeat, s.Switch, s.Attempt, s.With, s.Leave, n.Either, n.Bind, n.Lambda, n.Class)


def _is_about_body(state: State) -> bool:
    """Whether a condition on the body alone led here."""
    return any(guard == OF_BODY for guard, _ in state.guards) and not any(
        guard in {"read", "status"} for guard, _ in state.guards
    )


def _is_chain(node: n.Node) -> bool:
    """Whether an `else` goes on with another `if`."""
    inner = node
    while isinstance(inner, n.Other) and len(inner.inner) == 1:
        inner = inner.inner[0]
    return isinstance(inner, n.Either)


def _named(node: n.Node) -> str:
    """The names in an expression, one after the other."""
    return " ".join(
        each.id if isinstance(each, n.Name) else each.name for each in walk(node) if isinstance(each, n.Name | n.Member)
    )
