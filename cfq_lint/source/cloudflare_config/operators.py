"""Operators of JavaScript on values that are known."""

from __future__ import annotations

import math
import operator

from cfq_lint.source.cloudflare_config.values import OTHERWISE, UNDEFINED, constant, unknown
from cfq_lint.source.node import BOOLEAN, NULL, NUMBER, STRING, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_PLAIN = frozenset({STRING, NUMBER, BOOLEAN, NULL, UNDEFINED, OTHERWISE})
_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": math.fmod,
}
_ORDER: dict[str, Callable[[float, float], bool]] = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def applied(sign: str, one: Node, other: Node, span: tuple[int, int]) -> Node:
    """The value of `one sign other`; unknown where either is, or where the operator is beyond a configuration."""
    if one.kind not in _PLAIN or other.kind not in _PLAIN:
        return unknown(*span)
    if sign in {"===", "==", "!==", "!="}:
        same = one.kind == other.kind and one.value == other.value
        return constant(same == (sign[0] == "="), *span)
    if one.kind == other.kind == NUMBER:
        return _numbers(sign, one.value, other.value, span)
    if sign == "+" and STRING in {one.kind, other.kind} and {one.kind, other.kind} <= {STRING, NUMBER}:
        return constant(f"{one.value}{other.value}", *span)
    return unknown(*span)


def _numbers(sign: str, one: float, other: float, span: tuple[int, int]) -> Node:
    if sign in _ORDER:
        return constant(_ORDER[sign](one, other), *span)
    try:
        value = _ARITHMETIC[sign](float(one), float(other))
        whole = int(value)
    except (KeyError, ArithmeticError, ValueError):
        return unknown(*span)
    return constant(whole if whole == value else value, *span)
