"""A source as a module: what it binds, exports and sends."""

from __future__ import annotations

from copy import copy

from cfq_lint.facts.record import record
from cfq_lint.worker_code.modules.bindings import Bindings
from cfq_lint.worker_code.sending.producing import sent
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import chain_of, noted
from cfq_lint.worker_code.tree.spots import Spot
from cfq_lint.worker_code.tree.statements import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from cfq_lint.worker_code.sending.producing import Sent
    from cfq_lint.worker_code.tree import statements as s


LENGTH_MAX = 1_000_000
LINE_MAX = 10_000
"""No line that somebody wrote is that long."""
TOO_DEEP = "is nested too deep to be read"


class Module:
    """One source, or a view of it from inside of a function: then `around` says what the names of a function around stand for.

    `this` is what methods are called on, None where that is not known. `set_later` are the members that objects get after they
    are made, `worker.queue = …`, by the object's name and their own.
    `kept` is for what is found out about it and asked again, `failed` the last text after this one that does not parse.
    """

    def __init__(self, path: str, text: str, source: s.Source) -> None:
        self.path = path
        self.text = text
        self.failed: str | None = None
        self.source = source
        self.base = self
        self.around: Mapping[str, Value | None] = {}
        self.this: Value | None = None
        self.names = Bindings(source, is_script=not path.endswith(".py"))
        self.declared: dict[str, list[n.Node]] = {}
        self.set_later: dict[tuple[str, str], n.Node] = {}
        self.exports = dict(source.exports)
        self._methods: dict[str, list[tuple[n.Record, n.Pair]]] = {}
        self.kept: dict[str, Any] = {}
        self._read()

    def again(self) -> Module:
        """The same for another program, whose names may mean something else elsewhere; it is not read once more."""
        made = self.view({}, None)
        made.base, made.kept = made, {}
        return made

    def become(self, other: Module) -> None:
        """Be another module of the same path from now on, with all views of this one."""
        other.names.asked |= self.names.asked
        vars(self.names).update(vars(other.names))
        for mine, its in (
            *((self.declared, other.declared), (self.set_later, other.set_later), (self.exports, other.exports)),
            *((self._methods, other._methods), (self.source.scope.names, other.source.scope.names)),
        ):
            if mine is not its:
                mine.clear()
                mine.update(its)  # type: ignore[arg-type]
        self.text, self.source, self.kept = other.text, other.source, {}

    def view(self, around: Mapping[str, Value | None], this: Value | None) -> Module:
        """The module as a function sees it that stands in another one, or that is somebody's method."""
        made = copy(self.base)
        made.around, made.this = around, this
        return made

    @property
    def sent(self) -> tuple[Sent, ...]:
        """Every `send` and `sendBatch` in it."""
        if "sent" not in self.kept:
            self.kept["sent"] = tuple(sent(self.source.body, self.names, self.spot))
        found: tuple[Sent, ...] = self.kept["sent"]
        return found

    def spot(self, node: n.Node) -> Spot:
        """Where a node stands."""
        row, column = node.at
        line = self.text.split("\n")[row].encode("utf-8", "replace")
        return Spot(self.path, row + 1, len(line[:column].decode("utf-8", "replace")) + 1)

    def once(self, name: str) -> n.Node | None:
        """What a name stands for that is bound once in all of the module, wherever that is."""
        self.names.asked.add(name)
        found = self.declared.get(name, [])
        return found[0] if len(found) == 1 and name not in self.names.rebound else None

    def holder(self, function: n.Lambda) -> n.Class | None:
        """The class that a function is a method or field of."""
        several = (each for listed in self._methods.values() for each in listed)
        return next((of for of, member in several if member.value is function and isinstance(of, n.Class)), None)

    def _read(self) -> None:
        methods: set[int] = set()
        for node in noted(self.source.body):
            match node:
                case n.Bind(n.Name(name), value, n.DECLARES):
                    self.declared.setdefault(name, []).append(value)
                case n.Record(members):
                    if node.owner and (isinstance(node, n.Class)):
                        self.declared.setdefault(node.owner, []).append(node)
                    for each in members:
                        if isinstance(each, n.Pair) and isinstance(each.value, n.Lambda) and each.name is not None:
                            methods.add(id(each.value))
                            if each.is_method or isinstance(node, n.Class):
                                self._methods.setdefault(each.name, []).append((node, each))
                case n.Lambda(name) if name and id(node) not in methods:
                    self.declared.setdefault(name, []).append(node)
        for target, value in _set_at_the_top(self.source.body.inner):
            self._set(chain_of(target), value)

    def _set(self, chain: tuple[str, ...], value: n.Node) -> None:
        """`module.exports = …`, `exports.name = …` and `worker.queue = …`."""
        scope = self.source.scope
        match chain:
            case ("module", "exports") if not scope.names.get("module"):
                scope.bind(DEFAULT, value)
                self.exports[DEFAULT] = ("", DEFAULT)
            case ("exports", name) | ("module", "exports", name) if not scope.names.get(chain[0]):
                scope.bind(f"exports.{name}", value)
                self.exports[name] = ("", f"exports.{name}")
            case (name, member):
                self.set_later[name, member] = value


@record
class Value:
    """A node that is no name, in its module.

    `around` says what the parameters of the functions around it stand for, `this` what a method was found on. `is_instance`
    says that a class stands for an object that is made of it.
    """

    module: Module
    node: n.Node
    around: Mapping[str, Value | None]
    this: Value | None = None
    is_instance: bool = False

    def beside(self, node: n.Node) -> Value:
        """Another node that sees the same names."""
        return Value(self.module, node, self.around, self.this)


def _set_at_the_top(body: tuple[n.Node, ...]) -> Iterator[tuple[n.Node, n.Node]]:
    for node in body:
        if isinstance(node, n.Other):
            yield from _set_at_the_top(node.inner)
        elif isinstance(node, n.Bind) and node.how == n.SETS:
            yield node.target, node.value


def is_minified(text: str) -> bool:
    """Whether a text is nothing that somebody wrote by hand, nor anything that is worth the time of reading it."""
    return len(text) > LENGTH_MAX or (len(text) > LINE_MAX and any(len(line) > LINE_MAX for line in text.splitlines()))


def read(path: str, text: str, before: Module | None = None) -> Module | str:
    """The module, or why it cannot be read.

    `before` is the module of another text: what is the same in both is taken over, and that one is of no use any more.
    """
    if is_minified(text):
        return "is minified, or too long to be read"
    if before is not None and before.failed == text:
        return "does not parse"
    try:
        source = _parsed(path, text, before)
        if source is not None:
            return Module(path, text, source)
    except RecursionError:
        return TOO_DEEP
    if before is not None:
        before.failed = text
    return "does not parse"


def _parsed(path: str, text: str, before: Module | None) -> s.Source | None:
    if path.endswith(".py"):
        from cfq_lint.worker_code.grammar import python

        return python.parse(text, before.source if before is not None else None)
    from cfq_lint.worker_code.grammar import javascript

    return javascript.parse(path, text, before.source if before is not None else None)
