"""What expressions stand for, in the order in which they are evaluated."""

from __future__ import annotations

from cfq_lint.worker_code.following.members import Members
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.ways.marks import Mark
from cfq_lint.worker_code.ways.state import HTTP, MISSING, OF_STATUS, Flow, State, TooLong
from cfq_lint.worker_code.ways.values import (
    BOOLEAN,
    CHANCE,
    CLOCK,
    DATA,
    DAY,
    FLAG,
    FUNCTION,
    LIST,
    LITERAL,
    OBJECT,
    OPAQUE,
    RESULT,
    Room,
    Value,
    literal,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cfq_lint.worker_code.following.conditions import States

SPLITS_CLOCK = frozenset(
    {
        "slice",
        "substring",
        "substr",
        "split",
        "getFullYear",
        "getUTCFullYear",
        "getMonth",
        "getUTCMonth",
        "getUTCDate",
        "getDate",
        "toDateString",
        "strftime",
        "date",
    }
)
STEPS_MAX = 12_000
"""Enough for any handler that people read; what is longer is not followed."""
STEPS_A_FUNCTION = 800
"""Enough for a function that no message is handed to; a longer one counts as somebody else's."""
_STATES_MAX = 2000
_STATES_A_STEP = 16


class Expressions(Members):
    """Evaluates expressions. Calls are left to whoever knows them."""

    def __init__(self) -> None:
        self.marks: dict[int, Mark] = {}
        self.looks_at_queue = False
        self.steps = 0
        self.steps_most = STEPS_MAX
        self.steps_a_function = STEPS_A_FUNCTION
        self.too_long: set[int] = set()

    def mark(self, node: n.Node, room: Room) -> Mark:
        """The place of a node; one for each."""
        found = self.marks.get(id(node))
        if found is None:
            found = self.marks[id(node)] = Mark(node, room.module)
        return found

    def call(self, node: n.Invoke, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """What a call gives."""
        raise NotImplementedError

    def kept(self, box: Value, states: States) -> States:
        """The ways, where it is known of each whether a list holds the message."""
        raise NotImplementedError

    def value(self, node: n.Node, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """What an expression stands for, and the ways on from it."""
        self.steps += 1 + len(states) // _STATES_A_STEP
        if self.steps > self.steps_most or len(states) > _STATES_MAX:
            raise TooLong
        match node:
            case n.Name():
                return self.name(node, room), states
            case n.Member(of, name):
                value, states = self.value(of, states, room, out)
                return self.member(value, name), states
            case n.Invoke():
                return self.call(node, states, room, out)
            case n.Wait(value):
                return self.awaited(value, states, room, out)
            case n.Text(text) | n.Number(text):
                return Value(LITERAL, literal=text, text=text if isinstance(text, str) else ""), states
            case n.Regex(pattern, flags):
                return Value(OPAQUE, literal=(pattern, flags)), states
            case n.Nothing():
                return literal(None), states
            case n.Lambda():
                return Value(FUNCTION, function=node, room=room, module=room.module, owner=None), states
            case n.Template(text, holes):
                values, states = self.values(holes, states, room, out)
                made = self.template(text, values)
                return made, states
            case n.Index(of, key):
                value, states = self.value(of, states, room, out)
                index, states = self.value(key, states, room, out)
                return self.indexed(value, index, node, room), states
            case n.Record():
                return self.record(node, states, room, out)
            case n.Listing(items):
                return self.listing(items, states, room, out)
            case n.Either(test, then, other):
                return self.either(test, then, other, states, room, out)
            case n.Binary():
                return self.binary(node, states, room, out)
            case n.Not(value):
                inner, states = self.value(value, states, room, out)
                return self.negated(inner), states
            case n.Bind():
                return self.bind(node, states, room, out)
            case n.Comprehension():
                return self.comprehension(node, states, room, out)
            case n.Spread(value) | n.Keyword(_, value):
                return self.value(value, states, room, out)
            case _:
                values, states = self.values(node.parts, states, room, out)
                return values[0] if len(values) == 1 else unknown(values), states

    def values(self, nodes: Any, states: States, room: Room, out: Flow) -> tuple[list[Value], States]:
        """What several expressions stand for."""
        made = []
        for each in nodes:
            value, states = self.value(each, states, room, out)
            made.append(value)
        return made, states

    def awaited(self, node: n.Node, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """`await node`."""
        value, states = self.value(node, states, room, out)
        return self.settled(value, states, out)

    def settled(self, value: Value, states: States, out: Flow) -> tuple[Value, States]:
        """What is there when a value was waited for."""
        if value.run is not None:
            return value.run(states, out)  # type: ignore[no-any-return]
        return value, states

    def bind(self, node: n.Bind, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """A value that a target gets."""
        raise NotImplementedError

    def comprehension(self, node: n.Comprehension, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """`made for target in over`."""
        raise NotImplementedError

    def record(self, node: n.Record, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """An object that is written out."""
        fields: dict[str, Value] = {}
        made = Value(OBJECT, fields=fields, module=room.module, function=None)
        if isinstance(node, n.Class):
            return Value(OPAQUE, chain=(node.owner,) if node.owner else ()), states
        for each in node.members:
            if isinstance(each, n.Pair):
                value, states = self.value(each.value, states, room, out)
                key = each.name
                if key is None and each.key is not None:
                    index, states = self.value(each.key, states, room, out)
                    key = index.literal if index.kind == LITERAL and isinstance(index.literal, str) else None
                    made.name = "open" if key is None else made.name
                fields[key if key is not None else f"[{len(fields)}]"] = value
                if value.kind == FUNCTION and each.is_method:
                    value.name = "method"
                    value.owner = made
            else:
                value, states = self.value(each, states, room, out)
                inner = value.fields if value.kind == OBJECT else None
                fields |= inner if inner is not None else {f"[{len(fields)}]": value}
                made.name = "open" if inner is None else made.name
        held = unknown(fields.values())
        made.related, made.fresh = held.related, held.fresh
        made.call = held.call if held.grown else None
        made.text = "\n".join([held.text, *(f"{name}=" for name in fields)])
        made.grown = held.grown
        return made, states

    def listing(self, items: tuple[n.Node, ...], states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """A list that is written out."""
        if len(items) == 1 and isinstance(items[0], n.Spread):
            value, states = self.value(items[0].value, states, room, out)
            if value.kind == LIST:
                return value, states
            held = unknown([value])
            held.kind = held.kind if held.kind != OPAQUE else DATA
            return held, states
        values, states = self.values(items, states, room, out)
        if not values:
            return Value(LIST, key=object(), bound=0), states
        if all(each.kind == LITERAL for each in values):
            return Value(OBJECT, fields={str(i): each for i, each in enumerate(values)}, name=LIST), states
        made = Value(LIST, element=values[0] if len(values) == 1 else None, related=any(each.related for each in values))
        made.fields = {str(i): each for i, each in enumerate(values)}
        made.element = made.element or unknown(values)
        made.fresh = unknown(values).fresh
        made.bound = None if any(isinstance(each, n.Spread) for each in items) else len(values)
        made.grown = any(isinstance(each, n.Spread) for each in items) and len(items) > 1
        source = next((v for v in values if v.kind == RESULT), None)
        made.call = source.call if source is not None else None
        made.text = "\n".join(each.text for each in values if each.text)
        return made, states

    def binary(self, node: n.Binary, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """An operation on two values; what may be looked at once more is kept with what it tells."""
        operator, left, right = node.operator, node.left, node.right
        if operator == "??":
            first, states = self.value(left, states, room, out)
            if first.kind == OPAQUE and first.chain[:1] == ("env",) and first.call is None:
                _, states = self.value(right, states, room, out)
                return Value(OPAQUE, chain=()), states
            second, states = self.value(right, states, room, out)
            return (first if first.kind not in {LITERAL, OPAQUE} else unknown((first, second))), states
        if operator in {"and", "or"}:
            return self._logical(node, states, room, out)
        first, states = self.value(left, states, room, out)
        second, states = self.value(right, states, room, out)
        if operator in {"==", "!=", "<", "<=", ">", ">=", "in", "not in", "has", "instanceof"}:
            return self._compared_value(node, first, second, states, room)
        made = unknown((first, second))
        if operator == "+":
            source = next((each for each in (first, second) if each.kind == RESULT and each.call is not None), None)
            made.grown = source is not None
        if operator in {"-", "+", "*", "/", "//", "%"} and made.fresh:
            made.fresh = made.fresh if operator == "+" else CLOCK if made.fresh == CLOCK else made.fresh
            made.fresh = DAY if operator in {"/", "//", "%", "-"} and made.fresh == CLOCK else made.fresh
        return made, states

    def _logical(self, node: n.Binary, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        first, states = self.value(node.left, states, room, out)
        holds, fails = self.truth(first, states, self.mark(node.left, room))
        going, staying = (holds, fails) if node.operator == "and" else (fails, holds)
        if not going:
            return (literal(True) if first.kind == LITERAL and node.operator == "or" else first), staying
        second, going = self.value(node.right, going, room, out)
        after = self.merged(going, staying, states)
        if not staying:
            return second, after
        if node.operator == "or":
            if first.kind == OPAQUE and first.chain[:1] == ("env",):
                return Value(OPAQUE), after
            if first.kind not in {BOOLEAN, LITERAL, OPAQUE, FLAG}:
                return first, after
            if first.kind != BOOLEAN:
                return unknown((first, second)), after
        related, call = second.related or first.related, second.call or first.call
        return Value(BOOLEAN, related=related, guard=second.guard or first.guard, call=call), after

    def _compared_value(self, node: n.Binary, first: Value, second: Value, states: States, room: Room) -> tuple[Value, States]:
        """The truth value of a comparison: looked at later, it tells the same."""
        if first.kind == LITERAL and second.kind == LITERAL:
            holds, _ = self.compared(node, node.operator, (first, second), states, room)
            return literal(bool(holds)), states
        probe = {State()}
        holds, fails = self.compared(node, node.operator, (first, second), probe, room)
        made = Value(BOOLEAN, related=first.related or second.related, call=first.call or second.call)
        (held,), (failed,) = (list(holds) or [State()])[:1], (list(fails) or [State()])[:1]
        call = first.call or second.call
        is_of_status = any(each.tells(OF_STATUS) for each in (held, failed))
        if is_of_status:
            made.guard = (OF_STATUS, True, call)
        elif held.failed is not None or failed.failed is not None:
            made.guard = (HTTP, held.failed is not None, call)
        elif held.guards or failed.guards:
            guard, _ = next(iter(held.guards or failed.guards))
            if guard == MISSING:
                made.guard = (MISSING, bool(held.guards), None)
            else:
                made.guard = (guard, True, None)
        return made, states

    def negated(self, value: Value) -> Value:
        """`!value`."""
        if value.kind == LITERAL:
            return literal(not value.literal)
        made = Value(BOOLEAN, related=value.related, call=value.call)
        if value.guard is not None:
            kind, holds, about = value.guard
            made.guard = (kind, not holds, about)
        elif value.kind == OPAQUE and value.chain[:1] == ("env",) and len(value.chain) > 1 and value.call is None:
            made.guard = (MISSING, True, None)
        elif value.kind in {DATA, RESULT}:
            made.guard = ("body" if value.kind == DATA else "read", False, None)
        return made


FRESH_CALLS: dict[str, str] = {
    **dict.fromkeys(
        (
            "randomUUID",
            "uuid",
            "uuidv4",
            "uuidv7",
            "uuid1",
            "uuid4",
            "uuid7",
            "v1",
            "v4",
            "v7",
            "nanoid",
            "ulid",
            "createId",
            "cuid",
            "cuid2",
        ),
        CHANCE,
    ),
    **dict.fromkeys(
        ("token_hex", "token_urlsafe", "getRandomValues", "random", "randint", "randbytes", "generateId", "newId"), CHANCE
    ),
    **dict.fromkeys(("now", "utcnow", "time", "time_ns", "today"), CLOCK),
}
"""The calls that make something anew at each delivery, by name."""
