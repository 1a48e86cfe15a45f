"""What conditions say of the queue's name, and what a table of functions is chosen from by it."""

from __future__ import annotations

from cfq_lint.facts.record import record
from cfq_lint.worker_code.lowering.steps import ANY, Test, either, opposite
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import chain_of, unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.lowering.bindings import Bindings

_PARTS = {"startsWith": "{}*", "startswith": "{}*", "endsWith": "*{}", "endswith": "*{}", "includes": "*{}*"}
"""Questions about a part of a name, as patterns."""
_HOLDS = frozenset({"includes", "has", "hasOwn", "hasOwnProperty", "__contains__"})
_NOTHING = frozenset({"undefined", "None", "null"})


@record
class Choice:
    """A function that is taken out of a table: what chooses, the path of the table, its keys, and what is taken of it then.

    `is_whole` says that nothing else is in the table.
    """

    by: tuple[str, ...]
    table: tuple[str, ...]
    keys: tuple[str, ...]
    is_whole: bool
    member: tuple[str, ...] = ()


def choice_of(node: n.Node, names: Bindings) -> Choice | None:
    """The choice in `handlers[batch.queue]`, `handlers.get(batch.queue)`, `handlers[batch.queue].run`, or in a name for one."""
    node = names.resolved(node)
    match node:
        case n.Index(of, key) | n.Invoke(n.Member(of, "get"), (key, *_)) if not isinstance(key, n.Text | n.Number):
            keys, table = names.keys_of(of), chain_of(of)
            if keys is None or not table or ANY in table:
                return None
            return Choice(chain_of(names.resolved(key)), table, keys[0], keys[1])
        case n.Member(of, name):
            inner = choice_of(of, names)
            return None if inner is None else Choice(inner.by, inner.table, inner.keys, inner.is_whole, (*inner.member, name))
        case n.Binary("??" | "or", left, _):
            return choice_of(left, names)
        case _:
            return None


def test_of(node: n.Node, names: Bindings) -> Test | None:
    """A comparison of something with names, if a condition is one."""
    match node:
        case n.Not(value):
            return opposite(test_of(value, names))
        case n.Binary("or", left, right):
            return either([test_of(left, names), test_of(right, names)])
        case n.Binary("==" | "!=" as operator, left, right):
            return _compared(operator, left, right, names)
        case n.Binary("has", left, right):  # `name in table`
            return _among(left, names.keys_of(right))
        case n.Binary("in", left, right):
            return _contained(left, right, names)
        case n.Invoke(n.Member(of, how), given) if given and how in _PARTS.keys() | _HOLDS:
            return _asked(of, how, given, names)
        case n.Name() | n.Index() | n.Invoke():
            chosen = choice_of(node, names)
            return Test(chosen.by, frozenset(chosen.keys)) if chosen is not None and chosen.by and chosen.is_whole else None
        case _:
            return None


def compared(of: tuple[str, ...], node: n.Node, names: Bindings) -> Test | None:
    """The comparison with a text, or with a name for one."""
    texts = names.texts_of(node)
    return Test(of, frozenset(texts)) if texts else None


def _compared(operator: str, left: n.Node, right: n.Node, names: Bindings) -> Test | None:
    if isinstance(right, n.Name) and right.id in _NOTHING:
        found = test_of(left, names)
        return opposite(found) if operator == "==" else found
    if names.texts_of(left) is not None:
        left, right = right, left
    found = compared(chain_of(unwrapped(names.resolved(left))), right, names)
    return found if operator == "==" else opposite(found)


def _among(of: n.Node, keys: tuple[tuple[str, ...], bool] | None) -> Test | None:
    return Test(chain_of(of), frozenset(keys[0])) if keys is not None and keys[1] and chain_of(of) else None


def _asked(of: n.Node, how: str, given: tuple[n.Node, ...], names: Bindings) -> Test | None:
    """`name.startsWith("…")`, `["…"].includes(name)`, `table.has(name)`, `Object.hasOwn(table, name)`."""
    if how in _HOLDS:
        if chain_of(of) == ("Object",) and len(given) > 1:
            return _among(given[1], names.keys_of(given[0]))
        listed = names.texts_of(of)
        if listed is not None and names.texts_of(given[0]) is None:
            return Test(chain_of(given[0]), frozenset(listed))
        if how != "includes":
            return _among(given[0], names.keys_of(of))
    texts = names.texts_of(given[0])
    return Test(chain_of(of), frozenset(_PARTS[how].format(name) for name in texts)) if texts and how in _PARTS else None


def _contained(left: n.Node, right: n.Node, names: Bindings) -> Test | None:
    """Python's `name in …`, of a text, a list or a dict."""
    inside, listed = names.texts_of(left), names.texts_of(right)
    if inside and not listed:
        return Test(chain_of(right), frozenset(f"*{name}*" for name in inside))
    if listed and not isinstance(names.resolved(right), n.Text):
        return Test(chain_of(left), frozenset(listed))
    return _among(left, names.keys_of(right))
