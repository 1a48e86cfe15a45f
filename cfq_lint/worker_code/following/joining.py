"""What comes together again: values that are others on some ways, and ways that differ in what told them apart."""

from __future__ import annotations

from cfq_lint.worker_code.following.conditions import UNKNOWN, Conditions
from cfq_lint.worker_code.ways.values import (
    FLAG,
    LIST,
    LITERAL,
    OBJECT,
    OPAQUE,
    PROMISE,
    Room,
    Value,
    literal,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfq_lint.worker_code.following.conditions import States
    from cfq_lint.worker_code.tree import nodes as n
    from cfq_lint.worker_code.ways.state import Flow, State


class Joining(Conditions):
    """Joins values and ways."""

    def either(self, test: n.Node, then: n.Node, other: n.Node, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """`test ? then : other`."""
        holds, fails = self.condition(test, states, room, out)
        first, holds = self.value(then, holds, room, out) if holds else (Value(OPAQUE), holds)
        second, fails = self.value(other, fails, room, out) if fails else (Value(OPAQUE), fails)
        if not holds or not fails:
            return (first if holds else second), holds | fails
        made, after = self.joined_values(test, [(first, holds), (second, fails)])
        return made, self.merged(holds, fails, states) if after == holds | fails else after

    def joined_values(self, key: Any, parts: list[tuple[Value, States]]) -> tuple[Value, States]:
        """One value for what is another one on some ways: where all are literal, known on each way."""
        values = [value for value, _ in parts]
        if all(value is values[0] for value in values):
            return values[0], {state for _, states in parts for state in states}
        plain = {LITERAL, FLAG}
        if all(value.kind in plain for value in values):
            made = Value(FLAG, key=("=", id(key)))
            return made, {self._noted(state, made.key, value) for value, states in parts for state in states}
        if all(value.kind in {OBJECT, *plain} for value in values) and any(value.kind == OBJECT for value in values):
            return self._joined_objects(key, parts)
        promised = [value for value in values if value.kind == PROMISE]
        if promised:
            return promised[0], {state for _, states in parts for state in states}
        kinds = {value.kind for value in values if value.kind not in plain}
        if len(kinds) == 1:
            first = next(value for value in values if value.kind in kinds)
            if first.kind == LIST or not any(value.kind in plain for value in values):
                return first, {state for _, states in parts for state in states}
            made = first.under(("=", id(key)))
            return made, {
                self._noted(state, made.key, value) if value.kind in plain else state
                for value, states in parts
                for state in states
            }
        return unknown(values), {state for _, states in parts for state in states}

    def _joined_objects(self, key: Any, parts: list[tuple[Value, States]]) -> tuple[Value, States]:
        objects = [value for value, _ in parts if value.kind == OBJECT]
        names = {name for value in objects for name in value.fields or {}}
        fields: dict[str, Value] = {}
        states = [set(each) for _, each in parts]
        for name in names:
            found = [(value.fields or {}).get(name) if value.kind == OBJECT else None for value, _ in parts]
            if all(each is None or each.kind in {LITERAL, FLAG} for each in found):
                made = Value(FLAG, key=("=", id(key), name))
                states = [
                    {self._noted(state, made.key, each or literal(None)) for state in some}
                    for each, some in zip(found, states, strict=True)
                ]
                fields[name] = made
            else:
                known = [each for each in found if each is not None]
                fields[name] = known[0] if len(known) == 1 else unknown(known)
        made = Value(OBJECT, fields=fields, related=any(value.related for value in objects), name="open")
        return made, {state for some in states for state in some}

    def _noted(self, state: State, key: Any, value: Value) -> State:
        """A way on which a flag is what a literal, or another flag, says."""
        known = value.literal if value.kind == LITERAL else state.flag(value.key, UNKNOWN)
        return state if known is UNKNOWN else state.flagged(key, known)

    def merged(self, first: States, second: States, before: States) -> States:
        """Two ways that come together: what told them apart is forgotten where they are alike in all else."""
        known = frozenset(guard for state in before for guard in state.guards)
        added = frozenset(guard for state in (*first, *second) for guard in state.guards) - known
        if not added:
            return first | second
        mine, its = ([(state._replace(guards=state.guards - added), state) for state in states] for states in (first, second))
        both = {bare for bare, _ in mine} & {bare for bare, _ in its}
        return both | {state for bare, state in (*mine, *its) if bare not in both}
