"""The grammar of Python, read with `ast`."""

from __future__ import annotations

import ast
import warnings
from collections import deque

from cfq_lint.worker_code.grammar.again import Functions, Made
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.asking import bound_names, chain_of
from cfq_lint.worker_code.tree.statements import BREAK, CONTINUE, EVERYTHING, RAISE, RETURN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ALL_ERRORS = frozenset({"Exception", "BaseException"})
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "==",
    ast.IsNot: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}


def parse(text: str, before: s.Source | None = None) -> s.Source | None:
    """The source; None where it does not parse. Raises RecursionError where it is too deep.

    `before` is the same of another text, whose functions are taken over where they are in this one, too.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in somebody's source is not ours to tell
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    grammar = _Grammar(text, before.again if before is not None else Functions())
    body = grammar.block(tree.body)
    imports, stars, sources, perhaps = _imports(tree)
    return s.Source(
        body, grammar.scope, grammar.rebound, imports, {}, stars, sources, perhaps, grammar.known.next(grammar.made)
    )


class _Grammar:
    def __init__(self, text: str, known: Functions) -> None:
        self.lines = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").split(b"\n")
        self.known = known
        self.made = Made(None)
        self.scope = n.Scope()
        self.rebound: set[str] = set()
        self.in_class: n.Scope | None = None

    # --- names and what binds them

    def loose(self, node: ast.AST) -> n.Node:
        """A target that is bound to something that is not seen."""
        made = self.target(node)
        for name in bound_names(made) if isinstance(made, n.Name | n.Pattern) else ():
            self.scope.bind(name)
            self.rebound.add(name)
        return made

    def target(self, node: ast.AST) -> n.Node:
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript):
            return self.node(node)
        names = [(each, i) for i, part in enumerate(getattr(node, "elts", [node])) for each in ast.walk(part)]
        found = {n.Name(_at(each), each.id, self.scope): i for each, i in names if isinstance(each, ast.Name)}
        return n.Pattern(_at(node), tuple(found), tuple(found.values()))

    def bind(self, node: ast.stmt, targets: list[ast.expr], value: ast.expr, how: str = n.DECLARES) -> n.Node:
        made = self.node(value)
        if len(targets) > 1 or isinstance(targets[0], ast.Tuple | ast.List | ast.Starred):
            target = self.loose(targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store(), **_place(targets[0])))
            return n.Bind(_at(node), target, made, how)
        target = self.target(targets[0])
        if isinstance(target, n.Name) and how == n.DECLARES:
            self.scope.bind(target.id, made)
        elif isinstance(target, n.Name):
            self.scope.bind(target.id)
        return n.Bind(_at(node), target, made, how if isinstance(target, n.Name) or how == n.ADDS else n.SETS)

    def within(self, outer: n.Scope | None = None) -> n.Scope:
        """Go into a new scope; the one to come back to."""
        around, self.scope = self.scope, n.Scope(outer or self.scope)
        return around

    # --- expressions

    def nodes(self, several: Iterable[ast.AST | None]) -> tuple[n.Node, ...]:
        return tuple(self.node(each) for each in several if each is not None)

    def node(self, node: ast.AST) -> n.Node:
        at = _at(node)
        match node:
            case ast.Name(id=name):
                return (n.This if name == "self" else n.Name)(at, name, self.scope)
            case ast.Attribute(value=value, attr=name):
                return n.Member(at, self.node(value), name)
            case ast.Subscript(value=value, slice=key):
                return n.Index(at, self.node(value), self.node(key))
            case ast.Slice(lower=lower, upper=upper):
                return n.Slice(at, self.node(lower) if lower else None, self.node(upper) if upper else None)
            case ast.Constant(value=str(text)):
                return n.Text(at, text)
            case ast.Constant(value=int(number)):
                return n.Number(at, number)
            case ast.Constant(value=None):
                return n.Nothing(at)
            case ast.Constant(value=float(number)):
                return n.Decimal(at, number)
            case ast.Call(func=func, args=args, keywords=keywords):
                return n.Invoke(at, self.node(func), self.nodes([*args, *keywords]))
            case ast.keyword(arg=name, value=value):
                return n.Keyword(at, name, self.node(value)) if name is not None else n.Spread(at, self.node(value))
            case ast.Starred(value=value):
                return n.Spread(at, self.node(value))
            case ast.Await(value=value):
                return n.Wait(at, self.node(value))
            case ast.Tuple(elts=elts) | ast.List(elts=elts) | ast.Set(elts=elts):
                return n.Listing(at, self.nodes(elts))
            case ast.Dict(keys=keys, values=values):
                return n.Record(at, tuple(map(self.pair, keys, values)), "")
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return n.Either(at, self.node(test), self.node(body), self.node(orelse))
            case ast.NamedExpr(target=target, value=value):
                made = self.node(value)
                return n.Bind(at, self.loose(target), made, n.DECLARES)
            case ast.Lambda(args=args, body=body):
                around = self.within()
                self.parameters(args)
                inner = n.Later(at, (self.node(body),))
                self.scope = around
                return inner
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self.comprehension(node)
            case ast.stmt():
                return self.statement(node)
            case _:
                return self.operation(node)

    def operation(self, node: ast.AST) -> n.Node:
        at = _at(node)
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return n.Not(at, self.node(operand))
            case ast.BoolOp(op=op, values=[first, *rest]):
                right = self.node(rest[0] if len(rest) == 1 else ast.BoolOp(op, rest, **_place(rest[0])))
                return n.Binary(at, "or" if isinstance(op, ast.Or) else "and", self.node(first), right)
            case ast.BinOp(op=op, left=left, right=other) | ast.Compare(left=left, ops=[op], comparators=[other]):
                return n.Binary(at, _OPERATORS.get(type(op), "?"), self.node(left), self.node(other))
            case ast.Compare(left=left, ops=[op, *ops], comparators=[other, *others]):
                one, more = ast.Compare(left, [op], [other], **_place(left)), ast.Compare(other, ops, others, **_place(other))
                return n.Binary(at, "and", self.node(one), self.node(more))
            case _:
                return n.Other(at, self.nodes(each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr)))

    def pair(self, key: ast.expr | None, value: ast.expr) -> n.Node:
        if key is None:
            return n.Spread(_at(value), self.node(value))
        name = key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else None
        return n.Pair(_at(key), name, self.node(key) if name is None else None, self.node(value), False)

    def comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> n.Node:
        around, at = self.within(), _at(node)
        parts = [(self.node(of.iter), self.loose(of.target), self.nodes(of.ifs)) for of in node.generators]
        made = self.pair(node.key, node.value) if isinstance(node, ast.DictComp) else self.node(node.elt)
        self.scope = around
        (over, target, conditions), *more = parts
        if more or isinstance(node, ast.DictComp):
            return n.Other(at, (made, *(each for over, target, ifs in parts for each in (over, target, *ifs))))
        return n.Comprehension(at, made, target, over, conditions)

    # --- statements

    def block(self, body: list[ast.stmt]) -> n.Other:
        return n.Other(_at(body[0]) if body else (0, 0), self.nodes(body))

    def statement(self, node: ast.stmt) -> n.Node:
        at = _at(node)
        match node:
            case ast.Expr(value=value):
                return self.node(value)
            case ast.Assign(targets=targets, value=value):
                return self.bind(node, targets, value)
            case ast.AnnAssign(target=target, value=value):
                return self.bind(node, [target], value) if value is not None else n.Other(at, (self.bare(target),))
            case ast.AugAssign(target=target, value=value):
                return self.bind(node, [target], value, n.ADDS)
            case ast.Delete(targets=targets):
                return n.Other(at, tuple(n.Bind(at, self.node(each), n.Other(at, ()), n.SETS) for each in targets))
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                return n.Other(at, tuple(n.Bind(at, n.Name(at, name, self.scope), n.Other(at, ()), n.SETS) for name in names))
            case ast.For() | ast.AsyncFor():
                over, each = self.node(node.iter), self.loose(node.target)
                return s.Each(at, each, over, self.block(node.body), self.block(node.orelse))
            case ast.While(test=test, body=body):
                return s.Repeat(at, (), self.node(test), self.block(body), False)
            case ast.If(test=test, body=body, orelse=orelse):
                return n.Either(at, self.node(test), self.block(body), self.block(orelse))
            case ast.Match(subject=subject, cases=cases):
                return s.Switch(at, self.node(subject), tuple(self.case(case) for case in cases), False)
            case ast.With() | ast.AsyncWith():
                items = self.nodes(item.context_expr for item in node.items)
                bound = tuple(self.loose(item.optional_vars) for item in node.items if item.optional_vars is not None)
                return s.With(at, items, bound, self.block(node.body), _swallows(items))
            case ast.Try() | ast.TryStar():
                handlers = tuple(self.handler(each) for each in node.handlers)
                return s.Attempt(at, self.block(node.body), handlers, self.block(node.orelse), self.block(node.finalbody))
            case ast.Return(value=value):
                return s.Leave(at, RETURN, self.nodes([value]))
            case ast.Raise() | ast.Break() | ast.Continue():
                kind = RAISE if isinstance(node, ast.Raise) else BREAK if isinstance(node, ast.Break) else CONTINUE
                return s.Leave(at, kind, ())
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                made = self.function(node)
                self.scope.bind(node.name, made)
                return made
            case ast.ClassDef():
                return self.class_(node)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                for alias in names:
                    self.scope.bind((alias.asname or alias.name).partition(".")[0])
                return n.Other(at, ())
            case _:
                return self.operation(node)

    def bare(self, target: ast.expr) -> n.Node:
        """`name: type` without a value."""
        made = self.target(target)
        if isinstance(made, n.Name):
            self.scope.bind(made.id)
        return made

    def parameters(self, args: ast.arguments) -> tuple[n.Node, ...]:
        """The positional parameters, without `self`; all are bound."""
        for each in (*args.posonlyargs, *args.args, args.vararg, *args.kwonlyargs, args.kwarg):
            if each is not None:
                self.scope.bind(each.arg)
                self.rebound.add(each.arg)
        names = [*args.posonlyargs, *args.args]
        names = names[1:] if names and names[0].arg in {"self", "cls"} else names
        return tuple(n.Name(_at(each), each.arg, self.scope) for each in names)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> n.Lambda:
        # What stands in a class is not seen from its methods.
        outer = self.scope.outer if self.scope is self.in_class else None
        key = self.written(node)
        made = self.known.taken(key, _at(node), outer or self.scope) or self._made(key, node, outer)
        self.made.hold(made)
        self.rebound |= made.rebound
        return made.node

    def _made(self, key: bytes, node: ast.FunctionDef | ast.AsyncFunctionDef, outer: n.Scope | None) -> Made:
        made, holder, rebound = Made(key), self.made, self.rebound
        self.made, self.rebound = made, made.rebound
        around = self.within(outer)
        made.scope = self.scope
        parameters = self.parameters(node.args)
        body = self.block(node.body)
        made.node = n.Lambda(_at(node), node.name, parameters, (body,), isinstance(node, ast.AsyncFunctionDef), False)
        self.made, self.rebound, self.scope = holder, rebound, around
        return made

    def written(self, node: ast.stmt) -> bytes:
        """The text of a statement."""
        first, last = node.lineno - 1, (node.end_lineno or node.lineno) - 1
        lines = self.lines[first : last + 1]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"\n".join(lines)

    def class_(self, node: ast.ClassDef) -> n.Node:
        # What decorates a class, or makes it, may bring anything along.
        bases = (*self.nodes(node.bases), *(n.Other(_at(each), ()) for each in (*node.decorator_list, *node.keywords)))
        around, before = self.within(), self.in_class
        self.in_class = self.scope
        made = n.Class(_at(node), tuple(map(self.class_member, node.body)), node.name, bases)
        self.scope, self.in_class = around, before
        self.scope.bind(node.name, made)
        return made

    def class_member(self, node: ast.stmt) -> n.Node:
        made = self.statement(node)
        return n.Pair(made.at, made.name, None, made, True) if isinstance(made, n.Lambda) else made

    def case(self, case: ast.match_case) -> s.Case:
        pattern = case.pattern
        options = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
        for each in ast.walk(pattern):
            if isinstance(each, ast.MatchAs | ast.MatchStar) and each.name is not None:
                self.scope.bind(each.name)
        is_default = isinstance(pattern, ast.MatchAs) and pattern.pattern is None and case.guard is None
        known = [self.node(each.value) if isinstance(each, ast.MatchValue) else n.Other(_at(each), ()) for each in options]
        return s.Case(_at(pattern), () if is_default else tuple(known), self.block(case.body), "")

    def handler(self, node: ast.ExceptHandler) -> s.Case:
        if node.name is not None:
            self.scope.bind(node.name)
        is_for_all = node.type is None or (isinstance(node.type, ast.Name) and node.type.id in _ALL_ERRORS)
        options = () if node.type is None or is_for_all else (self.node(node.type),)
        return s.Case(_at(node), options, self.block(node.body), node.name or "")


def _at(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 1) - 1, getattr(node, "col_offset", 0)


def _place(node: ast.AST) -> dict[str, int]:
    row, column = _at(node)
    return {"lineno": row + 1, "col_offset": column}


def _swallows(items: tuple[n.Node, ...]) -> bool | None:
    """Whether `contextlib.suppress(…)` swallows all failures, or some; None without one."""
    found = [each for each in items if isinstance(each, n.Invoke) and chain_of(each)[-1:] == ("suppress",)]
    if not found:
        return None
    return any(isinstance(given, n.Name) and given.id in _ALL_ERRORS for each in found for given in each.given)


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """All statements, the outer ones first."""
    waiting: deque[ast.AST] = deque([tree])
    while waiting:
        at = waiting.popleft()
        yield at
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            waiting.extend(getattr(at, name, ()))


def _imports(tree: ast.Module) -> tuple[dict[str, tuple[str, str]], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The names that a module imports, the modules of which it imports all, all modules, and what may be one as well."""
    imports: dict[str, tuple[str, str]] = {}
    stars: list[str] = []
    sources: list[str] = []
    perhaps: list[str] = []
    for each in _statements(tree):
        if isinstance(each, ast.ImportFrom):
            source = "." * each.level + (each.module or "")
            sources.append(source)
            for alias in each.names:
                if alias.name == EVERYTHING:
                    stars.append(source)
                    continue
                imports[alias.asname or alias.name] = (source, alias.name)
                perhaps.append(f"{source}{alias.name}" if source.endswith(".") else f"{source}.{alias.name}")
        elif isinstance(each, ast.Import):
            sources += [alias.name for alias in each.names]
            imports |= {alias.asname or alias.name: (alias.name, EVERYTHING) for alias in each.names}
    return imports, tuple(stars), tuple(sources), tuple(perhaps)
