"""What can be asked of any node: the names and plain paths in it, and what is made on the spot."""

from __future__ import annotations

import re

from cfq_lint.worker_code.tree import nodes as n

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ANY = "[]"
"""What stands in a chain for `x[…]`."""
NEW = "new "
"""With the name of a class behind it, what stands in a chain for `new Class(…)`."""
_FRESH = re.compile(r"randomUUID|uuid(?:v?[1467])?|v[1467]|nanoid|ulid|createId|cuid2?|token_hex|token_urlsafe")
"""What makes an id on the spot; versions 3 and 5 of UUIDs are made of what they are given."""


def walk(node: n.Node) -> Iterator[n.Node]:
    """A node and all below it, in the order of the text."""
    waiting = [node]
    while waiting:
        at = waiting.pop()
        yield at
        waiting += reversed(at.parts)


def outside_of_functions(node: n.Node) -> Iterator[n.Node]:
    """The same, but nothing that stands in a function."""
    waiting = [node]
    while waiting:
        at = waiting.pop()
        yield at
        if not isinstance(at, n.Lambda):
            waiting += reversed(at.parts)


SENDING = frozenset({"send", "sendBatch", "send_batch"})
_NOTED = SENDING | {"push", "unshift", "splice", "pop", "shift", "assign"}
_NOTED |= {"append", "extend", "insert", "remove", "clear", "update", "setdefault"}


def noted(node: n.Node) -> tuple[n.Node, ...]:
    """The nodes below one that matter to all of a module, in the order of the text; of a function they are found once.

    These are what binds names, objects, classes, functions, and calls of methods that change a list or send.
    """
    if isinstance(node, n.Lambda):
        if node.noted is None:
            node.noted = tuple(_noted(node))
        return node.noted
    return tuple(_noted(node))


def _noted(node: n.Node) -> Iterator[n.Node]:
    waiting = [*reversed(node.parts)]
    while waiting:
        at = waiting.pop()
        if isinstance(at, n.Lambda):
            yield at
            yield from noted(at)
            continue
        if isinstance(at, n.Bind | n.Record) or (isinstance(at, n.Invoke) and _last_of(at.callee) in _NOTED):
            yield at
        waiting += reversed(at.parts)


def _last_of(node: n.Node) -> str:
    """The last name of a path, calls left out."""
    while isinstance(node, n.Invoke | n.Wait):
        node = node.callee if isinstance(node, n.Invoke) else node.value
    if isinstance(node, n.Index):
        return node.key.value if isinstance(node.key, n.Text) else ""
    return node.name if isinstance(node, n.Member) else ""


def unwrapped(node: n.Node) -> n.Node:
    """The value in `await …`."""
    while isinstance(node, n.Wait):
        node = node.value
    return node


def chain_of(node: n.Node) -> tuple[str, ...]:
    """The path of a plain expression, calls on the way left out; empty where it is none."""
    match node:
        case n.This():
            return ("this",)
        case n.Name(name):
            return (name,)
        case n.New():
            made = constructed(node)
            return (f"{NEW}{made}",) if made is not None else ()
        case n.Invoke(callee):
            return chain_of(callee)
        case n.Member(of, name):
            before = chain_of(of)
            return (*before, name) if before else ()
        case n.Index(of, key):
            before = chain_of(of)
            return (*before, (key.value if isinstance(key, n.Text) else "") or ANY) if before else ()
        case n.Wait(value):
            return chain_of(value)
        case _:
            return ()


def constructed(node: n.Node) -> str | None:
    """The name of the class in `new Class(…)`."""
    return node.callee.id if isinstance(node, n.New) and isinstance(node.callee, n.Name) else None


def mentions_of(node: n.Node) -> frozenset[str]:
    """All names in it."""
    return frozenset(each.id for each in walk(node) if isinstance(each, n.Name))


def is_fresh(node: n.Node) -> bool:
    """Whether an id is made on the spot in it."""
    makers = (each.callee for each in walk(node) if isinstance(each, n.Invoke))
    return any(_FRESH.fullmatch(str(getattr(each, "name", getattr(each, "id", "")))) for each in makers)


def bound_names(target: n.Node) -> tuple[str, ...]:
    """The names that a target binds, or changes something of."""
    while isinstance(target, n.Member | n.Index):
        target = target.of
    return tuple(each.id for each in walk(target) if isinstance(each, n.Name) and each.id != "this")


def without_spread(node: n.Node) -> n.Node:
    """What is given in `...x` or `name=x`, else the node itself."""
    return node.value if isinstance(node, n.Spread | n.Keyword) else node


def is_same(one: n.Node | None, other: n.Node | None) -> bool:
    """Whether two expressions are written alike."""
    if one is None or other is None or type(one) is not type(other) or len(one.parts) != len(other.parts):
        return one is other
    plain = [name for name in one.__match_args__ if isinstance(getattr(one, name), str | int)]
    if any(getattr(one, name) != getattr(other, name) for name in plain):
        return False
    return all(is_same(mine, its) for mine, its in zip(one.parts, other.parts, strict=True))
