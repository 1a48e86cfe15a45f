"""The calls in an expression, as steps in the order in which they happen."""

from __future__ import annotations

from itertools import pairwise

from cfq_lint.facts.record import replace
from cfq_lint.worker_code.lowering.bindings import MEMORIES, is_together
from cfq_lint.worker_code.lowering.choosing import choice_of
from cfq_lint.worker_code.lowering.steps import (
    IDEMPOTENCY_KEY,
    NEW,
    NOTHING,
    RAISE,
    RETURN,
    Argument,
    Branch,
    Call,
    Exit,
    Floating,
    Loop,
    Spot,
    Test,
    Try,
)
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import (
    chain_of,
    handed,
    is_fresh,
    mentions_of,
    outside_of_functions,
    receivers,
    unwrapped,
    walk,
    whole_in,
    without_spread,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.worker_code.lowering.bindings import Bindings
    from cfq_lint.worker_code.lowering.choosing import Choice
    from cfq_lint.worker_code.lowering.steps import Function, Step

_EACH = frozenset({"map", "forEach", "filter", "flatMap"})
_FIRST = frozenset({"any", "race"})
_COLLECTS = frozenset({"push", "append", "create_task"})
_HELD = frozenset({"waitUntil", "wait_until"})
_TASKS = frozenset({"create_task", "ensure_future"})
_PARTS = frozenset({"entries", "values", "slice", "filter", "toSorted"})
_COPIES = frozenset({"enumerate", "list", "sorted", "reversed"})
_BUILT_IN = MEMORIES | {"Array", "Date", "Promise", "Request", "Response", "URL", "Headers", "FormData", "Uint8Array", "Blob"}
"""What is made of these does nothing with what it is given."""


class Calls:
    """What a call means. What stands in it is left to whoever lowers all of a language."""

    def __init__(self, path: str, text: str, names: Bindings) -> None:
        self.path = path
        self.lines = text.encode("utf-8", "replace").split(b"\n")
        self.names = names

    def steps(self, node: n.Node, *, awaited: bool = False) -> Iterator[Step]:
        """The steps of any node; `awaited` says that nothing goes on before what it gives is there."""
        raise NotImplementedError

    def function(self, node: n.Lambda, name: str = "", *, result_is_awaited: bool = True) -> Function:
        """A function; of one that is not async, `result_is_awaited` says whether somebody waits for what it gives back."""
        raise NotImplementedError

    def spot(self, node: n.Node) -> Spot:
        """Where a node stands."""
        row, column = node.at
        return Spot(self.path, row + 1, len(self.lines[row][:column].decode("utf-8", "replace")) + 1)

    def inner(self, values: list[n.Node]) -> tuple[Step, ...]:
        """The steps of values that are waited for."""
        return tuple(step for value in values for step in self.steps(value, awaited=True))

    def call(self, node: n.Invoke, *, awaited: bool) -> Iterator[Step]:
        """What a call does, by what it is called on."""
        chosen = choice_of(node.callee, self.names)
        if chosen is not None:
            yield from self.chosen(node, chosen, awaited=awaited)
            return
        chain, values, spot = chain_of(node.callee), [without_spread(each) for each in node.given], self.spot(node)
        is_joined = len(chain) == 2 and chain[0] in self.names.joined and chain[1] in _COLLECTS  # noqa: PLR2004 - list.push
        if is_together(chain):
            inner = self.inner(values)
            inner = (Try(inner, (), (), (), spot),) if chain[-1] == "allSettled" or _returns_failures(node) else inner
            yield from inner if awaited or chain[-1] == "gather" else (Floating(inner, spot),)
        elif chain[:1] == ("Promise",) and chain[-1] in _FIRST:
            # The first of them is waited for, and the others are not.
            yield Floating(self.inner(values), spot)
        elif is_joined or (chain and chain[-1] in _HELD | _TASKS):
            inner = self.inner(values)
            is_waited_for = awaited and chain[-1] in _TASKS
            yield from inner if is_waited_for else (Floating(inner, spot, chain[-1] in _HELD, is_joined),)
        elif isinstance(node.callee, n.Lambda):
            called = Argument((), NOTHING, NOTHING, self.function(node.callee))
            yield Call(("?",), (called,), NOTHING, "", awaited, False, spot)
        elif self.names.is_script and isinstance(node.callee, n.Member):
            yield from self.method(node, node.callee, values, awaited=awaited)
        else:
            yield from self.plain(node, chain, values, awaited=awaited)

    def chosen(self, node: n.Invoke, choice: Choice, *, awaited: bool) -> Iterator[Step]:
        """A function out of a table: one of several, and none for any other key."""
        *given, last = self.plain(node, ("?",), [without_spread(each) for each in node.given], awaited=awaited)
        yield from given
        assert isinstance(last, Call), "a call ends with itself"
        arms: list[tuple[Test | None, tuple[Step, ...]]] = []
        for key in choice.keys:
            call = replace(last, chain=(*choice.table, key, *choice.member))
            arms.append((Test(choice.by, frozenset({key})) if choice.by else None, (call,)))
        if not choice.is_whole:
            arms.append((None, (last,)))
        arms.append((None, () if isinstance(node, n.Perhaps) else (Exit(RAISE),)))
        yield Branch(tuple(arms), (choice.by,) if choice.by else ())

    def method(self, node: n.Invoke, callee: n.Member, values: list[n.Node], *, awaited: bool) -> Iterator[Step]:
        """A method of JavaScript's promises and lists, or any other."""
        receiver, name = callee.of, callee.name
        if name in {"then", "catch", "finally"}:
            yield from self.promised(receiver, name, values, awaited=awaited)
        elif name in _EACH and values:
            yield from self.steps(receiver)
            loop = self.each(node, receiver, values[0], waits=name != "forEach", awaited=awaited)
            is_loose = name != "forEach" and not awaited and isinstance(values[0], n.Lambda) and values[0].is_async
            yield Floating((loop,), self.spot(node)) if is_loose else loop
        elif name == "reduce" and values and isinstance(values[0], n.Lambda):
            yield from self.steps(receiver)
            yield self.reduced(node, receiver, values[0], awaited=awaited)
        else:
            yield from self.plain(node, chain_of(callee), values, awaited=awaited)

    def reduced(self, node: n.Node, receiver: n.Node, value: n.Lambda, *, awaited: bool) -> Step:
        """`reduce()`: one after another where each waits for what the one before gave back, else all at once."""
        made = self.function(value, result_is_awaited=awaited)
        before, element = (*made.parameters[:2], "", "")[:2]
        names = (element,) if isinstance(element, str) else element
        inside = [each for body in value.body for each in walk(body)]
        waited = {name for each in inside if not made.is_async or isinstance(each, n.Wait) for name in _named_by(each)}
        loop = Loop(names, chain_of(looped_over(receiver)), mentions_of(receiver), made.body, self.spot(node), is_function=True)
        return loop if before in waited and (awaited or not made.is_async) else Floating((loop,), self.spot(node))

    def promised(self, receiver: n.Node, how: str, values: list[n.Node], *, awaited: bool) -> Iterator[Step]:
        """`then()`, `catch()` and `finally()`, as the statements that they stand for."""
        before, spot = tuple(self.steps(receiver, awaited=True)), self.spot(receiver)
        blocks = [self.function(value).body if isinstance(value, n.Lambda) else self.named(value) for value in values]
        blocks = [tuple(step for step in block if step != Exit(RETURN)) for block in blocks]
        first = blocks[0] if blocks else ()
        steps: tuple[Step, ...]
        if how == "then":
            steps = (*before, *first) if len(blocks) < 2 else (Try(before, blocks[1], first, (), spot),)  # noqa: PLR2004 - both of then()'s
        else:
            steps = (Try(before, first, (), (), spot) if how == "catch" else Try(before, None, (), first, spot),)
        yield from steps if awaited else (Floating(steps, spot),)

    def named(self, value: n.Node) -> tuple[Step, ...]:
        """What a function does that is only named, as in `.then(message.ack)`."""
        chain = chain_of(value)
        return (Call(chain, (), mentions_of(value), "", True, False, self.spot(value)),) if chain else tuple(self.steps(value))

    def each(self, node: n.Node, receiver: n.Node, value: n.Node, *, waits: bool, awaited: bool) -> Loop:
        """A loop whose body is a function that is given each element."""
        if isinstance(receiver, n.Listing) and len(receiver.items) == 1 and isinstance(receiver.items[0], n.Spread):
            receiver = receiver.items[0].value
        chain, mentions, spot = chain_of(looped_over(receiver)), mentions_of(receiver), self.spot(node)
        if not isinstance(value, n.Lambda):
            return Loop((), chain, mentions, (), spot, waits, called=Argument(chain_of(value), mentions_of(value), NOTHING))
        made = self.function(value, result_is_awaited=awaited)
        names = made.parameters[0] if made.parameters else ()
        names = (names,) if isinstance(names, str) else names
        return Loop(names, chain, mentions, made.body, spot, waits or not made.is_async, is_function=True)

    def plain(self, node: n.Invoke, chain: tuple[str, ...], values: list[n.Node], *, awaited: bool) -> Iterator[Step]:
        """Any other call."""
        held, given = NOTHING, [*values]
        *before, start = receivers(node.callee)
        for value in [each for call in before if isinstance(call, n.Invoke) for each in call.given]:
            given.append(value)
            yield from self.steps(value)
            held |= handed(value)
        if isinstance(start, n.New):
            yield from self.made(start)
        arguments = []
        for value in values:
            if isinstance(value, n.Lambda):
                arguments.append(Argument(chain_of(value), NOTHING, NOTHING, self.function(value)))
                continue
            yield from self.steps(value)
            arguments.append(Argument(chain_of(value), mentions_of(value), whole_in(value), fresh=is_fresh(value)))
        fresh, spot = any(map(is_fresh, given)), self.spot(node)
        forgets = chain[-2:-1] != () and chain[-2] in self.names.in_memory
        mentions, text = mentions_of(node), self.text(node)
        yield Call(chain or ("?",), tuple(arguments), mentions, text, awaited, fresh, spot, *self.key(node), forgets, held)

    def text(self, node: n.Node) -> str:
        """The strings in a call, also by their names, and the names of fields with a `=` behind them."""
        inside = list(walk(node))
        strings = [each for each in inside if isinstance(each, n.Text | n.Template)]
        strings += [each for each in map(self.names.resolved, _only_names(inside)) if isinstance(each, n.Text | n.Template)]
        fields = [f"{each.name}=" for each in inside if isinstance(each, n.Member | n.Pair | n.Keyword) and each.name]
        return "\n".join([*(each.value for each in strings), *fields])

    def made(self, node: n.New) -> Iterator[Step]:
        """`new Class(…)`: whoever is handed a message may do anything with it later."""
        values = [without_spread(each) for each in node.given]
        for value in values:
            yield from self.steps(value)
        name = ".".join(chain_of(node.callee))
        if name not in _BUILT_IN and not name.endswith("Error"):
            arguments = tuple(Argument(chain_of(value), mentions_of(value), handed(value)) for value in values)
            yield Call((f"{NEW}{name}",), arguments, mentions_of(node), "", False, False, self.spot(node))

    def key(self, node: n.Node) -> tuple[frozenset[str] | None, bool]:
        """The names in what a call has as idempotency key, None without one, and whether that is made on the spot."""
        values: list[n.Node] = []
        for each in outside_of_functions(node):
            match each:
                case n.Pair(name, key, value):
                    values += [value] if IDEMPOTENCY_KEY.search(name or ".".join(chain_of(key) if key else ())) else []
                case n.Keyword(name, value):
                    values += [value] if IDEMPOTENCY_KEY.search(name) else []
                case n.Invoke(_, given):
                    pairs = pairwise(given)
                    values += [
                        after for named, after in pairs if isinstance(named, n.Text) and IDEMPOTENCY_KEY.search(named.value)
                    ]
        if not values:
            return None, False
        is_made_here = any(is_fresh(self.names.resolved(value)) for value in values)
        return frozenset(name for value in values for name in mentions_of(value)), is_made_here


def looped_over(node: n.Node) -> n.Node:
    """What is looped over in `batch.messages.entries()`, `enumerate(batch.messages)` and the like."""
    match unwrapped(node):
        case n.Invoke(n.Member(of, name)) if name in _PARTS:
            return of
        case n.Invoke(n.Name(name), (of, *_)) if name in _COPIES:
            return of
        case plain:
            return plain


def _named_by(node: n.Node) -> list[str]:
    """The name that is waited for, or that stands there."""
    node = unwrapped(node)
    return [node.id] if isinstance(node, n.Name) else []


def _only_names(nodes: list[n.Node]) -> list[n.Node]:
    return [each for each in nodes if isinstance(each, n.Name)]


def _returns_failures(call: n.Invoke) -> bool:
    """`gather(…, return_exceptions=True)`."""
    given = [each.value for each in call.given if isinstance(each, n.Keyword) and each.name == "return_exceptions"]
    return any(isinstance(each, n.Number) and each.value is True for each in given)
