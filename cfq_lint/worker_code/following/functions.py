"""Names that get values, and functions that are run."""

from __future__ import annotations

from cfq_lint.worker_code.following.conditions import UNKNOWN
from cfq_lint.worker_code.following.loops import Loops
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import walk
from cfq_lint.worker_code.ways.state import (
    Flow,
    State,
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

    from cfq_lint.worker_code.following.conditions import States


class Functions(Loops):
    """Binds names and runs functions."""

    def block(self, nodes: tuple[n.Node, ...], states: States, room: Room) -> Flow:
        """The ways through statements."""
        raise NotImplementedError

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
            counts = node.how == n.ADDS or any(isinstance(each, n.Member) and each.name == name for each in walk(node.value))
            at = self.mark(node, room)
            return {state._replace(changed=state.changed or at) if counts or state.failed else state for state in states}
        if holder.kind in {INSTANCE, OBJECT} and holder.fields is not None and name:
            holder.fields[name] = value
            return states
        if holder.kind == LIST:
            return self._added(holder, [value], states)[1]
        if holder.kind == "result" and (
            node.how == n.ADDS
            or (value.grown and value.call is holder.call)
            or any(isinstance(e, n.Binary) and e.operator == "+" for e in walk(node.value))
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
