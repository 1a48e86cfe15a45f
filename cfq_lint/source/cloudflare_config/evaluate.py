"""Evaluate what is literal: names, imports, conditions on the mode, small functions. Nothing is run.

Whatever is beyond that is unknown, and so is what depends on it. What an expression comes to stands in `expressions`.

The module is longer than most: names, calls and statements share a module's scopes and its budget.
"""

from __future__ import annotations

from cfq_lint.source.cloudflare_config.expressions import EXPRESSIONS, enumeration
from cfq_lint.source.cloudflare_config.operators import applied
from cfq_lint.source.cloudflare_config.scopes import (
    ENUM,
    EXPRESSION,
    IMPORT,
    VALUE,
    Scope,
    changes_in,
    declare,
    is_function,
    pattern_of,
)
from cfq_lint.source.cloudflare_config.syntax import (
    Source,
    string_of,
    text_of,
    unwrapped,
)
from cfq_lint.source.cloudflare_config.values import (
    ELSEWHERE,
    FUNCTION,
    OTHERWISE,
    TOOL,
    UNDEFINED,
    constant,
    joined,
    part_of,
    tool,
    truth,
    unknown,
)
from cfq_lint.source.node import OBJECT, STRING, Member, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Load = Callable[[str], Any]
    """Of an import of a module: the Module that it names, the value of a JSON file, or None."""

STEPS_MAX = 50_000
DEPTH_MAX = 60
"""A configuration is small: what takes longer, or is nested deeper, is unknown."""


class Budget:
    """How much more may be evaluated, over all modules of a file; and the modes that the file asks for, in order."""

    __slots__ = ("depth", "modes", "steps")

    def __init__(self) -> None:
        self.steps = STEPS_MAX
        self.depth = 0
        self.modes: dict[str, None] = {}


class Module:
    """A module whose expressions can be evaluated. `load` gives a module that it imports, or the value of a JSON file."""

    __slots__ = ("_busy", "budget", "is_elsewhere", "load", "scope", "source")

    def __init__(self, source: Source, load: Load, budget: Budget, *, is_elsewhere: bool = False) -> None:
        self.source = source
        self.load = load
        self.budget = budget
        self.is_elsewhere = is_elsewhere
        self.scope = Scope()
        self._busy: set[tuple[int, str]] = set()
        declare(source.root.named_children, self.scope)

    def span(self, node: Any) -> tuple[int, int]:
        """The span of a node in the file that is read; of another file none."""
        return (ELSEWHERE, ELSEWHERE) if self.is_elsewhere else self.source.span(node)

    def unknown(self, node: Any) -> Node:
        """What cannot be told of that expression."""
        return unknown(*self.span(node))

    def evaluate(self, node: Any, scope: Scope) -> Node:
        """The value of an expression."""
        node = unwrapped(node)
        budget = self.budget
        budget.steps -= 1
        if budget.steps <= 0 or budget.depth >= DEPTH_MAX:
            return self.unknown(node)
        budget.depth += 1
        try:
            known = EXPRESSIONS.get(node.type)
            if known is not None:
                return known(self, node, scope)
            if is_function(node):
                return Node(FUNCTION, *self.span(node), (node, scope, self))
            return self.unknown(node)
        finally:
            budget.depth -= 1

    def exported(self, name: str) -> Node | None:
        """What a module exports under a name; None where it is not to be found."""
        for statement in self.source.root.named_children:
            if statement.type != "export_statement":
                continue
            value = statement.child_by_field_name("value")
            if value is not None and name == "default":
                return self.evaluate(value, self.scope)
            clause = next((each for each in statement.named_children if each.type == "export_clause"), None)
            source = statement.child_by_field_name("source")
            for each in clause.named_children if clause is not None else ():
                local, alias = each.child_by_field_name("name"), each.child_by_field_name("alias")
                if local is None or text_of(alias if alias is not None else local) != name:
                    continue
                if source is not None:
                    return self.imported(string_of(source), text_of(local))
                return self.named(text_of(local), self.scope, each)
            declaration = statement.child_by_field_name("declaration")
            if declaration is not None and name != "default" and name in self.scope.names and name in text_of(declaration):
                return self.named(name, self.scope, declaration)
            if declaration is not None and name == "default" and is_function(declaration):
                return self.evaluate(declaration, self.scope)
        return None

    def imported(self, module: str, name: str) -> Node | None:
        """What another module exports; the names of packages stand for themselves."""
        if not module.startswith("."):
            return Node(TOOL, ELSEWHERE, ELSEWHERE, () if name == "*" else (name,))
        loaded = self.load(module)
        if isinstance(loaded, Node):
            return loaded if name in {"default", "*"} else None
        if loaded is None:
            return None
        if name != "*":
            value: Node | None = loaded.exported(name)
            return value
        members = []
        for each in loaded.scope.names:
            value = loaded.exported(each)
            if value is not None:
                members.append(Member(each, ELSEWHERE, ELSEWHERE, value))
        return Node(OBJECT, ELSEWHERE, ELSEWHERE, members)

    def named(self, name: str, scope: Scope, node: Any) -> Node:
        """What a name stands for."""
        found = scope.find(name)
        if found is None:
            return Node(UNDEFINED, *self.span(node), None) if name == "undefined" else self.unknown(node)
        home, (how, what) = found
        if how == VALUE:
            value: Node = what
            return value
        key = (id(home), name)
        if key in self._busy or what is None:
            return self.unknown(node)
        self._busy.add(key)
        try:
            value = self._bound(how, what, home, node)
        finally:
            self._busy.discard(key)
        home.value(name, value)
        return value

    def _bound(self, how: str, what: Any, scope: Scope, node: Any) -> Node:
        if how == EXPRESSION:
            return self.evaluate(what, scope)
        if how == ENUM:
            return enumeration(self, what, scope)
        if how == IMPORT:
            module, name, is_worker = what
            if is_worker:
                return constant(module, *self.span(node))
            return self.imported(module, name) or self.unknown(node)
        value, part, default = what
        got = part_of(self.evaluate(value, scope), part) if value is not None else None
        if got is not None and got.kind == UNDEFINED and default is not None:
            return self.evaluate(default, scope)
        return got if got is not None else self.unknown(node)

    def compared(self, sign: str, one: Node, other: Node, node: Any) -> Node:
        """The value of an operator. What the mode is compared with is a mode that the file knows."""
        for mode, name in ((one, other), (other, one)):
            if mode.kind == OTHERWISE and name.kind == STRING:
                self.budget.modes.setdefault(name.value)
        return applied(sign, one, other, self.span(node))

    def call(self, function: Node, arguments: list[Node], node: Any) -> Node:
        """What a function returns."""
        if function.kind == TOOL:
            return tool(function.value, arguments, self.span(node))
        if function.kind != FUNCTION:
            return self.unknown(node)
        declared, closure, home = function.value
        scope = Scope(closure)
        bind(home, declared, arguments, scope)
        body = declared.child_by_field_name("body")
        if body is None or any(each.type == "*" for each in declared.children):
            return self.unknown(node)
        if body.type != "statement_block":
            value: Node = home.evaluate(body, scope)
            return value
        budget = self.budget
        budget.depth += 1
        try:
            result: Node | None = home.run(body.named_children, scope) if budget.depth < DEPTH_MAX else home.unknown(body)
        finally:
            budget.depth -= 1
        return result if result is not None else Node(UNDEFINED, *self.span(node), None)

    def run(self, statements: list[Any], scope: Scope) -> Node | None:
        """What statements return; None where they come to their end."""
        declare(statements, scope)
        for index, statement in enumerate(statements):
            self.budget.steps -= 1
            if self.budget.steps <= 0:
                return self.unknown(statement)
            if statement.type == "return_statement":
                values = [each for each in statement.named_children if each.type != "comment"]
                return self.evaluate(values[0], scope) if values else Node(UNDEFINED, *self.span(statement), None)
            if statement.type == "throw_statement":
                return self.unknown(statement)
            branches = self._branches(statement, scope)
            if not branches:
                continue
            rest = statements[index + 1 :]
            results = [self.run([*branch, *rest], Scope(scope)) for branch in branches]
            result = results[0]
            for other in results[1:]:
                result = joined(result, other) if result is not None and other is not None else self.unknown(statement)
            return result
        return None

    def _branches(self, statement: Any, scope: Scope) -> list[list[Any]]:
        """The ways on from a statement, each the statements that come first; none where it leads nowhere else."""
        if statement.type == "statement_block":
            return [statement.named_children]
        if statement.type == "if_statement":
            return self._if(statement, scope)
        if statement.type == "switch_statement":
            return self._switch(statement, scope)
        if statement.type in {"for_statement", "for_in_statement", "while_statement", "do_statement", "try_statement"}:
            for name in changes_in(statement):
                scope.names[name] = (EXPRESSION, None)
        return []

    def _if(self, statement: Any, scope: Scope) -> list[list[Any]]:
        condition = truth(self.evaluate(statement.child_by_field_name("condition"), scope))
        then, other = statement.child_by_field_name("consequence"), statement.child_by_field_name("alternative")
        ways: list[list[Any]] = []
        if condition is not False:
            ways.append(_statements(then))
        if condition is not True:
            ways.append(_statements(other.named_children[-1]) if other is not None and other.named_children else [])
        return ways

    def _switch(self, statement: Any, scope: Scope) -> list[list[Any]]:
        value = self.evaluate(statement.child_by_field_name("value"), scope)
        body = statement.child_by_field_name("body")
        cases = (
            [each for each in body.named_children if each.type in {"switch_case", "switch_default"}] if body is not None else []
        )
        chosen = []
        for index, case in enumerate(cases):
            if case.type == "switch_default":
                continue
            same = truth(self.compared("===", value, self.evaluate(case.child_by_field_name("value"), scope), case))
            if same is not False:
                chosen.append(index)
            if same:
                break
        else:
            chosen += [index for index, case in enumerate(cases) if case.type == "switch_default"]
        ways = []
        for start in chosen:
            steps: list[Any] = []
            for case in cases[start:]:
                inside = [each for each in case.children_by_field_name("body") if each.is_named]
                inside = [part for each in inside for part in _statements(each)]
                stop = next((at for at, each in enumerate(inside) if each.type == "break_statement"), None)
                steps += inside if stop is None else inside[:stop]
                if stop is not None:
                    break
            ways.append(steps)
        return ways


def _statements(node: Any) -> list[Any]:
    if node is None:
        return []
    return list(node.named_children) if node.type == "statement_block" else [node]


def bind(module: Module, function: Any, arguments: list[Node], scope: Scope) -> None:
    """Bind the parameters of a function to its arguments."""
    single = function.child_by_field_name("parameter")
    listed = function.child_by_field_name("parameters")
    parameters = [single] if single is not None else listed.named_children if listed is not None else []
    parameters = [each for each in parameters if each.type != "comment"]
    for index, parameter in enumerate(parameters):
        default = parameter.child_by_field_name("value")
        pattern = parameter.child_by_field_name("pattern")
        pattern = pattern if pattern is not None else parameter
        given = arguments[index] if index < len(arguments) else Node(UNDEFINED, *module.span(parameter), None)
        if given.kind == UNDEFINED and default is not None:
            given = module.evaluate(default, scope)
        if pattern.type == "identifier":
            scope.value(text_of(pattern), given)
        elif pattern.type == "array_pattern":
            has_no_hole = sum(each.type == "," for each in pattern.children) < len(pattern.named_children)
            for at, each in enumerate(pattern.named_children):
                item = part_of(given, str(at)) if has_no_hole else None
                if each.type == "identifier":
                    scope.value(text_of(each), item if item is not None else module.unknown(pattern))
        elif pattern.type == "object_pattern":
            for key, local, other in pattern_of(pattern):
                value = part_of(given, key)
                if value is not None and value.kind == UNDEFINED and other is not None:
                    value = module.evaluate(other, scope)
                scope.value(local, value if value is not None else module.unknown(pattern))
