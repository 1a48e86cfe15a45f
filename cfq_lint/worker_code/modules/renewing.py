"""A module whose text is another one now, where nothing changed but the insides of functions that nobody looked into.

What was found out about a program holds on then: no answer rests on what such a function does. Nodes that stand outside of
functions are made anew with each text; those that answers name take over the places of their successors.
"""

from __future__ import annotations

from cfq_lint.worker_code.tree import nodes as n

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.modules.module import Module

    Successors = dict[int, tuple[n.Node, n.Node]]

_OF_FUNCTIONS = ("name", "is_async", "gives")


def renew(old: Module, new: Module) -> bool:
    """Make a module the other one if no answer can differ; else it is of no use. `new` was read with what `old` had."""
    successors = _successors(old.source.body, new.source.body)
    if successors is None or not _is_the_same_outside(old, new, successors):
        return False
    for before, after in successors.values():
        _take_over(before, after)
    old.become(new)
    return True


def _successors(old: n.Node, new: n.Node) -> Successors | None:
    """The nodes outside of functions, and the functions that differ, by their identity: each with the one in its place.

    None where anything else differs, or a function that somebody looked into.
    """
    found: Successors = {}
    waiting = [(old, new)]
    while waiting:
        before, after = waiting.pop()
        if before is after:
            continue
        if type(before) is not type(after) or not _is_alike(before, after):
            return None
        found[id(before)] = before, after
        one, other = before.parts, after.parts
        if isinstance(before, n.Lambda) and isinstance(after, n.Lambda):
            if before.is_known:
                return None
            one, other = before.parameters, after.parameters
        if len(one) != len(other):
            return None
        waiting += zip(one, other, strict=True)
    return found


def _is_alike(before: n.Node, after: n.Node) -> bool:
    """Whether two nodes are the same but for their parts, of which there may be more."""
    for name in _OF_FUNCTIONS if isinstance(before, n.Lambda) else before.__match_args__:
        one, other = getattr(before, name), getattr(after, name)
        if type(one) is not type(other) and not isinstance(one, n.Node):
            return False
        has_parts = isinstance(one, n.Node | n.Scope) or (isinstance(one, tuple) and one and isinstance(one[0], n.Node))
        if not has_parts and one != other:
            return False
    return True


def _is_the_same_outside(old: Module, new: Module, successors: Successors) -> bool:
    """Whether names stand for the same, as far as somebody asked."""

    def is_same(one: n.Node | None, other: n.Node | None) -> bool:
        return one is other or (one is not None and id(one) in successors and successors[id(one)][1] is other)

    def are_same(one: list[n.Node | None], other: list[n.Node | None]) -> bool:
        return len(one) == len(other) and all(map(is_same, one, other))

    mine, its = old.source, new.source
    if (mine.imports, old.exports, mine.stars, mine.sources, mine.perhaps) != (
        *(its.imports, new.exports, its.stars, its.sources, its.perhaps),
    ):
        return False
    one, other = old.names, new.names
    if (one.assigned, one.replaced, one.rebound) != (other.assigned, other.replaced, other.rebound):
        return False
    names, others = mine.scope.names, its.scope.names
    if names.keys() != others.keys() or not all(are_same(several, others[name]) for name, several in names.items()):
        return False
    if old.set_later.keys() != new.set_later.keys():
        return False
    return all(is_same(node, new.set_later[key]) for key, node in old.set_later.items()) and all(
        is_same(old.once(name), new.once(name)) for name in [*one.asked]
    )


def _take_over(before: n.Node, after: n.Node) -> None:
    """Let a node stand where its successor does, and hold the functions that this holds."""
    before.at = after.at
    if isinstance(before, n.Lambda) or not any(isinstance(each, n.Lambda) for each in after.parts):
        return
    for name in before.__match_args__:
        one, other = getattr(before, name), getattr(after, name)
        if isinstance(other, n.Lambda):
            setattr(before, name, other)
        elif isinstance(other, tuple) and any(isinstance(each, n.Lambda) for each in other):
            setattr(before, name, _with_functions(one, other))
    before.parts = _with_functions(before.parts, after.parts)


def _with_functions(one: tuple[n.Node, ...], other: tuple[n.Node, ...]) -> tuple[n.Node, ...]:
    return tuple(after if isinstance(after, n.Lambda) else before for before, after in zip(one, other, strict=True))
