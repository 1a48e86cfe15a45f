"""Functions of the Worker's own of which nothing is asked: they tell somebody or compute, and settle, throw, await nothing."""

from __future__ import annotations

import re

from cfq_lint.worker_code.following.effects import tells
from cfq_lint.worker_code.following.foreign import PURE
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.asking import bound_names, chain_of, walk
from cfq_lint.worker_code.tree.statements import RAISE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.modules.module import Module
    from cfq_lint.worker_code.modules.program import Program

_COMPUTES = re.compile(
    r"append|at|charAt|charCodeAt|codePointAt|concat|copy|decode|encode|endsWith|endswith|entries|every|exec"
    r"|extend|filter|find|findIndex|flat|flatMap|forEach|format|get|has|hex|includes|indexOf|isdigit|isoformat"
    r"|items|join|keys|lastIndexOf|localeCompare|lower|lstrip|map|match|matchAll|normalize|now|padEnd|padStart"
    r"|pop|push|reduce|repeat|replace|replaceAll|reverse|rstrip|setdefault|shift|slice|some|sort|splice|split"
    r"|splitlines|startsWith|startswith|strftime|strip|substring|test|timestamp|title|toFixed|toISOString"
    r"|toLocaleLowerCase|toLocaleString|toLowerCase|toString|toUpperCase|trim|trimEnd|trimStart|unshift|upper"
    r"|values|search|getTime|valueOf"
)
"""Methods of texts, lists, tables and dates in JavaScript and Python."""


def only_tells(program: Program, module: Module, function: n.Lambda) -> bool:
    """Whether a function, and what it calls, only tells and computes."""
    waiting, seen = [(module, function)], {id(function)}
    while waiting:
        home, at = waiting.pop()
        inner = [each for node in at.body for each in walk(node)]
        own = {
            name for each in inner if isinstance(each, n.Bind) and each.how == n.DECLARES for name in bound_names(each.target)
        }
        if at.is_async or not all(_is_plain(each, own) for each in inner):
            return False
        for each in inner:
            if not isinstance(each, n.Invoke):
                continue
            meaning = program.meaning(home, each.callee.id) if isinstance(each.callee, n.Name) else None
            if meaning is None and not _is_harmless(each):
                return False
            if meaning is None:
                continue
            if not isinstance(meaning.node, n.Lambda):
                return False
            if id(meaning.node) not in seen:
                seen.add(id(meaning.node))
                waiting.append((meaning.module, meaning.node))
    return True


def _is_plain(node: n.Node, own: set[str]) -> bool:
    """Whether a node awaits and throws nothing, and changes nothing but what is the function's own."""
    match node:
        case n.Wait():
            return False
        case s.Leave(kind):
            return kind != RAISE
        case n.Bind(target, _, how) if how != n.DECLARES:
            return bool(names := set(bound_names(target))) and names <= own  # of `this.field` no name is left
        case _:
            return True


def _is_harmless(call: n.Invoke) -> bool:
    chain = chain_of(call.callee)
    if chain in {("JSON", "parse"), ("json", "loads")}:  # they throw
        return False
    if chain[:1] in {("env",), ("this",), ("self",), ("super",)}:
        return False
    if chain and (chain[0] in PURE or tells(chain, on_env=False)):
        return True
    return isinstance(call.callee, n.Member) and _COMPUTES.fullmatch(call.callee.name) is not None
