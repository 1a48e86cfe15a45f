"""Does a Worker's source certainly lack a queue handler? Read, never run; whoever is not sure says no."""

from __future__ import annotations

from cfq_lint.worker_code.modules.program import ENTRY_CLASS, load
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import chain_of, walk
from cfq_lint.worker_code.tree.statements import DEFAULT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.modules.module import Module, Value
    from cfq_lint.worker_code.modules.program import Program

_QUEUE = "queue"
_HANDLERS = frozenset({_QUEUE, "on_queue"})
_KNOWN_BASES = frozenset({"WorkerEntrypoint", "object"})
_UNDOING = ("setattr", "globals(", "exec(", "eval(", "__getattr")


def certainly_lacks_queue_handler(path: str, text: str) -> bool:
    """Whether a source certainly exports no queue handler. `path` tells its language; False wherever there is doubt."""
    program = load(path, {path: text}.get)
    module = program.module(path)
    if module is None:
        return False
    if path.endswith(".py"):
        return _python_lacks(module)
    if DEFAULT not in module.source.exports:
        return False
    home = program.exported(module, DEFAULT)
    return home is not None and _lacks(program, home)


def _python_lacks(module: Module) -> bool:
    if any(word in module.text for word in _UNDOING) or module.source.stars:
        return False
    named = {ENTRY_CLASS, *_HANDLERS}
    if not named.isdisjoint(module.source.imports) or any(map(_may_bring_a_handler, walk(module.source.body))):
        return False
    classes = [each for each in module.source.body.inner if isinstance(each, n.Class) and each.owner == ENTRY_CLASS]
    return bool(classes) and all(_inherits_nothing(each) for each in classes)


def _may_bring_a_handler(node: n.Node) -> bool:
    """Whether a node defines or binds something named like a handler, or binds the entry class to something else."""
    match node:
        case n.Lambda(name):
            return name in _HANDLERS
        case n.Bind(n.Name(name)):
            return name == ENTRY_CLASS or name in _HANDLERS
        case n.Bind(n.Member(_, name)):
            return name in _HANDLERS
        case n.Bind(n.Pattern(names)):
            return any(each.id == ENTRY_CLASS or each.id in _HANDLERS for each in names)
        case _:
            return False


def _inherits_nothing(node: n.Class) -> bool:
    """Whether a class inherits from nothing that could bring a handler along."""
    return all(
        isinstance(each, n.Name | n.Member) and chain_of(each)[-1:] and chain_of(each)[-1] in _KNOWN_BASES
        for each in node.bases
    )


def _lacks(program: Program, value: Value) -> bool:
    """Whether an object or class certainly has no handler, however it is changed after it is made."""
    node = value.node
    if not isinstance(node, n.Record) or (node.owner and node.owner in value.module.names.assigned):
        return False
    if isinstance(node, n.Class) and not _inherits_nothing(node):
        return False
    return all(_is_another(program, value, each) for each in node.members)


def _is_another(program: Program, value: Value, member: n.Node) -> bool:
    """Whether a member is certainly not the handler, nor brings one along."""
    match member:
        case n.Pair(name):
            return name is not None and name != _QUEUE
        case n.Spread(spread):
            found = program.value(value.beside(spread))
            return found is not None and _lacks(program, found)
        case n.Other(inner):
            return not inner  # a field that is only declared
        case _:
            return False
