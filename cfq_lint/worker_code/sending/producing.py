"""What a module sends: each `send` and `sendBatch`, the fields of what is sent, and how many one call can hold."""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.record import record
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.asking import ANY, chain_of, is_fresh, is_same, outside_of_functions, walk
from cfq_lint.worker_code.tree.statements import RETURN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cfq_lint.worker_code.modules.bindings import Bindings
    from cfq_lint.worker_code.tree.spots import Spot

_SENDING = frozenset({"send", "sendBatch", "send_batch"})
_KEEPS_LENGTH = frozenset({"map", "fill", "keys", "values", "entries", "sort", "toSorted", "reverse", "toReversed"})
_COPIES = frozenset({"list", "sorted", "reversed", "enumerate"})
_NOTHING: frozenset[str] = frozenset()


@record
class Sent:
    """A call of `send` or `sendBatch` on a binding.

    `keys` are the fields of what is sent, None where that is not certain, and `fresh` those that hold an id made on the spot;
    `most` is how many messages one call can hold at most.
    """

    binding: str
    is_batch: bool
    keys: frozenset[str] | None
    fresh: frozenset[str]
    most: int | None
    spot: Spot


def sent(root: n.Node, names: Bindings, spot: Callable[[n.Node], Spot]) -> Iterator[Sent]:
    """Every `send` and `sendBatch` on something that may be a binding."""
    for node in walk(root):
        chain = chain_of(node.callee) if isinstance(node, n.Invoke) else ()
        if not isinstance(node, n.Invoke) or len(chain) < 2 or chain[-1] not in _SENDING:  # noqa: PLR2004 - queue.send
            continue
        if not node.given or isinstance(node.given[0], n.Keyword):
            continue
        value, binding = _plain(names.resolved(node.given[0]), names), _binding(node.callee, chain, names)
        if chain[-1] == "send":
            yield Sent(binding, False, *_keys(value, names), 1, spot(node))
        else:
            yield Sent(binding, True, *_bodies(value, names), _length(value, names), spot(node))


def _plain(node: n.Node, names: Bindings) -> n.Node:
    """What is made into an object of JavaScript's."""
    is_made = isinstance(node, n.Invoke) and chain_of(node)[-1:] == ("to_js",) and node.given
    return names.resolved(node.given[0]) if is_made and isinstance(node, n.Invoke) else node


def binding_of(node: n.Invoke, chain: tuple[str, ...], names: Bindings) -> str:
    """The binding that is sent to."""
    return _binding(node.callee, chain, names)


def length_of(node: n.Node, names: Bindings) -> int | None:
    """How many elements a list has at most; None where that is not certain."""
    return _length(_plain(names.resolved(node), names), names)


def _binding(callee: n.Node, chain: tuple[str, ...], names: Bindings) -> str:
    """The binding in `env.Q.send`, or in `q.send` where `q` stands for one; ANY where it may be one of several."""
    if len(chain) > 2 or not isinstance(callee, n.Member):  # noqa: PLR2004 - env.Q.send
        return chain[-2]
    through, name = chain_of(names.resolved(callee.of)), chain[0]
    is_of_several = through == chain[:1] and (name in names.assigned or not names.is_script)
    if is_of_several and any("env" in chain_of(each) for each in names.bound.get(name, ())):
        return ANY
    return (through or chain[:-1])[-1]


def _keys(node: n.Node, names: Bindings) -> tuple[frozenset[str] | None, frozenset[str]]:
    """The keys of an object that is written out, None where not certain, and those whose values are made on the spot."""
    node = _plain(names.resolved(node), names)
    if not isinstance(node, n.Record):
        return None, _NOTHING
    certain: set[str] = set()
    fresh: set[str] = set()
    is_certain = True
    for each in node.members:
        if not isinstance(each, n.Pair) or each.name is None:
            # What stands before a spread may be replaced by it.
            is_certain, fresh = False, set() if isinstance(each, n.Spread) else fresh
            continue
        certain.add(each.name)
        is_made_here = not each.is_method and is_fresh(names.resolved(each.value))
        fresh = fresh | {each.name} if is_made_here else fresh - {each.name}
    return frozenset(certain) if is_certain else None, frozenset(fresh)


def _bodies(node: n.Node, names: Bindings) -> tuple[frozenset[str] | None, frozenset[str]]:
    """The fields that all bodies in the argument of a `sendBatch` have, and those made on the spot."""
    elements = [names.resolved(each) for each in _elements(node, names)]
    bodies = [body for each in elements if isinstance(each, n.Record) and (body := _field(each, "body")) is not None]
    found = [_keys(body, names) for body in bodies]
    keys = [each for each, _ in found if each is not None]
    if not keys or len(keys) < len(elements):
        return None, _NOTHING
    return frozenset.intersection(*keys), frozenset.intersection(*(fresh for _, fresh in found))


def _elements(node: n.Node, names: Bindings) -> Sequence[n.Node]:
    """What a list is made of, once for each kind of element."""
    match node:
        case n.Listing(items):
            return items
        case n.Comprehension(made):
            return [made]
        case n.Invoke(n.Member(of, how), given):
            maker = given[0] if how == "map" and given else given[1] if how == "from" and len(given) > 1 else None
            return _results(maker) if isinstance(maker, n.Lambda) else _elements(names.resolved(of), names)
        case _:
            return []


def _field(record: n.Record, name: str) -> n.Node | None:
    return next((each.value for each in record.members if isinstance(each, n.Pair) and each.name == name), None)


def _results(function: n.Lambda) -> list[n.Node]:
    """What a function written there gives back: its expression, or what its own `return`s do."""
    if function.gives:
        return list(function.body)
    inside = [inner for each in function.body for inner in outside_of_functions(each)]
    return [each.values[0] for each in inside if isinstance(each, s.Leave) and each.kind == RETURN and each.values]


def _length(node: n.Node, names: Bindings) -> int | None:
    """How many elements a list has at most, and no fewer where that is more than one call can send; None if not certain."""
    node = names.resolved(node)
    match node:
        case n.Listing(items):
            counts = [_length(each.value, names) if isinstance(each, n.Spread) else 1 for each in items]
            known = [count for count in counts if count is not None]
            return sum(known) if len(known) == len(counts) else None
        case n.Comprehension(_, _, over, conditions):
            most = _length(over, names)
            return None if conditions and most is not None and most > limits.SEND_BATCH_COUNT_MAX else most
        case n.Index(_, n.Slice(lower, upper)):
            return _width(lower, upper, names)
        case n.Binary("*", left, right):
            one, times = _length(left, names), _number(right, names)
            return one * times if one is not None and times is not None else None
        case n.Invoke(n.Name(name), given):
            return _made(name, given, names)
        case n.Invoke(n.Member(n.Name("Array"), "from"), (of, *_)):
            counted = _field(of, "length") if isinstance(of, n.Record) else None
            return _number(counted, names) if counted is not None else _length(of, names)
        case n.Invoke(n.Member(of, how), given):
            if how == "slice":
                return _width(*given, names) if len(given) == 2 else None  # noqa: PLR2004 - from and to
            return _length(of, names) if how in _KEEPS_LENGTH else None
        case _:
            return None


def _made(name: str, given: tuple[n.Node, ...], names: Bindings) -> int | None:
    """How long a list is that a function of the language makes."""
    numbers = [_number(each, names) for each in given]
    match name, numbers:
        case "Array" | "range", [count]:
            return count
        case "range", [int(first), int(last)]:
            return max(0, last - first)
        case _:
            return _length(given[0], names) if name in _COPIES and given else None


def _number(node: n.Node, names: Bindings) -> int | None:
    """A whole number, or a constant of the module that is one."""
    node = names.resolved(node)
    return node.value if isinstance(node, n.Number) else None


def _width(lower: n.Node | None, upper: n.Node | None, names: Bindings) -> int | None:
    """How long `slice(i, i + 100)`, `slice(0, 100)` or `[:100]` can be."""
    if upper is None:
        return None
    if lower is not None and not (isinstance(lower, n.Number) and lower.value == 0):
        if not (isinstance(upper, n.Binary) and upper.operator == "+" and is_same(upper.left, lower)):
            return None
        upper = upper.right
    return _number(upper, names)
