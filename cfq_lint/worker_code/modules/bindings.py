"""What the names of a module stand for, as far as the module itself tells."""

from __future__ import annotations

from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import bound_names, chain_of, noted, unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.tree import statements as s

_CHANGES_OF_SCRIPTS = frozenset({"push", "unshift", "splice", "pop", "shift"})
_CHANGES = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "push"})


class Bindings:
    """The names of a module.

    `bound` are the values that declarations give names, `assigned` names that do not keep what they were declared to be, nor
    all that it holds, `replaced` those that are given another value, `rebound` these and all that are bound to what is not
    seen. `asked` are the names that somebody asked for, so that what was found out may rest on them.
    """

    def __init__(self, source: s.Source, *, is_script: bool) -> None:
        self.is_script = is_script
        self.bound: dict[str, list[n.Node]] = {}
        self.assigned: set[str] = set()
        self.replaced: set[str] = set()
        self.asked: set[str] = set()
        for node in noted(source.body):
            self._read(node)
        self.rebound = frozenset(source.rebound | self.assigned)

    def _read(self, node: n.Node) -> None:
        match node:
            case n.Bind(target, value, how):
                if how == n.DECLARES and isinstance(target, n.Name):
                    self.bound.setdefault(target.id, []).append(value)
                elif how != n.DECLARES:
                    self.replaced |= {target.id} if isinstance(target, n.Name) else set()
                    self.assigned |= set(chain_of(target)[:1]) or set(bound_names(target))
            case n.Invoke(given=given):
                chain = chain_of(node.callee)
                if chain == ("Object", "assign") and given:
                    self.assigned |= set(chain_of(given[0])[:1])
                elif len(chain) == 2 and chain[1] in (_CHANGES_OF_SCRIPTS if self.is_script else _CHANGES):  # noqa: PLR2004 - list.push
                    self.assigned.add(chain[0])

    def resolved(self, node: n.Node) -> n.Node:
        """What a name stands for that is declared once around it, and not changed in the module; else the node."""
        node = unwrapped(node)
        value = node.scope.value(node.id) if isinstance(node, n.Name) and node.id not in self.assigned else None
        return unwrapped(value) if value is not None else node
