"""Statements and functions: every way of a message through them."""

from __future__ import annotations

import re

from cfq_lint.worker_code.lowering.steps import BREAK, CONTINUE, RAISE, RETURN
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.ways.conditions import UNKNOWN
from cfq_lint.worker_code.ways.lists import Lists, is_of_messages
from cfq_lint.worker_code.ways.state import (
    DEFAULT_ARM,
    FAILURE,
    INVALID,
    OF_BODY,
    OF_ERROR,
    TYPE,
    Flow,
    State,
    TooLong,
    widened,
)
from cfq_lint.worker_code.ways.values import (
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
    Room,
    Value,
    holds_message,
    literal,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfq_lint.worker_code.ways.conditions import States

_FINAL = re.compile(
    r"valid|parse|permanent|non_?retr|unretr|terminal|fatal|bad_?request|poison|schema|zod|malformed|unprocessable",
    re.IGNORECASE,
)
_OF_VALUES = re.compile(r"Validation|Value|Key|Type|JSON|Decode|Parse|Schema|Attribute|Zod|Syntax", re.IGNORECASE)
_STATES_MAX = 2000


class Following(Lists):
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

    # --- loops

    def each(self, node: s.Each, states: States, room: Room) -> Flow:
        """A loop over elements: of the batch's messages this one comes by once, of others perhaps one."""
        flow = Flow()
        over, states = self.value(node.over, states, room, flow)
        over, states = self.settled(over, states, flow) if over.run is not None and over.kind != OPAQUE else (over, states)
        if over.kind in {DATA, "result"}:
            over = Value(LIST, related=over.related, element=over, name="unknown", call=over.call)
        is_list = over.kind == LIST
        element = (over.element if is_list else None) or unknown([over])
        self._take(node.target, over, element, room)
        inside, outside = self.held(over, states) if is_list else (states, set())
        part = self._turn(node, node.body, inside, room, is_over_messages=is_list and is_of_messages(over))
        flow.leave(part)
        flow.returned = part.returned
        flow.normal = part.normal | outside
        if not over.related or over.name in {"unknown", ""}:
            flow.normal = flow.normal | inside
        orelse = self.statement(node.orelse, flow.normal, room)
        flow.leave(orelse)
        flow.normal = orelse.normal
        return flow

    def _turn(self, node: n.Node, body: n.Node, states: States, room: Room, *, is_over_messages: bool) -> Flow:
        at = self.mark(node, room)
        if is_over_messages:
            nested = bool(self.loops)
            room.loops.append(at)
            self.loops = [*self.loops, at]
        part = self.statement(body, states, room) if states else Flow()
        if is_over_messages:
            room.loops.pop()
            self.loops = self.loops[:-1]
            if nested:
                part.normal = {state.flagged(("rest",), True) for state in part.normal}
        part.normal = part.normal | part.continued | part.broken
        part.continued, part.broken = set(), set()
        return part

    def _take(self, target: n.Node, over: Value, element: Value, room: Room) -> None:
        """What the names of a loop stand for."""
        if isinstance(target, n.Name):
            room.names[target.id] = element
        elif isinstance(target, n.Pattern):
            is_pairs = over.name == "entries" or (
                over.name in {"map", "unknown"} and all(isinstance(k, int) for k in target.keys)
            )
            for name, key in zip(target.names, target.keys, strict=True):
                if is_pairs and isinstance(key, int):
                    value = (
                        element
                        if key == len(target.names) - 1
                        else Value(DATA if over.related else OPAQUE, related=over.related)
                    )
                elif isinstance(key, int) and element.fields:
                    value = element.fields.get(str(key)) or unknown([element])
                else:
                    value = self.member(element, str(key)) if isinstance(key, str) else unknown([element])
                room.names[name.id] = value

    def repeated(self, node: s.Repeat, states: States, room: Room) -> Flow:
        """A loop with a condition: of a counted one over a list each element comes by."""
        flow = Flow()
        for each in node.counter[:1]:
            flow.leave(self.statement(each, states, room))
        lists = [each for each in _walk(node.test) if node.is_counted and isinstance(each, n.Member) and each.name == "length"]
        if lists:
            over, states = self.value(lists[0].of, states, room, flow)
            if over.kind == LIST:
                inside, outside = self.held(over, states)
                part = self._turn(node, node.body, inside, room, is_over_messages=is_of_messages(over))
                flow.leave(part)
                flow.normal = part.normal | outside | (set() if over.related else inside)
                return flow
        holds, fails = self.condition(node.test, states, room, flow)
        part = self._turn(node, node.body, holds, room, is_over_messages=False)
        flow.leave(part)
        flow.normal = self.merged(part.normal, fails, states)
        return flow

    def comprehension(self, node: n.Comprehension, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """`made for target in over`."""
        over, states = self.value(node.over, states, room, out)
        element = (over.element if over.kind == LIST else None) or unknown([over])
        inner = Room(room.module, room)
        inner.calls, inner.loops = room.calls, []
        self._take(node.target, over, element, inner)
        at = self.mark(node, room)
        is_over = is_of_messages(over)
        self.loops = [*self.loops, at] if is_over else self.loops
        for condition in node.conditions:
            _, states = self.value(condition, states, inner, out)
        made, after = self.value(node.made, states, inner, out)
        self.loops = self.loops[:-1] if is_over else self.loops
        result = Value(LIST, related=over.related or made.related, element=made, key=over.key, call=over.call)
        result.name = over.name if made is element else "promises"
        result.bound = over.bound
        return result, after

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
            part = self.statement(handler.body, {self.caught(state, at) for state in taken}, room) if taken else Flow()
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
        for state in flow.raised:
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

    def left_loop(self, node: s.Leave, states: States, room: Room) -> None:
        """Note that a `return` ends a loop over messages."""
        raise NotImplementedError

    # --- names and functions

    def bind(self, node: n.Bind, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """A value that a target gets."""
        value, states = self.value(node.value, states, room, out)
        target = node.target
        if isinstance(target, n.Name) and not isinstance(target, n.This):
            states = self._named(target.id, value, node, states, room)
        elif isinstance(target, n.Pattern):
            for name, key in zip(target.names, target.keys, strict=True):
                room.names[name.id] = self._part(value, key)
        elif isinstance(target, n.Member | n.Index):
            holder, states = self.value(target.of, states, room, out)
            states = self.set_in(node, target, holder, value, states, room)
        return value, states

    def _part(self, value: Value, key: str | int) -> Value:
        if isinstance(key, str):
            return self.member(value, key) if key else unknown([value])
        if value.fields and str(key) in value.fields:
            return value.fields[str(key)]
        return value.element if value.kind == LIST and value.element is not None else unknown([value])

    def _named(self, name: str, value: Value, node: n.Bind, states: States, room: Room) -> States:
        home = room if node.how == n.DECLARES and name not in room.names and not self.is_python else room.home(name)
        key = ("name", id(home), name)
        before = home.names.get(name)
        if node.how == n.ADDS:
            made = unknown([before, value]) if before is not None else value
            made.grown = made.grown or (before is not None and before.kind in {"result", LIST})
            home.names[name] = made
            return states if before is None or before.kind != FLAG else {_unflagged(state, key) for state in states}
        is_declared = node.how == n.DECLARES and before is None
        if value.kind == LITERAL and not value.is_queue:
            is_text = isinstance(value.literal, str)
            keep = is_declared and is_text
            home.names[name] = Value(LITERAL if keep else FLAG, key=key, literal=value.literal, text=value.text)
            return {state.flagged(key, value.literal) for state in states}
        if value.kind == FLAG and not is_declared:
            home.names[name] = Value(FLAG, key=key)
            return {self._noted(state, key, value) for state in states}
        if before is not None and before.key is not None and before.kind in {FLAG, LITERAL}:
            is_true = value.kind in {ERROR, OBJECT, MESSAGE, FUNCTION, INSTANCE}
            if is_true:
                home.names[name] = Value(FLAG, key=key, related=value.related)
                return {state.flagged(key, True) for state in states}
            if value.kind in {LIST, FLAG}:
                home.names[name] = value
                return {_unflagged(state, key) for state in states}
            home.names[name] = value.under(key)
            return {self._handed_on(state, value.key, key) for state in states}
        if isinstance(value, Value) and value.kind in {OBJECT, FUNCTION} and not value.name:
            value.name = value.name or ""
        home.names[name] = value
        return states

    def _handed_on(self, state: State, before: Any, key: Any) -> State:
        """A way on which a name gets what an expression was that had a literal value on some ways."""
        known = state.flag(before, UNKNOWN) if before is not None else UNKNOWN
        return _unflagged(state, key) if known is UNKNOWN else state.flagged(key, known)

    def set_in(self, node: n.Bind, target: Any, holder: Value, value: Value, states: States, room: Room) -> States:
        """A field of something is set."""
        name = target.name if isinstance(target, n.Member) else ""
        if holder.kind in {DATA, MESSAGE} and (holder.is_body or holder.kind == MESSAGE):
            counts = node.how == n.ADDS or any(isinstance(each, n.Member) and each.name == name for each in _walk(node.value))
            at = self.mark(node, room)
            return {state._replace(changed=state.changed or at) if counts or state.failed else state for state in states}
        if holder.kind in {INSTANCE, OBJECT} and holder.fields is not None and name:
            holder.fields[name] = value
            return states
        if holder.kind == LIST:
            return self._added(holder, [value], states)[1]
        if holder.kind == "result" and (
            node.how == n.ADDS or value.grown or any(isinstance(e, n.Binary) and e.operator == "+" for e in _walk(node.value))
        ):
            holder.grown = True
        if holds_message(value):
            return self.doubted(states, self.mark(node, room))
        return states

    def run_function(
        self, function: Value, given: list[Value], states: States, out: Flow, around: Room | None = None
    ) -> tuple[Value, States]:
        """What a function gives, and the ways on from it."""
        lambda_, home = function.function, function.room
        assert lambda_ is not None, "a function has a body"
        assert home is not None, "and stands in a room"
        room = Room(home.module, home)
        room.calls = (*(around.calls if around is not None else home.calls), lambda_)
        if lambda_ in room.calls[:-1]:
            return Value(OPAQUE), self.doubted(states, self.mark(lambda_, room)) if any(map(holds_message, given)) else states
        if function.owner is not None:
            room.names["this"] = function.owner
        self._parameters(lambda_, given, room)
        states = widened(states)
        if lambda_.gives:
            flow = Flow()
            value, flow.normal = self.value(lambda_.body[0], states, room, flow)
            room.returned.append((flow.normal, value))
            flow.returned, flow.normal = flow.normal, set()
        else:
            flow = self.block(lambda_.body, states, room)
        out.raised |= flow.raised
        known = {key for state in states for key, _ in state.flags}
        return self._result(lambda_, flow, room, out, known)

    def _parameters(self, lambda_: n.Lambda, given: list[Value], room: Room) -> None:
        rest = [*given]
        for i, parameter in enumerate(lambda_.parameters):
            value = rest[i] if i < len(rest) else Value(OPAQUE)
            if isinstance(parameter, n.Name):
                room.names[parameter.id] = value
            elif isinstance(parameter, n.Pattern):
                if not any(parameter.keys) and len(parameter.names) == 1 and i == len(lambda_.parameters) - 1:
                    value = unknown(rest[i:])
                for name, key in zip(parameter.names, parameter.keys, strict=True):
                    room.names[name.id] = self._part(value, key)

    def _result(self, lambda_: n.Lambda, flow: Flow, room: Room, out: Flow, known: set[Any]) -> tuple[Value, States]:
        parts: list[tuple[Value, States]] = []
        ended: set[State] = set()
        for states, value in room.returned:
            reached = states & flow.returned
            if not reached:
                continue
            if lambda_.is_async and value.run is not None and not self.is_python:
                value, reached = self.settled(value, reached, out)  # noqa: PLW2901 - what it was waited for
            parts.append((value, reached))
            ended |= states
        lost = flow.returned - ended
        if lost:
            parts.append((Value(OPAQUE), lost))
        if flow.normal:
            parts.append((literal(None), flow.normal))
        if not parts:
            return Value(OPAQUE), set()
        value, states = self.joined_values(lambda_, parts) if len(parts) > 1 else parts[0]
        kept = known | _keys_in(value)
        return value, widened({_forgetting(state, id(room), kept) for state in states})


_STATEMENTS = (s.Each, s.Repeat, s.Switch, s.Attempt, s.With, s.Leave, n.Either, n.Bind, n.Lambda, n.Class)


def _unflagged(state: State, key: object) -> State:
    return state._replace(flags=frozenset(pair for pair in state.flags if pair[0] != key))


def _forgetting(state: State, room: int, kept: set[Any]) -> State:
    """What a function's own names were is forgotten at its end, and what its expressions were, but for what it gives."""
    flags = state.flags
    own = [key for key, _ in flags if key not in kept and (key[0] == "=" or (key[0] == "name" and key[1] == room))]
    gone = [each for each in flags if each[0] in own]
    return state._replace(flags=flags.difference(gone)) if gone else state


def _keys_in(value: Value, depth: int = 3) -> set[Any]:
    """The flags that a value is known by."""
    found = {value.key} if value.key is not None and value.kind != LIST else set()
    for each in (value.fields or {}).values() if depth else ():
        found |= _keys_in(each, depth - 1)
    return found


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
        each.id if isinstance(each, n.Name) else each.name for each in _walk(node) if isinstance(each, n.Name | n.Member)
    )


def _walk(node: n.Node) -> list[n.Node]:
    found, waiting = [], [node]
    while waiting:
        each = waiting.pop()
        found.append(each)
        waiting += reversed(each.parts)
    return found
