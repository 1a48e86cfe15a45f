"""Calls that send to a queue: in which loop, and what a batch is made of."""

from __future__ import annotations

import re

from cfq_lint.facts import limits
from cfq_lint.facts.record import record
from cfq_lint.worker_code.sending.producing import binding_of, length_of
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.asking import SENDING, chain_of, noted, unwrapped, walk
from cfq_lint.worker_code.ways.marks import Mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cfq_lint.worker_code.modules.module import Module
    from cfq_lint.worker_code.modules.program import Program
    from cfq_lint.worker_code.ways.values import Called

_EACH = frozenset({"map", "forEach", "flatMap"})
_SHORT = 4
_CUTS = re.compile(r"chunk|batch(?!\.)|slice|splice|paginate|partition|take|limit|window|group", re.IGNORECASE)
_UNLIMITED = re.compile(r"\bselect\b(?![^;]*\blimit\b)", re.IGNORECASE | re.DOTALL)
_LIMITED = re.compile(r"\blimit\b", re.IGNORECASE)


@record
class Send:
    """A call of `send` or `sendBatch` on a binding.

    `loop` is the loop around it that goes through a list, one message a turn; `unbounded` what makes a batch of any length,
    None where something may bound it.
    """

    binding: str
    mark: Mark
    is_batch: bool
    loop: Mark | None
    unbounded: Mark | None


def sends_of(module: Module) -> tuple[Send, ...]:
    """The sends of a module, found once."""
    if "sends" not in module.kept:
        module.kept["sends"] = tuple(_sends_of(module))
    found: tuple[Send, ...] = module.kept["sends"]
    return found


def _sends_of(module: Module) -> Iterator[Send]:
    if "send" not in module.text:
        return
    for node, around in _with_loops(module.source.body, ()):
        chain = chain_of(node.callee)
        if len(chain) < 2 or chain[-1] not in SENDING or not node.given or isinstance(node.given[0], n.Keyword):  # noqa: PLR2004 - queue.send
            continue
        binding = binding_of(node, chain, module.names)
        mark = Mark(node, module)
        if chain[-1] == "send":
            loop = _loop(node, around, module)
            yield Send(binding, mark, False, Mark(loop, module) if loop is not None else None, None)
        else:
            source = _unbounded(node.given[0], node, module)
            yield Send(binding, mark, True, None, Mark(source, module) if source is not None else None)


def sent_by(called: Iterable[Called], binding: str, program: Program) -> Iterator[Mark]:
    """The sends to a binding among calls, and in what they call of the Worker's own that was not followed."""
    unfollowed: list[Mark] = []
    for each in called:
        if each.name in SENDING and each.chain[-2:-1] == (binding,):
            yield each.mark
        unfollowed += [each.unfollowed] if each.unfollowed is not None else []
    seen: set[int] = set()
    while unfollowed:
        at = unfollowed.pop(0)
        if id(at.node) in seen:
            continue
        seen.add(id(at.node))
        for call in walk(at.node):
            chain = chain_of(call.callee) if isinstance(call, n.Invoke) else ()
            if not isinstance(call, n.Invoke) or not chain:
                continue
            if len(chain) > 1 and chain[-1] in SENDING and binding_of(call, chain, at.module.names) == binding:
                yield Mark(call, at.module)
            meaning = program.meaning(at.module, chain[0]) if len(chain) == 1 else None
            if meaning is not None and isinstance(meaning.node, n.Lambda):
                unfollowed.append(Mark(meaning.node, meaning.module))


def _with_loops(node: n.Node, around: tuple[n.Node, ...]) -> Iterator[tuple[n.Invoke, tuple[n.Node, ...]]]:
    """The calls below a node, each with the loops and functions around it, the innermost last."""
    waiting: list[tuple[n.Node, tuple[n.Node, ...]]] = [(node, around)]
    while waiting:
        at, around = waiting.pop()
        if isinstance(at, n.Lambda) and not _sends(at):
            continue
        if isinstance(at, n.Invoke):
            yield at, around
            if isinstance(at.callee, n.Member) and at.callee.name in _EACH and at.given and isinstance(at.given[0], n.Lambda):
                waiting += [(each, (*around, at)) for each in at.given[0].body]
                waiting += [(each, around) for each in (at.callee, *at.given[1:])]
                continue
        if isinstance(at, s.Each):
            waiting += [(at.body, (*around, at)), (at.over, around), (at.orelse, around)]
        elif isinstance(at, s.Repeat | n.Lambda | n.Comprehension):
            waiting += [(each, (*around, at)) for each in at.parts]
        else:
            waiting += [(each, around) for each in reversed(at.parts)]


def _sends(function: n.Lambda) -> bool:
    """Whether something may be sent in a function, or in one that is written into it."""
    return any(
        isinstance(each, n.Invoke) and chain_of(each.callee)[-1:] and chain_of(each.callee)[-1] in SENDING
        for each in noted(function)
    )


def _loop(node: n.Invoke, around: tuple[n.Node, ...], module: Module) -> n.Node | None:
    """The loop that a message is sent in each turn of, where one `sendBatch` could do the same."""
    loop = next((each for each in reversed(around)), None)
    if isinstance(loop, s.Repeat):
        if not loop.is_counted:
            return None
        return loop
    over = _over(loop)
    if over is None or loop is None:
        return None
    names = {each.id for each in walk(_target(loop)) if isinstance(each, n.Name)}
    if names & {each.id for each in walk(node.callee) if isinstance(each, n.Name)}:
        return None  # another queue each turn
    length = length_of(over, module.names)
    if length is not None and length <= _SHORT:
        return None
    path = chain_of(over)
    return None if path[-1:] == ("messages",) and not _only_sends(loop, node) else loop


def _over(loop: n.Node | None) -> n.Node | None:
    match loop:
        case s.Each(_, over) | n.Comprehension(_, _, over):
            return over
        case n.Invoke(n.Member(of)):
            return of
        case _:
            return None


def _target(loop: n.Node) -> n.Node:
    if isinstance(loop, n.Invoke) and loop.given and isinstance(loop.given[0], n.Lambda):
        return n.Other(loop.at, loop.given[0].parameters)
    return loop.target if isinstance(loop, s.Each | n.Comprehension) else loop


def _only_sends(loop: n.Node, node: n.Invoke) -> bool:
    """Whether a loop over the batch does nothing for a message but send it on."""
    waits = [each for each in walk(loop) if isinstance(each, n.Wait)]
    branches = [each for each in walk(loop) if isinstance(each, n.Either | s.Attempt | s.Switch)]
    return len(waits) <= 1 and not branches and any(each is node for each in walk(loop))


# --- batches


def _unbounded(value: n.Node, call: n.Invoke, module: Module) -> n.Node | None:
    """What makes a list of any length, where nothing on the way to the call bounds it."""
    names = module.names
    if length_of(value, names) is not None:
        return None
    function = _around(module.source.body, call)
    seen: set[int] = set()
    at: n.Node | None = value
    while at is not None and id(at) not in seen:
        seen.add(id(at))
        at = unwrapped(at)
        match at:
            case n.Name(name):
                if function is None or _is_cut(name, function):
                    return None
                filled = _filled(name, function)
                resolved = names.resolved(at)
                declared = resolved if resolved is not at else _declared(name, function)
                at = filled if filled is not None else declared
            case n.Invoke(n.Member(of, "map" | "filter" | "flatMap" | "sort" | "reverse" | "toSorted"), _):
                at = of
            case n.Invoke(n.Member(n.Name("Object"), "keys" | "values" | "entries"), (of, *_)):
                at = of
            case n.Invoke(n.Member(n.Name("Array"), "from"), (of, *_)):
                at = of
            case n.Comprehension(_, _, over):
                at = over
            case n.Listing((n.Spread(of),)):
                at = of
            case n.New(n.Name("Set"), (of,)):
                at = of
            case n.Member(of, "results" | "objects" | "keys" | "items" | "records" | "data"):
                at = of
            case n.Binary("or" | "??", left, _):
                at = left
            case _:
                return at if _is_endless(at) else None
    return None


def _is_endless(node: n.Node | None) -> bool:
    """Whether something gives as much as there is: a request's body, a query without a limit."""
    if not isinstance(node, n.Invoke):
        return False
    chain, texts = chain_of(node), [each.value for each in walk(node) if isinstance(each, n.Text | n.Template)]
    if _LIMITED.search("\n".join([*texts, *chain])) or any(
        isinstance(each, n.Pair) and each.name == "limit" for each in walk(node)
    ):
        return False
    if chain[-1:] == ("json",) and len(chain) > 1:
        return True
    if chain[-1:] in {("all",), ("raw",)} and "prepare" in chain:
        return any(_UNLIMITED.search(each) for each in texts)
    return chain[-1:] == ("list",) and "env" in chain


def _around(root: n.Node, call: n.Node) -> n.Node | None:
    """The innermost function around a call."""
    found: n.Node | None = None
    waiting = [root]
    while waiting:
        at = waiting.pop()
        if isinstance(at, n.Lambda) and any(each is call for each in walk(at)):
            found = at
        waiting += at.parts
    return found


def _is_cut(name: str, function: n.Node) -> bool:
    """Whether a function asks how long a list is, or takes parts of it."""
    for each in walk(function):
        match each:
            case n.Binary("<" | ">" | "<=" | ">=" | "==", n.Member(n.Name(of), "length"), right) if of == name:
                if not (isinstance(right, n.Number) and right.value == 0):
                    return True
            case n.Binary(_, n.Invoke(n.Name("len"), (n.Name(of),)), right) if of == name and not isinstance(right, n.Number):
                return True
            case n.Invoke(n.Member(n.Name(of), "splice" | "slice" | "pop" | "shift")) if of == name:
                return True
            case n.Index(n.Name(of), n.Slice()) if of == name:
                return True
            case n.Invoke(callee, given) if _CUTS.search(".".join(chain_of(callee)[-1:])) and chain_of(callee)[-1:] not in {
                ("sendBatch",),
                ("send_batch",),
            }:
                if any(isinstance(inner, n.Name) and inner.id == name for inner in given):
                    return True
    return False


def _filled(name: str, function: n.Node) -> n.Node | None:
    """What is looped over where a list is filled."""
    for each in walk(function):
        if isinstance(each, s.Each):
            for inner in walk(each.body):
                match inner:
                    case n.Invoke(n.Member(n.Name(of), "push" | "append")) if of == name:
                        return each.over
    return None


def _declared(name: str, function: n.Node) -> n.Node | None:
    """What a name is declared to be in a function, or the call whose result it is taken from."""
    for each in walk(function):
        match each:
            case n.Bind(n.Name(of), value, n.DECLARES) if of == name:
                return value
            case n.Bind(n.Pattern(names), value) if any(one.id == name for one in names):
                return value
    return None


LIMIT = limits.SEND_BATCH_COUNT_MAX
"""How many messages one call can hold."""
