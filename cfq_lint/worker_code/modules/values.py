"""What an expression stands for: a function, an object, a class, a text. Across modules, closures and inheritance, and bounded.

One resolver for all that asks: the queue handler of an entry, the function that a call means, the constant that a queue is
compared with. Nothing is run: what only running tells is None.
"""

from __future__ import annotations

from cfq_lint.facts.record import replace
from cfq_lint.worker_code.modules.module import Module, Value
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.asking import bound_names, chain_of, outside_of_functions, unwrapped, without_spread
from cfq_lint.worker_code.tree.statements import DEFAULT, EVERYTHING, RETURN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Concatenate, ParamSpec

    Given = ParamSpec("Given")


STEPS_MAX = 20_000
"""No question about a Worker takes that many; what does goes in circles."""
DEPTH_MAX = 32
"""No value is handed on that often; what is goes round in a circle."""
_BOUND = frozenset({"bind", "withBindings"})


def _bounded(method: Callable[Concatenate[Values, Given], Value | None]) -> Callable[Concatenate[Values, Given], Value | None]:
    """A method that gives None once a question has taken too many steps, whoever asked it in turn."""

    def inner(self: Values, /, *given: Given.args, **named: Given.kwargs) -> Value | None:
        if self.running == 0:
            self.left = STEPS_MAX
        if self.left <= 0:
            return None
        self.left -= 1
        self.running += 1
        try:
            return method(self, *given, **named)
        finally:
            self.running -= 1

    return inner


class Values:
    """The resolver. Where modules come from is left to whoever reads them.

    `variables` are the texts in `env`, and `asked` the names of those that mattered; `running` are the questions that are being
    answered, and `left` the steps that may still be taken for the first of them.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables = variables
        self.asked: set[str] = set()
        self.running = 0
        self.left = 0

    def target(self, module: Module, source: str) -> Module | None:
        """The module that an import means, where it can be read."""
        raise NotImplementedError

    # --- names and paths

    @_bounded
    def value(self, at: Value, depth: int = 0) -> Value | None:
        """What an expression stands for; a call that nobody can follow stands for itself."""
        if depth > DEPTH_MAX:
            return None
        node = unwrapped(at.node)
        match node:
            case n.This():
                return at.this
            case n.Name():
                return self._named(at, node, depth)
            case n.Member(of, name):
                owner = self.value(at.beside(of), depth + 1)
                if owner is None and chain_of(of)[-1:] == ("env",):
                    self.asked.add(name)
                    return at.beside(n.Text(node.at, self.variables[name])) if name in self.variables else None
                return self.member(owner, name, depth + 1) if owner is not None else None
            case n.Index(of, key):
                owner, text = self.value(at.beside(of), depth + 1), self.text(at.beside(key))
                return self.member(owner, text, depth + 1) if owner is not None and text is not None else None
            case n.New(callee):
                made = self.value(at.beside(callee), depth + 1)
                is_known = made is not None and isinstance(made.node, n.Class)
                return _instance(made, at, node) if made is not None and is_known else at.beside(node)
            case n.Invoke():
                return self._result(at, node, depth)
            case n.Binary("??" | "or", left, _):
                return self.value(at.beside(left), depth + 1)
            case n.Lambda() | n.Record() | n.Text() | n.Template() | n.Listing() | n.Number():
                return at.beside(node)
            case _:
                return None

    def _named(self, at: Value, node: n.Name, depth: int) -> Value | None:
        scope: n.Scope | None = node.scope
        while scope is not None and node.id not in scope.names:
            scope = scope.outer
        bound = scope.names[node.id] if scope is not None else []
        if len(bound) == 1 and bound[0] is not None and not _is_asked_for(bound[0]):
            inner = at if scope is not at.module.source.scope else Value(at.module.base, at.node, {})
            return self.value(inner.beside(bound[0]), depth + 1) if node.id not in at.module.names.replaced else None
        if node.id in at.around:
            return at.around[node.id]
        if bound and node.id not in at.module.source.imports:
            return None
        return self.imported(at.module, node.id, depth + 1)

    def imported(self, module: Module, name: str, depth: int = 0) -> Value | None:
        """What a name stands for that a module imports."""
        source, original = module.source.imports.get(name, ("", ""))
        if not source:
            return None
        if original == EVERYTHING:
            target = self.target(module, source)
            return Value(target, target.source.body, {}) if target is not None else None
        target = self.target(module, source)
        found = self.exported(target, original, depth + 1) if target is not None else None
        if found is None and module.path.endswith(".py"):  # `from package import module`
            inner = self.target(module, f"{source}{original}" if source.endswith(".") else f"{source}.{original}")
            return Value(inner, inner.source.body, {}) if inner is not None else None
        return found

    @_bounded
    def exported(self, module: Module, name: str, depth: int = 0) -> Value | None:
        """What a name stands for that a module exports; in Python whatever it binds."""
        if depth > DEPTH_MAX:
            return None
        if name in module.exports:
            source, original = module.exports[name]
            if not source:
                return self.top(module, original, depth + 1)
            target = self.target(module, source)
            if target is None:
                return None
            return (
                self.exported(target, original, depth + 1) if original != EVERYTHING else Value(target, target.source.body, {})
            )
        if not module.exports:
            found = self.top(module, name, depth + 1)
            if found is not None:
                return found
        if name != DEFAULT and DEFAULT in module.exports and not module.source.exports:  # CommonJS
            whole = self.top(module, DEFAULT, depth + 1)
            return self.member(whole, name, depth + 1) if whole is not None else None
        targets = [self.target(module, source) for source in module.source.stars if name != DEFAULT]
        several = [self.exported(each, name, depth + 1) for each in targets if each is not None]
        found = next((each for each in several if each is not None), None)
        is_one = all(each is None or each.node is found.node for each in several) if found is not None else False
        return found if is_one else None

    def top(self, module: Module, name: str, depth: int = 0) -> Value | None:
        """What a name stands for at the top of a module."""
        return self._named(Value(module.base, module.source.body, {}), n.Name((0, 0), name, module.source.scope), depth)

    def text(self, at: Value) -> str | None:
        """The text that an expression stands for."""
        found = self.value(at)
        return found.node.value if found is not None and isinstance(found.node, n.Text) else None

    # --- members

    @_bounded
    def member(self, of: Value, name: str, depth: int = 0) -> Value | None:
        """What `of.name` stands for."""
        if depth > DEPTH_MAX:
            return None
        match of.node:
            case n.Class():
                return self._of_class(of, of, name, depth)
            case n.Record():
                return self._of_record(of, of.node, name, depth)
            case n.New(n.Name("Map"), (entries, *_)):
                return self._of_map(of, entries, name, depth)
            case n.Lambda():  # a path leaves out that it is called
                made = self.result(of, (), of, depth + 1)
                return self.member(made, name, depth + 1) if made is not None else None
            case n.Invoke(given=given):
                values = [self.value(of.beside(without_spread(each)), depth + 1) for each in reversed(given)]
                found = (self.member(each, name, depth + 1) for each in values if each is not None and each.node is not of.node)
                return next((each for each in found if each is not None), None)
            case n.Other() if of.node is of.module.source.body:
                return self.exported(of.module, name, depth + 1)
            case _:
                return None

    def _of_record(self, of: Value, record: n.Record, name: str, depth: int) -> Value | None:
        later = of.module.set_later.get((record.owner, name)) if record.owner else None
        if later is not None:
            return self._as_method(of, self.value(Value(of.module.base, later, {}), depth + 1), later)
        for each in reversed(record.members):
            if isinstance(each, n.Spread):
                spread = self.value(of.beside(each.value), depth + 1)
                found = self.member(spread, name, depth + 1) if spread is not None else None
                if found is not None:
                    return found
            elif isinstance(each, n.Pair) and self._is_called(each, name, of):
                return self._as_method(of, self.value(of.beside(each.value), depth + 1), each.value)
        return None

    def _is_called(self, pair: n.Pair, name: str, of: Value) -> bool:
        if pair.name is not None:
            return pair.name == name
        return pair.key is not None and self.text(of.beside(without_list(pair.key))) == name

    def _as_method(self, of: Value, found: Value | None, written: n.Node) -> Value | None:
        """What is written into an object is called on it."""
        is_own = found is not None and found.node is unwrapped(written) and isinstance(found.node, n.Lambda)
        return replace(found, this=of) if found is not None and is_own else found

    def _of_map(self, of: Value, entries: n.Node, name: str, depth: int) -> Value | None:
        listed = self.value(of.beside(entries), depth + 1)
        if listed is None or not isinstance(listed.node, n.Listing):
            return None
        pairs = [each.items for each in listed.node.items if isinstance(each, n.Listing) and len(each.items) > 1]
        found = next((pair[1] for pair in pairs if self.text(listed.beside(pair[0])) == name), None)
        return self.value(listed.beside(found), depth + 1) if found is not None else None

    def _of_class(self, of: Value, at: Value, name: str, depth: int) -> Value | None:
        """A method or field, of the class itself or of one that it inherits from; `of` is what it is asked of."""
        holder = at.node
        assert isinstance(holder, n.Class), "only classes come here"
        later = at.module.set_later.get((holder.owner, name))
        if later is not None:
            return self.value(Value(at.module.base, later, {}), depth + 1)
        for each in reversed(holder.members):
            if isinstance(each, n.Pair) and each.name == name:
                found = self.value(replace(at, node=each.value, this=of, is_instance=False), depth + 1)
                is_own = found is not None and found.node is unwrapped(each.value) and isinstance(found.node, n.Lambda)
                return replace(found, this=of) if found is not None and is_own else found
            if isinstance(each, n.Bind) and isinstance(each.target, n.Name) and each.target.id == name:  # a field of Python's
                return self.value(replace(at, node=each.value, this=of, is_instance=False), depth + 1)
        if of.is_instance and (field := self._field(of, at, holder, name, depth)) is not None:
            return field
        for base in holder.bases:
            above = self.value(Value(at.module.base, base, at.around), depth + 1)
            if above is not None and isinstance(above.node, n.Class):
                around = {**above.around, _GIVEN: self._handed_up(at, holder, of, depth)}
                found = self._of_class(of, replace(above, around=around), name, depth + 1)
                if found is not None:
                    return found
        return None

    def inherited(self, this: Value, module: Module, holder: n.Class, name: str) -> Value | None:
        """The method that a class which stands in a module inherits, called on `this`."""
        for base in holder.bases:
            above = self.value(Value(module.base, base, this.around))
            found = self._of_class(this, above, name, 0) if above is not None and isinstance(above.node, n.Class) else None
            if found is not None:
                return found
        return None

    def _constructor(self, holder: n.Class) -> n.Lambda | None:
        made = [each.value for each in holder.members if isinstance(each, n.Pair) and each.name in _CONSTRUCTORS]
        return made[0] if made and isinstance(made[0], n.Lambda) else None

    def _in_constructor(self, at: Value, of: Value, made: n.Lambda, depth: int) -> Value:
        """Where a constructor's body stands, with what its parameters are."""
        new = at.around.get(_GIVEN)
        given = new.node.given if new is not None and isinstance(new.node, n.Invoke) else ()
        around = {**at.around, **self.parameters(made, given, new or at, depth)}
        return Value(at.module, made, around, of)

    def _handed_up(self, at: Value, holder: n.Class, of: Value, depth: int) -> Value | None:
        """The call that makes the inherited part of an object: `super(…)`, or the call that makes all of it."""
        made = self._constructor(holder)
        if made is None:
            return at.around.get(_GIVEN)
        inside = self._in_constructor(at, of, made, depth)
        for each in [one for body in made.body for one in outside_of_functions(body)]:
            match each:
                case n.Invoke(n.Name("super")) | n.Invoke(n.Member(n.Invoke(n.Name("super")), "__init__")):
                    return inside.beside(each)
        return None

    def _field(self, of: Value, at: Value, holder: n.Class, name: str, depth: int) -> Value | None:
        """`this.name = …` in a constructor, or a parameter of it that is a field as well."""
        made = self._constructor(holder)
        if made is None:
            return None
        inside = self._in_constructor(at, of, made, depth)
        for each in [one for body in made.body for one in outside_of_functions(body)]:
            match each:
                case n.Bind(n.Member(n.This(), field), value) if field == name:
                    return self.value(inside.beside(value), depth + 1)
        return inside.around.get(name) if any(name in bound_names(each) for each in made.parameters) else None

    # --- calls

    def _result(self, at: Value, node: n.Invoke, depth: int) -> Value | None:
        """What a call gives back: of a function of the Worker's own what it returns, of others the call itself."""
        if isinstance(node.callee, n.Member) and node.callee.name in _BOUND:
            return self.value(at.beside(node.callee.of), depth + 1)
        callee = self.value(at.beside(node.callee), depth + 1)
        if callee is not None and isinstance(callee.node, n.Class):  # Python's `Class(…)`
            return _instance(callee, at, node)
        if callee is not None and isinstance(callee.node, n.Lambda):
            made = self.result(callee, node.given, at, depth + 1)
            if made is not None:
                return made
        return at.beside(node)

    def result(self, callee: Value, given: tuple[n.Node, ...], at: Value, depth: int = 0) -> Value | None:
        """What a function gives back for what it is given `at` some place, where that is one thing."""
        if depth > DEPTH_MAX or not isinstance(callee.node, n.Lambda):
            return None
        results = returned(callee.node)
        if len(results) != 1:
            return None
        return self.value(Value(callee.module.base, results[0], self.bound(callee, given, at, depth), callee.this), depth + 1)

    def bound(self, callee: Value, given: Iterable[n.Node], at: Value, depth: int = 0) -> Mapping[str, Value | None]:
        """What the names around a function's body stand for."""
        assert isinstance(callee.node, n.Lambda), "only functions come here"
        return {**callee.around, **self.parameters(callee.node, given, at, depth)}

    def parameters(self, function: n.Lambda, given: Iterable[n.Node], at: Value, depth: int = 0) -> Mapping[str, Value | None]:
        """What the parameters of a function stand for."""
        names: dict[str, Value | None] = {}
        named = {each.name: each.value for each in given if isinstance(each, n.Keyword)}
        listed = [each for each in given if not isinstance(each, n.Keyword)]
        for parameter, value in zip(function.parameters, (*listed, *[None] * len(function.parameters)), strict=False):
            own = bound_names(parameter)
            plain = value if value is not None or not own else named.get(own[0])
            found = self.value(at.beside(plain), depth + 1) if plain is not None and not isinstance(plain, n.Spread) else None
            if isinstance(parameter, n.Name):
                names[parameter.id] = found
            else:
                names |= {name: self.member(found, name, depth + 1) if found is not None else None for name in own}
        return names


def _instance(made: Value, at: Value, node: n.Invoke) -> Value:
    """An object of a class, with what its constructor was given."""
    return Value(made.module, made.node, {**made.around, _GIVEN: at.beside(node)}, is_instance=True)


_GIVEN = "new …"
"""The name, which no source can bind, of the call that makes an object."""
_CONSTRUCTORS = frozenset({"constructor", "__init__"})


def _is_asked_for(node: n.Node) -> bool:
    """Whether a value is `require("…")` or `await import("…")`."""
    node = unwrapped(node)
    return isinstance(node, n.Invoke) and isinstance(node.callee, n.Name) and node.callee.id in {"require", "import"}


def without_list(key: n.Node) -> n.Node:
    """The key in `[key]`, as an object writes it."""
    while isinstance(key, n.Other) and len(key.inner) == 1:
        (key,) = key.inner
    return key


def returned(function: n.Lambda) -> list[n.Node]:
    """What a function gives back: its expression, or what its own `return`s do."""
    if function.gives:
        return list(function.body)
    inside = [inner for each in function.body for inner in outside_of_functions(each)]
    return [each.values[0] for each in inside if isinstance(each, s.Leave) and each.kind == RETURN and each.values]
