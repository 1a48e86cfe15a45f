"""A source as a `Module`: its functions and methods, its queue handlers, and what it sends."""

from __future__ import annotations

from cfq_lint.facts.record import replace
from cfq_lint.worker_code.lowering.bindings import Bindings
from cfq_lint.worker_code.lowering.lower import Lowering
from cfq_lint.worker_code.lowering.steps import DEFAULT, Module
from cfq_lint.worker_code.sending.producing import sent
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.asking import chain_of, outside_of_functions, unwrapped, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.worker_code.lowering.steps import Function

_OF_PYTHON = frozenset({"queue", "on_queue"})


def read(path: str, text: str) -> Module | None:
    """The module; None where it does not parse."""
    try:
        source = _parsed(path, text)
        return _Reader(path, text, source, is_script=not path.endswith(".py")).module() if source is not None else None
    except RecursionError:
        return None


def _parsed(path: str, text: str) -> s.Source | None:
    if path.endswith(".py"):
        from cfq_lint.worker_code.grammar import python

        return python.parse(text)
    from cfq_lint.worker_code.grammar import javascript

    return javascript.parse(path, text)


class _Reader:
    def __init__(self, path: str, text: str, source: s.Source, *, is_script: bool) -> None:
        self.path = path
        self.text = text
        self.source = source
        self.names = Bindings(source, is_script=is_script)
        self.lowering = Lowering(path, text, self.names)

    def module(self) -> Module:
        functions: dict[str, list[Function]] = {}
        for name, made in self.functions():
            functions.setdefault(name, []).append(made)
        source, root = self.source, self.source.body
        return Module(
            path=self.path,
            text=self.text,
            functions={name: found[0] for name, found in functions.items() if len(found) == 1},
            imports=source.imports,
            handlers=self.handlers() if self.names.is_script else {DEFAULT: tuple(self.of_python())},
            sent=tuple(sent(root, self.names, self.lowering.spot)),
            constants=self.names.constants(),
            exports=source.exports,
            stars=source.stars,
            sources=source.sources,
            instances=self.names.instances(root),
            rebound=self.names.rebound,
            perhaps=source.perhaps,
        )

    def functions(self) -> Iterator[tuple[str, Function]]:
        """The functions that have a name, and the methods of classes and objects, each by what it is called as."""
        methods: set[int] = set()
        for node in walk(self.source.body):
            if isinstance(node, n.Bind) and isinstance(node.value, n.Lambda) and node.how == n.DECLARES:
                if isinstance(node.target, n.Name):
                    yield node.target.id, self.lowering.function(node.value, node.target.id)
            elif isinstance(node, n.Record):
                members = [each for each in node.members if isinstance(each, n.Pair)]
                methods |= {id(each.value) for each in members}
                for each in members:
                    yield from self.method(node, each)
            elif isinstance(node, n.Lambda) and node.name and id(node) not in methods:
                yield node.name, self.lowering.function(node)

    def method(self, holder: n.Record, member: n.Pair) -> Iterator[tuple[str, Function]]:
        """A method, as its owner's and, of a class, as `this` one's."""
        if not isinstance(member.value, n.Lambda) or member.name is None or not (holder.owner or member.is_method):
            return
        made = replace(self.lowering.function(member.value, member.name), owner=holder.owner)
        if member.is_method or isinstance(holder, n.Class):
            yield f"this.{member.name}", made
        if holder.owner and holder.owner not in self.names.rebound:
            yield f"{holder.owner}.{member.name}", made

    def of_python(self) -> Iterator[Function]:
        """The queue handlers of a Python Worker."""
        for node in self.source.body.inner:
            if isinstance(node, n.Lambda) and node.name == "on_queue":
                yield self.lowering.function(node)
            if isinstance(node, n.Class) and node.owner == "Default":
                for member in node.members:
                    if isinstance(member, n.Pair) and isinstance(member.value, n.Lambda) and member.name in _OF_PYTHON:
                        yield replace(self.lowering.function(member.value), owner=node.owner)

    def handlers(self) -> dict[str, tuple[Function | tuple[str, ...], ...]]:
        """The queue handlers in what a module binds at its top, by name; DEFAULT for what it exports without one."""
        return {name: tuple(self.handlers_in(value)) for name, value in _named_values(self.source.body.inner)}

    def handlers_in(self, value: n.Node) -> Iterator[Function | tuple[str, ...]]:
        """The queue handlers in a value that may be exported, or the paths of those that it only names."""
        lent: list[tuple[str, ...]] = []
        for each in self.within(value):
            if isinstance(each, n.Pair) and each.name == "queue":
                yield from self.handler(each)
        for each in outside_of_functions(value):
            given = each.given if isinstance(each, n.Invoke) else ()
            lent += [(one.id, "queue") for one in given if isinstance(one, n.Name) and one.id in self.source.imports]
            if isinstance(each, n.Spread) and isinstance(each.value, n.Name):
                lent.append((each.value.id, "queue"))
        yield from lent

    def handler(self, member: n.Pair) -> Iterator[Function | tuple[str, ...]]:
        """What a member called `queue` is."""
        made = unwrapped(member.value)
        if isinstance(made, n.Lambda):
            holders = [each for each in walk(self.source.body) if isinstance(each, n.Record)]
            owners = [each.owner for each in holders if member.is_method and member in each.members]
            yield replace(self.lowering.function(made, "queue"), owner=(*owners, "")[0])
        elif chain_of(made) and not isinstance(made, n.Invoke):
            yield chain_of(made)

    def within(self, value: n.Node) -> Iterator[n.Node]:
        """What stands in a value, and in the objects that a wrapper there is given by name."""
        for each in outside_of_functions(value):
            yield each
            for given in each.given if isinstance(each, n.Invoke) else ():
                named = self.names.resolved(given) if isinstance(given, n.Name) else given
                if named is not given and isinstance(named, n.Record):
                    yield from outside_of_functions(named)


def _named_values(body: tuple[n.Node, ...]) -> Iterator[tuple[str, n.Node]]:
    for node in body:
        if isinstance(node, n.Other):
            yield from _named_values(node.inner)
        elif isinstance(node, n.Bind) and isinstance(node.target, n.Name) and node.how == n.DECLARES:
            yield node.target.id, unwrapped(node.value)
        elif isinstance(node, n.Lambda | n.Class):
            yield (node.name if isinstance(node, n.Lambda) else node.owner) or DEFAULT, node
