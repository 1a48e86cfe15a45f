"""Python into steps, with `ast`."""

from __future__ import annotations

import ast
import re
import warnings

from cfq_lint.facts import limits
from cfq_lint.facts.record import replace
from cfq_lint.worker_code.python_scopes import Scopes
from cfq_lint.worker_code.steps import (
    ANY,
    BREAK,
    CONTINUE,
    DEFAULT,
    EVERYTHING,
    IDEMPOTENCY_KEY,
    NOTHING,
    RAISE,
    RETURN,
    Argument,
    Assign,
    Branch,
    Call,
    Exit,
    Floating,
    Function,
    Loop,
    Module,
    Sent,
    Spot,
    Test,
    Try,
    either,
    opposite,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cfq_lint.worker_code.steps import Step

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_LISTS = (ast.Tuple, ast.List, ast.Set)
_HANDLERS = ("queue", "on_queue")
_CHANGES = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "update", "setdefault", "push"})
_FRESH = re.compile(r"(?:uuid[1467]|token_hex|token_urlsafe|randomUUID|nanoid|ulid)")
_TASKS = frozenset({"create_task", "ensure_future"})
_HELD = frozenset({"waitUntil", "wait_until"})
_ALL_ERRORS = frozenset({"Exception", "BaseException"})


def read(path: str, text: str) -> Module | None:
    """The module; None where it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in somebody's source is not ours to tell
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    try:
        return _Reader(path, text, tree).module(tree)
    except RecursionError:
        return None


class _Reader:
    def __init__(self, path: str, text: str, tree: ast.Module) -> None:
        self.path = path
        self.text = text
        self.lines = text.split("\n")
        self.bound: dict[str, list[ast.expr]] = {}
        self.assigned: dict[str, tuple[ast.expr, ...]] = {}
        self.scopes = Scopes(tree)
        self.joined: set[str] = set()

    def module(self, tree: ast.Module) -> Module:
        """The module of a tree."""
        for each in ast.walk(tree):
            self.joined |= _joined(each)
            match each:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(target=ast.Name(id=name), value=value)
                ):
                    if value is not None:
                        self.bound.setdefault(name, []).append(value)
        self.assigned = {name: tuple(values) for name, values in self.bound.items()}
        changed = {name for each in ast.walk(tree) for name in _changed(each)}
        for name in changed:
            self.bound.pop(name, None)
        functions: dict[str, list[Function]] = {}
        handlers = []
        for node in tree.body:
            if isinstance(node, _FUNCTIONS):
                made = self.function(node)
                functions.setdefault(node.name, []).append(made)
                if node.name == "on_queue":
                    handlers.append(made)
            elif isinstance(node, ast.ClassDef):
                for member in node.body:
                    if isinstance(member, _FUNCTIONS):
                        made = replace(self.function(member), owner=node.name)
                        functions.setdefault(f"this.{member.name}", []).append(made)
                        functions.setdefault(f"{node.name}.{member.name}", []).append(made)
                        if member.name in _HANDLERS and node.name == "Default":
                            handlers.append(made)
        for nested in _nested(tree):
            functions.setdefault(nested.name, []).append(self.function(nested))
        imports, stars, sources, perhaps = _imports(tree)
        return Module(
            path=self.path,
            text=self.text,
            functions={name: found[0] for name, found in functions.items() if len(found) == 1},
            imports=imports,
            handlers={DEFAULT: tuple(handlers)},
            sent=tuple(self.sent(tree)),
            constants=self.constants(),
            exports={},
            stars=stars,
            sources=sources,
            instances=_instances(tree, self.bound),
            rebound=frozenset(changed),
            perhaps=perhaps,
        )

    def spot(self, node: ast.expr | ast.stmt) -> Spot:
        line = self.lines[node.lineno - 1].encode("utf-8", "replace")
        return Spot(self.path, node.lineno, len(line[: node.col_offset].decode("utf-8", "replace")) + 1)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
        names = [each.arg for each in (*node.args.posonlyargs, *node.args.args)]
        names = names[1:] if names[:1] in (["self"], ["cls"]) else names
        return Function(node.name, tuple(names), self.block(node.body), isinstance(node, ast.AsyncFunctionDef), self.spot(node))

    def block(self, body: Iterable[ast.stmt]) -> tuple[Step, ...]:
        return tuple(step for statement in body for step in self.statement(statement))

    def statement(self, node: ast.stmt) -> Iterator[Step]:
        match node:
            case ast.Expr(value=value):
                yield from self.calls(value)
            case ast.Assign(targets=[target], value=value):
                yield from self.assign(target, value)
            case ast.AnnAssign(target=target, value=value) | ast.AugAssign(target=target, value=value) if value is not None:
                yield from self.assign(target, value)
            case (
                ast.For(target=target, iter=over, body=body, orelse=orelse)
                | ast.AsyncFor(target=target, iter=over, body=body, orelse=orelse)
            ):
                yield from self.calls(over)
                yield self.loop(target, over, self.block(body), node)
                yield from self.block(orelse)
            case ast.While(test=test, body=body):
                yield from self.calls(test)
                yield Branch(((None, self.block(body)), (None, ())))
            case ast.If(test=test, body=body, orelse=orelse):
                yield from self.calls(test)
                yield Branch(((self.test(test), self.block(body)), (None, self.block(orelse))), _paths(test))
            case ast.Match(subject=subject, cases=cases):
                yield from self.calls(subject)
                arms = [(_case(subject, case.pattern), self.block(case.body)) for case in cases]
                yield Branch((*arms, (None, ())), _paths(subject))
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                for item in items:
                    yield from self.calls(item.context_expr)
                steps = self.block(body)
                suppressed = [each for item in items if (each := _suppressed(item.context_expr)) is not None]
                if suppressed:
                    ways = ((None, ()),) if True in suppressed else ((None, ()), (None, (Exit(RAISE),)))
                    steps = (Try(steps, (Branch(ways),), (), (), self.spot(node)),)
                yield from steps
            case (
                ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final)
                | ast.TryStar(body=body, handlers=handlers, orelse=orelse, finalbody=final)
            ):
                caught = [(None, self.block(handler.body)) for handler in handlers]
                if not any(_catches_all(handler) for handler in handlers):
                    caught.append((None, (Exit(RAISE),)))
                handler = (Branch(tuple(caught)),) if handlers else None
                yield Try(self.block(body), handler, self.block(orelse), self.block(final), self.spot(node))
            case ast.Return(value=value):
                yield from self.calls(value) if value is not None else ()
                yield Exit(RETURN)
            case ast.Raise():
                yield Exit(RAISE)
            case ast.Break():
                yield Exit(BREAK)
            case ast.Continue():
                yield Exit(CONTINUE)
            case _:
                return

    def assign(self, target: ast.expr, value: ast.expr) -> Iterator[Step]:
        yield from self.calls(value, awaited=isinstance(target, ast.Name) and target.id in self.joined)
        names = tuple(each.id for each in ast.walk(target) if isinstance(each, ast.Name))
        plain = value.value if isinstance(value, ast.Await) else value
        kept = _handed(value) if _chain(target)[:1] == ("this",) and len(_chain(target)) > 1 else NOTHING
        about, spot = _paths(value), self.spot(value)
        yield Assign(names, _chain(plain), _mentions(value), _fresh(value), about=about, kept=kept, spot=spot)

    def loop(self, target: ast.expr, over: ast.expr, body: tuple[Step, ...], node: ast.expr | ast.stmt) -> Loop:
        names = tuple(each.id for each in ast.walk(target) if isinstance(each, ast.Name))
        chain = _chain(over)
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "enumerate" and over.args:
            chain, names = _chain(over.args[0]), names[1:]
        elif isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id in {"list", "sorted", "reversed"}:
            chain = _chain(over.args[0]) if over.args else ()
        return Loop(names, chain, _mentions(over), body, self.spot(node))

    def calls(self, node: ast.expr, *, awaited: bool = False) -> Iterator[Step]:
        """The calls in an expression, in the order in which they happen."""
        match node:
            case ast.Await(value=value):
                yield from self.calls(value, awaited=True)
            case ast.Call():
                yield from self.call(node, awaited=awaited)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                yield from self.calls(test)
                yield Branch(((self.test(test), tuple(self.calls(body))), (None, tuple(self.calls(orelse)))), _paths(test))
            case ast.BoolOp(values=[first, *rest]):
                yield from self.calls(first)
                more = tuple(step for each in rest for step in self.calls(each))
                if more:
                    yield Branch(((None, more), (None, ())), _paths(first))
            case (
                ast.ListComp(elt=made, generators=[of])
                | ast.GeneratorExp(elt=made, generators=[of])
                | ast.SetComp(elt=made, generators=[of])
            ):
                steps = tuple(self.calls(made, awaited=awaited))
                yield from self.calls(of.iter)
                if steps:
                    yield self.loop(of.target, of.iter, steps, node)
            case ast.Lambda():
                return
            case _:
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        yield from self.calls(child, awaited=awaited)

    def call(self, node: ast.Call, *, awaited: bool) -> Iterator[Step]:
        chain = _chain(node.func)
        values = [each.value if isinstance(each, ast.Starred) else each for each in node.args]
        values += [keyword.value for keyword in node.keywords]
        if chain[-1:] == ("gather",):
            inner = tuple(step for value in values for step in self.calls(value, awaited=True))
            settles = any(
                keyword.arg == "return_exceptions" and isinstance(keyword.value, ast.Constant) and keyword.value.value is True
                for keyword in node.keywords
            )
            yield from (Try(inner, (), (), (), self.spot(node)),) if settles else inner
            return
        is_joined = len(chain) == 2 and chain[0] in self.joined and chain[1] in {"append", "create_task"}  # noqa: PLR2004 - list.append
        if is_joined or (chain[-1:] and (chain[-1] in _HELD or chain[-1] in _TASKS)):
            inner = tuple(step for value in values for step in self.calls(value, awaited=True))
            is_waited_for = awaited and chain[-1] in _TASKS
            yield from inner if is_waited_for else (Floating(inner, self.spot(node), chain[-1] in _HELD, is_joined),)
            return
        held = NOTHING
        for receiver in _receivers(node.func):
            for value in (*receiver.args, *receiver.keywords):
                yield from self.calls(value) if isinstance(value, ast.expr) else ()
                held |= _handed(value)
        for value in values:
            yield from self.calls(value)
        arguments = tuple(Argument(_chain(each), _mentions(each), _whole(each), fresh=_fresh(each)) for each in values)
        inside = [self.scopes.value(each) if isinstance(each, ast.Name) else each for each in ast.walk(node)]
        strings = [each.value for each in inside if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        text = "\n".join(strings)
        text += "".join(f"\n{each.attr}=" for each in ast.walk(node) if isinstance(each, ast.Attribute))
        text += "".join(f"\n{keyword.arg}=" for keyword in node.keywords)
        given = [*values, *(value for receiver in _receivers(node.func) for value in receiver.args)]
        fresh, spot = any(map(_fresh, given)), self.spot(node)
        yield Call(chain or ("?",), arguments, _mentions(node), text, awaited, fresh, spot, *self.key(node), False, held)

    def key(self, node: ast.Call) -> tuple[frozenset[str] | None, bool]:
        """The names in what a call has as idempotency key, None without one, and whether that is made on the spot."""
        values: list[ast.expr] = []
        for each in ast.walk(node):
            match each:
                case ast.keyword(arg=str(name), value=value) if IDEMPOTENCY_KEY.search(name):
                    values.append(value)
                case ast.Dict(keys=keys, values=found):
                    pairs = zip(keys, found, strict=True)
                    values += [value for name, value in pairs if name is not None and IDEMPOTENCY_KEY.search(ast.unparse(name))]
                case ast.Call(args=[ast.Constant(value=str(name)), value]) if IDEMPOTENCY_KEY.search(name):
                    values.append(value)
        if not values:
            return None, False
        is_fresh = any(_fresh(self.scopes.value(value)) for value in values)
        return frozenset(name for value in values for name in _mentions(value)), is_fresh

    def test(self, node: ast.expr) -> Test | None:
        """A comparison with names, if a condition is one; a name may be a constant of the module."""
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return opposite(self.test(operand))
            case ast.BoolOp(op=ast.Or(), values=values):
                return either([self.test(value) for value in values])
            case ast.Call(func=ast.Attribute(value=of, attr="startswith" | "endswith" as how), args=[given]):
                names = self.texts(given)
                shown = [f"{name}*" if how == "startswith" else f"*{name}" for name in names or ()]
                return Test(_chain(of), frozenset(shown)) if names else None
            case ast.Compare(left=left, ops=[ast.In()], comparators=[other]) if self.texts(left) and not self.texts(other):
                return Test(_chain(other), frozenset(f"*{name}*" for name in self.texts(left) or ()))
            case ast.Compare(left=left, ops=[ast.Eq() | ast.NotEq() | ast.In() as operator], comparators=[other]):
                names = self.texts(other)
                if (
                    names is None
                    and isinstance(other, ast.Name)
                    and other.id not in self.bound
                    and not isinstance(operator, ast.In)
                ):
                    return Test(_chain(left), NOTHING, isinstance(operator, ast.Eq), frozenset({other.id}))
                if not names or (isinstance(operator, ast.In) and not isinstance(self.scopes.value(other), _LISTS)):
                    return None
                return Test(_chain(left), frozenset(names), not isinstance(operator, ast.NotEq))
            case _:
                return None

    def constants(self) -> dict[str, str]:
        """The names that are bound once, to a text."""
        found = {name: self.texts(values[0]) for name, values in self.bound.items() if len(values) == 1}
        return {name: texts[0] for name, texts in found.items() if texts is not None and len(texts) == 1}

    def texts(self, node: ast.expr) -> list[str] | None:
        """The texts that an expression is or lists; None where it holds anything else."""
        node = self.scopes.value(node)
        values = [self.scopes.value(each) for each in node.elts] if isinstance(node, _LISTS) else [node]
        texts = [each.value for each in values if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        return texts if len(texts) == len(values) else None

    def binding(self, callee: ast.expr, chain: tuple[str, ...]) -> str:
        """The binding in `env.Q.send`, or in `q.send` where `q` stands for one; ANY where it may be one of several."""
        if len(chain) > 2 or not isinstance(callee, ast.Attribute):  # noqa: PLR2004 - env.Q.send
            return chain[-2]
        value = self.scopes.value(callee.value)
        if value is callee.value and any("env" in _chain(each) for each in self.assigned.get(chain[0], ())):
            return ANY
        return (_chain(value) or chain[:-1])[-1]

    def sent(self, tree: ast.Module) -> Iterator[Sent]:
        """Every `send` and `sendBatch` on something that may be a binding."""
        for node in ast.walk(tree):
            chain = _chain(node.func) if isinstance(node, ast.Call) else ()
            if isinstance(node, ast.Call) and len(chain) > 1 and chain[-1] in {"send", "sendBatch", "send_batch"} and node.args:
                given = self.scopes.value(node.args[0])
                binding = self.binding(node.func, chain)
                if chain[-1] == "send":
                    yield Sent(binding, False, *_keys(given, self.scopes), 1, self.spot(node))
                else:
                    yield Sent(binding, True, *_batch(given, self.scopes), self.spot(node))


def _chain(node: ast.AST) -> tuple[str, ...]:
    """The path of a plain expression, calls on the way left out; empty where it is none."""
    match node:
        case ast.Name(id=name):
            return ("this",) if name == "self" else (name,)
        case ast.Attribute(value=value, attr=name):
            before = _chain(value)
            return (*before, name) if before else ()
        case ast.Call(func=func):
            return _chain(func)
        case ast.Subscript(value=value, slice=ast.Constant(value=str(name))):
            before = _chain(value)
            return (*before, name) if before else ()
        case ast.Subscript(value=value):
            before = _chain(value)
            return (*before, ANY) if before else ()
        case ast.Await(value=value):
            return _chain(value)
        case _:
            return ()


def _receivers(node: ast.AST) -> Iterator[ast.Call]:
    """The calls on whose results something is called."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        if isinstance(node, ast.Call):
            yield node
            node = node.func
        else:
            node = node.value


def _mentions(node: ast.AST) -> frozenset[str]:
    return frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name))


def _whole(node: ast.AST) -> frozenset[str]:
    """The names in it of which not just a field is taken."""
    taken = {each.value for each in ast.walk(node) if isinstance(each, ast.Attribute | ast.Subscript)}
    return frozenset(each.id for each in ast.walk(node) if isinstance(each, ast.Name) and each not in taken)


def _paths(node: ast.AST) -> tuple[tuple[str, ...], ...]:
    """The plain paths in an expression."""
    return tuple(dict.fromkeys(chain for each in ast.walk(node) if (chain := _chain(each))))


def _fresh(node: ast.AST) -> bool:
    names = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return any(_FRESH.fullmatch(str(getattr(name, "attr", getattr(name, "id", "")))) for name in names)


def _catches_all(handler: ast.ExceptHandler) -> bool:
    return handler.type is None or (isinstance(handler.type, ast.Name) and handler.type.id in _ALL_ERRORS)


def _suppressed(context: ast.expr) -> bool | None:
    """Whether `contextlib.suppress(…)` catches everything; None for another context manager."""
    if not isinstance(context, ast.Call) or _chain(context.func)[-1:] != ("suppress",):
        return None
    return any(isinstance(each, ast.Name) and each.id in _ALL_ERRORS for each in context.args)


def _imports(tree: ast.Module) -> tuple[dict[str, tuple[str, str]], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The names that a module imports, the modules of which it imports all, all modules, and what may be one as well."""
    imports: dict[str, tuple[str, str]] = {}
    stars: list[str] = []
    sources: list[str] = []
    perhaps: list[str] = []
    for each in ast.walk(tree):
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


def _instances(tree: ast.Module, bound: dict[str, list[ast.expr]]) -> dict[str, str]:
    """The names, and the fields as `Class.field`, that hold what one call of a name gives, with that name: perhaps a class."""
    held = dict(bound)
    for owner in [each for each in tree.body if isinstance(each, ast.ClassDef)]:
        for each in ast.walk(owner):
            match each:
                case (
                    ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=field)], value=value)
                    | ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=field), value=value)
                ) if value is not None:
                    held.setdefault(f"{owner.name}.{field}", []).append(value)
    made = {name: values[0].func for name, values in held.items() if len(values) == 1 and isinstance(values[0], ast.Call)}
    return {name: maker.id for name, maker in made.items() if isinstance(maker, ast.Name)}


def _handed(node: ast.AST) -> frozenset[str]:
    """The names in it that whoever gets it can use themselves: not just a field of theirs, nor what a call makes of them."""
    match node:
        case ast.Name(id=name):
            return frozenset({name})
        case ast.Tuple() | ast.List() | ast.Set() | ast.Dict() | ast.Starred() | ast.keyword():
            return frozenset(name for each in ast.iter_child_nodes(node) for name in _handed(each))
        case _:
            return NOTHING


def _nested(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The functions that stand in others."""
    within = {inner for each in ast.walk(tree) if isinstance(each, _FUNCTIONS) for inner in ast.walk(each) if inner is not each}
    yield from (each for each in ast.walk(tree) if isinstance(each, _FUNCTIONS) and each in within)


def _joined(node: ast.AST) -> set[str]:
    """The names of tasks, of lists of them, or of groups, that are waited for there."""
    match node:
        case ast.Await(value=ast.Name(id=name)):
            return {name}
        case ast.Call(func=func, args=args) if _chain(func)[-1:] == ("gather",):
            values = [each.value if isinstance(each, ast.Starred) else each for each in args]
            return {each.id for each in values if isinstance(each, ast.Name)}
        case ast.withitem(context_expr=ast.Call(func=func), optional_vars=ast.Name(id=name)):
            return {name} if _chain(func)[-1:] == ("TaskGroup",) else set()
        case _:
            return set()


def _changed(node: ast.AST) -> set[str]:
    """The names that do not keep, or do not have, the value that they are bound to by an assignment."""
    match node:
        case ast.Assign(targets=targets):
            bound = [] if len(targets) == 1 and isinstance(targets[0], ast.Name) else targets
        case ast.AugAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target) | ast.NamedExpr(target=target):
            bound = [target]
        case ast.comprehension(target=target) | ast.withitem(optional_vars=target) if target is not None:
            bound = [target]
        case ast.arg(arg=name):
            return {name}
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=how)) if how in _CHANGES:
            return {name}
        case _:
            return set()
    return {each.id for target in bound for each in ast.walk(target) if isinstance(each, ast.Name)}


def _case(subject: ast.expr, pattern: ast.pattern) -> Test | None:
    options = pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
    names = [
        each.value.value
        for each in options
        if isinstance(each, ast.MatchValue) and isinstance(each.value, ast.Constant) and isinstance(each.value.value, str)
    ]
    return Test(_chain(subject), frozenset(names)) if len(names) == len(options) else None


def _spread(keys: list[ast.expr | None]) -> int:
    """Where the last `**` of a dict display stands; -1 without one."""
    return max((at for at, key in enumerate(keys) if key is None), default=-1)


def _keys(node: ast.expr, scopes: Scopes) -> tuple[frozenset[str] | None, frozenset[str]]:
    """The keys of a dict display, None where they are not certain, and those whose values are made on the spot."""
    if isinstance(node, ast.Call) and _chain(node.func)[-1:] == ("to_js",) and node.args:
        node = scopes.value(node.args[0])
    if not isinstance(node, ast.Dict):
        return None, NOTHING
    pairs = list(zip(node.keys, node.values, strict=True))
    named = {key.value: value for key, value in pairs if isinstance(key, ast.Constant) and isinstance(key.value, str)}
    # What stands before `**` may be replaced by it.
    later = {key.value for key in node.keys[_spread(node.keys) + 1 :] if isinstance(key, ast.Constant)}
    fresh = frozenset(key for key, value in named.items() if key in later and _fresh(scopes.value(value)))
    return (frozenset(named) if len(named) == len(node.keys) else None), fresh


def _batch(node: ast.expr, scopes: Scopes) -> tuple[frozenset[str] | None, frozenset[str], int | None]:
    """The keys of the bodies in what is given to a `sendBatch`, those made on the spot, and how many there can be."""
    if isinstance(node, ast.Call) and _chain(node.func)[-1:] == ("to_js",) and node.args:
        node = scopes.value(node.args[0])
    most = _length(node, scopes)
    elements = [node.elt] if isinstance(node, ast.ListComp) else node.elts if isinstance(node, ast.List) else []
    bodies = []
    for each in elements:
        if isinstance(each, ast.Dict):
            bodies += [
                v for k, v in zip(each.keys, each.values, strict=True) if isinstance(k, ast.Constant) and k.value == "body"
            ]
    found = [_keys(scopes.value(body), scopes) for body in bodies]
    keys = [each for each, _ in found if each is not None]
    if not keys or len(keys) < len(elements):
        return None, NOTHING, most
    return frozenset.intersection(*keys), frozenset.intersection(*(fresh for _, fresh in found)), most


def _length(node: ast.expr, scopes: Scopes) -> int | None:
    """How many elements a list has at most, and no fewer where that is more than one call can send; None if not certain."""
    node = scopes.value(node)
    match node:
        case ast.List(elts=elts) | ast.Tuple(elts=elts):
            counts = [_length(each.value, scopes) if isinstance(each, ast.Starred) else 1 for each in elts]
            known = [count for count in counts if count is not None]
            return sum(known) if len(known) == len(counts) else None
        case ast.ListComp(generators=[of]) | ast.GeneratorExp(generators=[of]):
            most = _length(of.iter, scopes)
            return None if of.ifs and most is not None and most > limits.SEND_BATCH_COUNT_MAX else most
        case ast.Subscript(slice=ast.Slice() as part):
            return _width(part, scopes)
        case ast.BinOp(op=ast.Mult(), left=left, right=right):
            one, times = _length(left, scopes), _number(right, scopes)
            return one * times if one is not None and times is not None else None
        case ast.Call(func=ast.Name(id="range"), args=[upper]):
            return _number(upper, scopes)
        case ast.Call(func=ast.Name(id="range"), args=[lower, upper]):
            first, last = _number(lower, scopes), _number(upper, scopes)
            return max(0, last - first) if first is not None and last is not None else None
        case ast.Call(func=ast.Name(id="list" | "sorted" | "reversed" | "enumerate"), args=[inner, *_]):
            return _length(inner, scopes)
        case _:
            return None


def _number(node: ast.expr, scopes: Scopes) -> int | None:
    """A whole number, or a constant of the module that is one."""
    node = scopes.value(node)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int) else None


def _width(node: ast.Slice, scopes: Scopes) -> int | None:
    """How long `[i : i + 100]` or `[:100]` can be."""
    upper = node.upper
    if node.lower is not None:
        if not (isinstance(upper, ast.BinOp) and isinstance(upper.op, ast.Add) and _same(upper.left, node.lower)):
            return None
        upper = upper.right
    return _number(upper, scopes) if upper is not None else None


def _same(one: ast.expr, other: ast.expr) -> bool:
    return ast.dump(one) == ast.dump(other)
