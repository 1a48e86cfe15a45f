"""What the names of a module stand for, and what conditions say of them."""

from __future__ import annotations

from cfq_lint.worker_code.lowering.steps import NOTHING, Test, either, opposite
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.asking import bound_names, chain_of, constructed, unwrapped, walk, without_spread

MEMORIES = frozenset({"Set", "Map", "WeakSet", "WeakMap", "LRUCache"})
TOGETHER = frozenset({"all", "allSettled"})
_CHANGES_OF_SCRIPTS = frozenset({"push", "unshift", "splice", "pop", "shift"})
_CHANGES = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "push"})
_PARTS = {"startsWith": "{}*", "startswith": "{}*", "endsWith": "*{}", "endswith": "*{}", "includes": "*{}*"}
"""Questions about a part of a name, as patterns."""


class Bindings:
    """The names of a module.

    `bound` are the values that declarations give names, `assigned` names that do not keep what they were declared to be, nor
    all that it holds, `rebound` these and all that are bound to what is not seen. `joined` are names of promises and tasks, and
    of lists and groups of them, that are waited for, `in_memory` those of sets and maps of this process.
    """

    def __init__(self, source: s.Source, *, is_script: bool) -> None:
        self.is_script = is_script
        self.bound: dict[str, list[n.Node]] = {}
        self.assigned: set[str] = set()
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

    def texts(self, node: n.Node) -> list[str] | None:
        """The texts that an expression is or lists; None where it holds anything else."""
        node = self.resolved(node)
        values = [self.resolved(each) for each in node.items] if isinstance(node, n.Listing) else [node]
        texts = [each.value for each in values if isinstance(each, n.Text)]
        return texts if len(texts) == len(values) else None

    def constants(self) -> dict[str, str]:
        """The names that are bound once, to a text."""
        once = {name: self.texts(values[0]) for name, values in self.bound.items() if len(values) == 1}
        return {
            name: texts[0] for name, texts in once.items() if texts is not None and len(texts) == 1 and name not in self.rebound
        }

    def instances(self, root: n.Node) -> dict[str, str]:
        """The names, and the fields as `Class.field`, that hold an instance of one class for all their life, with its name.

        In Python that may be what a function of that name gives.
        """
        held = {name: values for name, values in self.bound.items() if name not in self.rebound}
        for owner in [each for each in walk(root) if isinstance(each, n.Class) and each.owner]:
            for each in walk(owner):
                match each:
                    case n.Bind(n.Member(n.This(), name), value):
                        held.setdefault(f"{owner.owner}.{name}", []).append(value)
            for member in owner.members:
                if isinstance(member, n.Pair) and not member.is_method:
                    held.setdefault(f"{owner.owner}.{member.name}", []).append(member.value)
        made = {name: self._maker(values[0]) for name, values in held.items() if len(values) == 1}
        return {name: one for name, one in made.items() if one is not None}

    def _maker(self, node: n.Node) -> str | None:
        node = unwrapped(node) if self.is_script else node
        is_call = isinstance(node, n.New) or (isinstance(node, n.Invoke) and not self.is_script)
        return node.callee.id if is_call and isinstance(node, n.Invoke) and isinstance(node.callee, n.Name) else None

    def test(self, node: n.Node) -> Test | None:
        """A comparison with names, if a condition is one; a name may be a constant of the module."""
        match node:
            case n.Not(value):
                return opposite(self.test(value))
            case n.Binary("or", left, right):
                return either([self.test(left), self.test(right)])
            case n.Invoke(n.Member(of, how), (given,)) if how in _PARTS:
                names = self.texts(given)
                return Test(chain_of(of), frozenset(_PARTS[how].format(name) for name in names)) if names else None
            case n.Binary("in", left, right):
                return self._contained(left, right)
            case n.Binary("==" | "!=" as operator, left, right):
                if self.texts(left) is not None:
                    left, right = right, left
                compared = self.compared(chain_of(left), right)
                return compared if operator == "==" else opposite(compared)
            case _:
                return None

    def _contained(self, left: n.Node, right: n.Node) -> Test | None:
        """`name in …`, of a text or of a list."""
        inside, names = self.texts(left), self.texts(right)
        if inside and not names:
            return Test(chain_of(right), frozenset(f"*{name}*" for name in inside))
        return Test(chain_of(left), frozenset(names)) if names and isinstance(self.resolved(right), n.Listing) else None

    def compared(self, of: tuple[str, ...], node: n.Node) -> Test | None:
        """The comparison with a text, or with a name that may be imported."""
        names = self.texts(node)
        if names:
            return Test(of, frozenset(names))
        if isinstance(node, n.Name) and node.id not in self.bound:
            return Test(of, NOTHING, imported=frozenset({node.id}))
        return None


def is_together(chain: tuple[str, ...]) -> bool:
    """Whether a path means that several are waited for at once."""
    return chain[-1:] == ("gather",) or (len(chain) == 2 and chain[0] == "Promise" and chain[1] in TOGETHER)  # noqa: PLR2004 - Promise.all
