"""What the names of a module stand for, as far as the module itself tells."""

from __future__ import annotations

from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.asking import bound_names, chain_of, constructed, unwrapped, walk, without_spread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    Elsewhere: TypeAlias = tuple[Callable[[n.Node], list[str] | None], Callable[[n.Node], tuple[tuple[str, ...], bool] | None]]

MEMORIES = frozenset({"Set", "Map", "WeakSet", "WeakMap", "LRUCache"})
TOGETHER = frozenset({"all", "allSettled"})
_CHANGES_OF_SCRIPTS = frozenset({"push", "unshift", "splice", "pop", "shift"})
_CHANGES = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "push"})


class Bindings:
    """The names of a module.

    `bound` are the values that declarations give names, `assigned` names that do not keep what they were declared to be, nor
    all that it holds, `replaced` those that are given another value, `rebound` these and all that are bound to what is not
    seen. `joined` are names of promises and tasks, and of lists and groups of them, that are waited for, `in_memory` those of
    sets and maps of this process. `elsewhere` is what whoever knows the other modules as well says of texts and of tables.
    """

    def __init__(self, source: s.Source, *, is_script: bool) -> None:
        self.is_script = is_script
        self.elsewhere: Elsewhere | None = None
        self.bound: dict[str, list[n.Node]] = {}
        self.assigned: set[str] = set()
        self.replaced: set[str] = set()
        self.joined: set[str] = set()
        self.in_memory: set[str] = set()
        for node in walk(source.body):
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
                self._keep(target, value)
            case n.Pair(name, value=value) if name is not None:
                self._keep(node, value)
            case n.Wait(n.Name(name)):
                self.joined.add(name)
            case s.With(items, targets) if any(chain_of(each)[-1:] == ("TaskGroup",) for each in items):
                self.joined |= {name for each in targets for name in bound_names(each)}
            case n.Invoke(given=given):
                chain = chain_of(node.callee)
                if chain == ("Object", "assign") and given:
                    self.assigned |= set(chain_of(given[0])[:1])
                elif len(chain) == 2 and chain[1] in (_CHANGES_OF_SCRIPTS if self.is_script else _CHANGES):  # noqa: PLR2004 - list.push
                    self.assigned.add(chain[0])
                if is_together(chain):
                    values = [inner for each in given for inner in (each.items if isinstance(each, n.Listing) else (each,))]
                    self.joined |= {each.id for each in map(without_spread, values) if isinstance(each, n.Name)}

    def _keep(self, target: n.Node, value: n.Node) -> None:
        if constructed(unwrapped(value)) in MEMORIES and isinstance(target, n.Name | n.Member | n.Pair):
            self.in_memory.add(target.id if isinstance(target, n.Name) else target.name or "")

    def resolved(self, node: n.Node) -> n.Node:
        """What a name stands for that is declared once around it, and not changed in the module; else the node."""
        node = unwrapped(node)
        value = node.scope.value(node.id) if isinstance(node, n.Name) and node.id not in self.assigned else None
        return unwrapped(value) if value is not None else node

    def texts_of(self, node: n.Node) -> list[str] | None:
        """The texts that an expression is or lists; None where it holds anything else."""
        return self.elsewhere[0](node) if self.elsewhere is not None else None

    def keys_of(self, node: n.Node) -> tuple[tuple[str, ...], bool] | None:
        """The keys of a table, and whether these are all; None where it is no table that is written out."""
        return self.elsewhere[1](node) if self.elsewhere is not None else None


def is_together(chain: tuple[str, ...]) -> bool:
    """Whether a path means that several are waited for at once."""
    return chain[-1:] == ("gather",) or (len(chain) == 2 and chain[0] == "Promise" and chain[1] in TOGETHER)  # noqa: PLR2004 - Promise.all
