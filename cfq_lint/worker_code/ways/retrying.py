"""What calls of `retry()` and `retryAll()` are given."""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.worker_code.tree import nodes as n

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.ways.values import Settled

_MEANT = frozenset(
    {
        "delay",
        "delay_seconds",
        "delaySecs",
        "delay_secs",
        "delayInSeconds",
        "delay_in_seconds",
        "seconds",
        "retryDelay",
        "retry_delay",
    }
)
SAME_UNIT = frozenset({"delay_seconds", "delaySecs", "delay_secs", "delayInSeconds", "delay_in_seconds", "seconds"})
_NUMERIC = frozenset({"-", "*", "/", "**", "%", "//", "<<"})
"""Names that people give to the delay; of `SAME_UNIT` it is certain that seconds are meant."""


KEY = "delaySeconds"


def delay_of(call: n.Invoke) -> n.Node | None:
    """The delay that a call of `retry()` is given."""
    for each in call.given:
        if isinstance(each, n.Keyword) and each.name == KEY:
            return each.value
        if isinstance(each, n.Record):
            return next((pair.value for pair in each.members if isinstance(pair, n.Pair) and pair.name == KEY), None)
    return None


def may_be_long(delay: n.Node) -> bool:
    """Whether a delay may get long with the attempts: a look before it is computed."""
    waiting = [delay]
    while waiting:
        at = waiting.pop()
        match at:
            case n.Binary("**" | "<<") | n.Invoke() | n.Index():
                return True
            case n.Name() if at is delay:
                return True
            case n.Number(value) if value > limits.DELAY_SECONDS_MAX // limits.RETRIES_MAX:
                return True
        waiting += at.parts
    return False


def is_plain(settled: Settled) -> bool:
    """Whether a call is given nothing, or an object without anything in it."""
    given = settled.node.given
    return not given or (len(given) == 1 and isinstance(given[0], n.Record) and not given[0].members)


def is_number_written(node: n.Node, written: str) -> bool:
    """Whether what is given can be written as a number."""
    return not isinstance(node, n.Text) or written.isdecimal()


def is_number_or_text(node: n.Node, settled: Settled) -> bool:
    """Whether a value is certainly a number or a text."""
    match node:
        case n.Number(value):
            return not isinstance(value, bool)
        case n.Decimal() | n.Text() | n.Template():
            return True
        case n.Binary(operator) if operator in _NUMERIC:
            return True
        case n.Invoke(n.Member(n.Name("Math"))):
            return True
        case n.Name() if settled.given:
            known = settled.given[0]
            literal = known.literal if known.kind in {"literal", "flag"} else None
            if isinstance(literal, int | str) and not isinstance(literal, bool):
                return True
            declared = node.scope.value(node.id)
            return declared is not None and is_number_or_text(declared, settled)
        case n.Other((only,)):
            return is_number_or_text(only, settled)
        case _:
            return False


def misnamed_delay(node: n.Node, *, is_python: bool) -> n.Node | None:
    """The one key of an object, or the keyword, that means the delay and is not called so."""
    if isinstance(node, n.Keyword):
        return node if node.name in _MEANT and is_python else None
    if isinstance(node, n.Record) and len(node.members) == 1:
        (only,) = node.members
        return only if isinstance(only, n.Pair) and only.name in _MEANT else None
    return None
