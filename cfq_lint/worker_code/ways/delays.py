"""How long a delay is at one attempt, at most: arithmetic on the count of attempts, as far as it is written out."""

from __future__ import annotations

import math

from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.asking import chain_of, outside_of_functions, unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cfq_lint.worker_code.modules.program import Program
    from cfq_lint.worker_code.ways.values import Room, Value

_DEPTH_MAX = 12
_HUGE = 1e15
_ROUNDS: dict[str, Callable[[float], float]] = {
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
    "trunc": math.trunc,
    "int": math.trunc,
    "Number": float,
    "abs": abs,
}


class _Delay:
    """Computes at one attempt."""

    def __init__(self, attempt: int, program: Program) -> None:
        self.attempt = attempt
        self.program = program

    def of(self, node: n.Node, room: Room, depth: int = 0) -> float | None:
        """The greatest number that an expression can be; None where that is not certain."""
        if depth > _DEPTH_MAX:
            return None
        node = unwrapped(node)
        match node:
            case n.Number(value) | n.Decimal(value):
                return float(value)
            case n.Name():
                return self.named(node, room, depth)
            case n.Member(_, "attempts"):
                return float(self.attempt) if self._is_of_message(node, room) else None
            case n.Binary("or" | "??", left, right):
                found = self.of(left, room, depth + 1)
                return found or self.of(right, room, depth + 1)
            case n.Binary(operator, left, right):
                return _computed(operator, self.of(left, room, depth + 1), self.of(right, room, depth + 1))
            case n.Either(_, then, other):
                values = [self.of(each, room, depth + 1) for each in (then, other)]
                known = [each for each in values if each is not None]
                return max(known) if len(known) == len(values) else None
            case n.Index(of, _):
                listed = self.resolved(of, room)
                values = [self.of(each, room, depth + 1) for each in listed.items] if isinstance(listed, n.Listing) else []
                known = [each for each in values if each is not None]
                return max(known) if known and len(known) == len(values) else None
            case n.Invoke():
                return self.called(node, room, depth)
            case n.Other((only,)):
                return self.of(only, room, depth + 1)
            case _:
                return None

    def _is_of_message(self, node: n.Member, room: Room) -> bool:
        """Whether the attempts are the message's own, as far as is known of what they are asked of."""
        if not isinstance(node.of, n.Name):
            return isinstance(node.of, n.Index)
        value = room.find(node.of.id)
        return value is not None and value.kind == "message"

    def resolved(self, node: n.Node, room: Room) -> n.Node:
        """What a name is declared to be."""
        if not isinstance(node, n.Name):
            return node
        declared = node.scope.value(node.id)
        if declared is not None:
            return unwrapped(declared)
        meaning = self.program.meaning(room.module, node.id)
        return meaning.node if meaning is not None else node

    def named(self, node: n.Name, room: Room, depth: int) -> float | None:
        """A name: the count of attempts, a constant, or what it is declared to be."""
        value: Value | None = room.find(node.id)
        if value is not None and value.kind == "attempts" and value.name == "attempts":
            return float(self.attempt)
        if value is not None and value.kind == "number":
            return value.literal  # type: ignore[no-any-return]
        declared = self.resolved(node, room)
        return self.of(declared, room, depth + 1) if declared is not node else None

    def called(self, node: n.Invoke, room: Room, depth: int) -> float | None:
        """A call: of the language's arithmetic, or of a function that gives one expression."""
        chain = chain_of(node)
        name = chain[-1] if chain else ""
        values = [self.of(each, room, depth + 1) for each in node.given]
        known = [each for each in values if each is not None]
        if name == "min":
            return min(known) if known else None
        if name == "max":
            return max(known) if known and len(known) == len(values) else None
        if name == "pow" and len(known) == 2:  # noqa: PLR2004 - base and exponent
            return _computed("**", *known)
        if name == "random":
            return 1.0
        if name in {"uniform", "randint"} and len(known) == 2:  # noqa: PLR2004 - from and to
            return max(known)
        if name in _ROUNDS and len(values) >= 1 and values[0] is not None:
            return float(_ROUNDS[name](values[0])) if abs(values[0]) < _HUGE else values[0]
        return self._of_own(node, room, values, depth)

    def _of_own(self, node: n.Invoke, room: Room, values: list[float | None], depth: int) -> float | None:
        if not isinstance(node.callee, n.Name):
            return None
        known = room.find(node.callee.id)
        function = known.function if known is not None else None
        meaning = self.program.meaning(room.module, node.callee.id) if function is None else None
        if function is None and meaning is not None and isinstance(meaning.node, n.Lambda):
            function = meaning.node
        if function is None:
            return None
        from cfq_lint.worker_code.ways.values import Room as Inner
        from cfq_lint.worker_code.ways.values import Value as Known

        inner = Inner(meaning.module if meaning is not None else room.module, room if meaning is None else None)
        for parameter, value in zip(function.parameters, values, strict=False):
            if isinstance(parameter, n.Name):
                inner.names[parameter.id] = Known("number", literal=value)
        results = list(function.body) if function.gives else _returned(function)
        found = [self.of(each, inner, depth + 1) for each in results]
        certain = [each for each in found if each is not None]
        return max(certain) if certain and len(certain) == len(found) else None


def _returned(function: n.Lambda) -> list[n.Node]:
    inside = [inner for each in function.body for inner in outside_of_functions(each)]
    return [each.values[0] for each in inside if isinstance(each, s.Leave) and each.values]


def _computed(operator: str, left: float | None, right: float | None) -> float | None:
    if left is None or right is None:
        return None
    try:
        match operator:
            case "+":
                return left + right
            case "-":
                return left - right
            case "*":
                return left * right
            case "/" | "//":
                return left / right
            case "**":
                return float(left**right)
            case "<<":
                return float(int(left) << int(right))
            case _:
                return None
    except (ArithmeticError, ValueError, TypeError):
        return None


def most(delay: n.Node, room: Room, attempt: int, program: Program) -> float | None:
    """How many seconds a delay is at an attempt, at most; None where that is not certain."""
    return _Delay(attempt, program).of(delay, room)
