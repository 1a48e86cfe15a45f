"""What a name stands for where it stands, in Python: the innermost function that binds it says so."""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_CHANGES = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "push"})
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_INNER = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, *_COMPREHENSIONS)


class Scopes:
    """The names that each function binds."""

    def __init__(self, tree: ast.Module) -> None:
        self._around: dict[ast.AST, ast.AST] = {}
        self._bound: dict[ast.AST, dict[str, list[ast.expr | None]]] = {}
        self._changed: set[str] = set()
        self._read(tree, tree)

    def value(self, node: ast.expr) -> ast.expr:
        """What a name stands for that is bound once in the function around it, and not changed in the module; else the node."""
        if not isinstance(node, ast.Name) or node.id in self._changed:
            return node
        scope, is_own = self._around.get(node), True
        while scope is not None:
            values = self._bound[scope].get(node.id)
            # What stands in a class is not seen from its methods.
            if values is not None and (is_own or not isinstance(scope, ast.ClassDef)):
                return values[0] or node if len(values) == 1 else node
            scope, is_own = self._around.get(scope), False
        return node

    def _read(self, scope: ast.AST, node: ast.AST) -> None:
        bound = self._bound.setdefault(scope, {})
        for child in ast.iter_child_nodes(node):
            self._around[child] = scope
            for name, value in _bound_by(child):
                bound.setdefault(name, []).append(value)
            self._changed |= _changed(child)
            self._read(child if isinstance(child, _INNER) else scope, child)


def _bound_by(node: ast.AST) -> Iterable[tuple[str, ast.expr | None]]:
    match node:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(target=ast.Name(id=name), value=value):
            return [(name, value)]
        case ast.Assign(targets=targets):
            return [(each.id, None) for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        case (
            ast.For(target=target)
            | ast.AsyncFor(target=target)
            | ast.NamedExpr(target=target)
            | ast.comprehension(target=target)
        ):
            return [(each.id, None) for each in ast.walk(target) if isinstance(each, ast.Name)]
        case ast.withitem(optional_vars=target) if target is not None:
            return [(each.id, None) for each in ast.walk(target) if isinstance(each, ast.Name)]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            return [(name, None)]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [(name, None)]
        case ast.alias(name=name, asname=other):
            return [((other or name).partition(".")[0], None)]
        case _:
            return []


def _changed(node: ast.AST) -> set[str]:
    """The names that do not keep there what they were bound to, nor all that it holds."""
    match node:
        case ast.AugAssign(target=ast.Name(id=name)) | ast.AugAssign(target=ast.Subscript(value=ast.Name(id=name))):
            return {name}
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=how)) if how in _CHANGES:
            return {name}
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            return {name}
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            return set(names)
        case _:
            return set()
