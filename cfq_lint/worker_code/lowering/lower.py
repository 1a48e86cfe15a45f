"""Statements and expressions of either language as steps."""

from __future__ import annotations

from cfq_lint.worker_code.lowering.calls import Calls, looped_over
from cfq_lint.worker_code.lowering.choosing import compared, test_of
from cfq_lint.worker_code.lowering.steps import (
    BREAK,
    NOTHING,
    RAISE,
    RETURN,
    Assign,
    Branch,
    Exit,
    Function,
    Loop,
    Try,
    either,
)
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.asking import bound_names, chain_of, handed, is_fresh, mentions_of, paths_in, unwrapped, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.worker_code.lowering.bindings import Bindings
    from cfq_lint.worker_code.lowering.steps import Step, Test


class Lowering(Calls):
    """Lowers the nodes of one module."""

    def __init__(self, path: str, text: str, names: Bindings) -> None:
        super().__init__(path, text, names)
        # An async function's result is flattened into its own promise; in Python a task stays what it is.
        self.result_is_awaited = names.is_script

    def function(self, node: n.Lambda, name: str = "", *, result_is_awaited: bool = True) -> Function:
        """A function; of one that is not async, `result_is_awaited` says whether somebody waits for what it gives back."""
        around = self.result_is_awaited
        self.result_is_awaited = self.names.is_script and (node.is_async or result_is_awaited)
        steps = tuple(step for each in node.body for step in self.steps(each, awaited=node.gives and self.result_is_awaited))
        self.result_is_awaited = around
        steps = (*steps, Exit(RETURN)) if node.gives else steps
        names = tuple(bound_names(each) if isinstance(each, n.Pattern) else bound_names(each)[0] for each in node.parameters)
        return Function(name or node.name, names, steps, node.is_async, self.spot(node))

    def block(self, node: n.Node) -> tuple[Step, ...]:
        """The steps of a block, or of one statement that stands for one."""
        return tuple(self.steps(node))

    def steps(self, node: n.Node, *, awaited: bool = False) -> Iterator[Step]:
        """The steps of any node; `awaited` says that nothing goes on before what it gives is there."""
        match node:
            case n.Wait(value):
                yield from self.steps(value, awaited=True)
            case n.New():
                yield from self.made(node)
            case n.Invoke():
                yield from self.call(node, awaited=awaited)
            case n.Bind():
                yield from self.bind(node)
            case n.Either(test, then, other):
                yield from self.steps(test)
                first, second = (tuple(self.steps(each, awaited=awaited)) for each in (then, other))
                yield Branch(((test_of(test, self.names), first), (None, second)), paths_in(test))
            case n.Binary("and" | "or" | "??", left, right):
                yield from self.steps(left)
                rest = tuple(self.steps(right, awaited=awaited))
                if rest:
                    yield Branch(((None, rest), (None, ())), paths_in(left))
            case n.Comprehension(made, target, over):
                steps = tuple(self.steps(made, awaited=awaited))
                yield from self.steps(over)
                if steps:
                    yield self.loop(target, over, steps, node)
            case s.Each(target, over, body, orelse):
                yield from self.steps(over)
                yield self.loop(target, over, self.block(body), node)
                yield from self.steps(orelse)
            case s.Leave(kind, values):
                for each in values if kind == RETURN else ():
                    yield from self.steps(each, awaited=self.result_is_awaited)
                yield Exit(kind)
            case s.Repeat() | s.Switch() | s.Attempt() | s.With():
                yield from self.statement(node)
            case n.Lambda() | n.Class() | n.Later():
                return
            case _:
                for child in node.parts:
                    yield from self.steps(child, awaited=awaited)

    def statement(self, node: n.Node) -> Iterator[Step]:
        """The larger statements."""
        match node:
            case s.Repeat():
                yield from self.repeated(node)
            case s.Switch(subject):
                yield from self.steps(subject)
                yield self.switch(node)
            case s.Attempt(body, handlers, orelse, final):
                caught = [(None, self.block(handler.body)) for handler in handlers]
                if not any(not handler.options for handler in handlers):
                    caught.append((None, (Exit(RAISE),)))
                handler = caught[0][1] if len(caught) == 1 else (Branch(tuple(caught)),)
                yield Try(
                    self.block(body), handler if handlers else None, self.block(orelse), self.block(final), self.spot(node)
                )
            case s.With(items, _, body, swallows):
                for item in items:
                    yield from self.steps(item)
                steps = self.block(body)
                if swallows is not None:
                    ways = ((None, ()),) if swallows else ((None, ()), (None, (Exit(RAISE),)))
                    steps = (Try(steps, (Branch(ways),), (), (), self.spot(node)),)
                yield from steps

    def loop(self, target: n.Node, over: n.Node, body: tuple[Step, ...], node: n.Node) -> Loop:
        """A loop over elements; what counts them is none of their names."""
        names = bound_names(target)
        counts = isinstance(over, n.Invoke) and isinstance(over.callee, n.Name) and over.callee.id == "enumerate"
        return Loop(names[1:] if counts else names, chain_of(looped_over(over)), mentions_of(over), body, self.spot(node))

    def repeated(self, node: s.Repeat) -> Iterator[Step]:
        """`for (let i = 0; i < batch.messages.length; i++)`: for each element of what is counted, else perhaps never."""
        body = self.block(node.body)
        lengths = [each for each in walk(node.test) if node.is_counted and isinstance(each, n.Member) and each.name == "length"]
        if lengths and chain_of(lengths[0].of):
            yield Loop((), chain_of(lengths[0].of), mentions_of(node.test), body, self.spot(node))
            return
        if not node.is_counted:
            yield from self.steps(node.test)
        yield Branch(((None, body), (None, ())))

    def switch(self, node: s.Switch) -> Branch:
        """A choice by the value of something."""
        is_true = isinstance(node.subject, n.Other | n.Number) and not chain_of(node.subject)
        of = chain_of(self.names.resolved(node.subject))
        arms: list[tuple[Test | None, tuple[Step, ...]]] = []
        otherwise: tuple[Step, ...] = ()
        for case in node.cases:
            steps = self.block(case.body)
            steps = steps[:-1] if node.is_left and steps and steps[-1] == Exit(BREAK) else steps
            if case.options:
                tests = [test_of(each, self.names) if is_true else compared(of, each, self.names) for each in case.options]
                arms.append((either(tests), steps))
            else:
                otherwise = steps
        return Branch((*arms, (None, otherwise)), paths_in(node.subject))

    def bind(self, node: n.Bind) -> Iterator[Step]:
        """A value that names get; a function is found by its name instead."""
        target, value = node.target, node.value
        if isinstance(value, n.Lambda):
            return
        chain, names = chain_of(target), bound_names(target)
        yield from self.steps(value, awaited=isinstance(target, n.Name) and target.id in self.names.joined)
        kept = handed(value) if chain[:1] == ("this",) and len(chain) > 1 else NOTHING
        mentions, about = mentions_of(value), paths_in(value)
        is_added = node.how == n.ADDS
        mentions = mentions | frozenset(names) if is_added else mentions
        of, is_pattern = () if is_added else chain_of(unwrapped(value)), not isinstance(target, n.Name)
        yield Assign(names, of, mentions, is_fresh(value), is_pattern, about, kept, self.spot(value))
