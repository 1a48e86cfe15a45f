"""Names and what they stand for, block by block; each is evaluated when it is first asked for."""

from __future__ import annotations

from cfq_lint.source.cloudflare_config.syntax import FUNCTIONS, string_of, text_of, walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from cfq_lint.source.node import Node

EXPRESSION = "expression"
VALUE = "value"
IMPORT = "import"
ENUM = "enum"
_CHANGES = frozenset({"push", "unshift", "splice", "pop", "shift", "sort", "reverse", "set", "delete"})


class Scope:
    """The names of a block. A binding is (how it is known, what by)."""

    __slots__ = ("names", "parent")

    def __init__(self, parent: Scope | None = None) -> None:
        self.names: dict[str, tuple[str, Any]] = {}
        self.parent = parent

    def find(self, name: str) -> tuple[Scope, tuple[str, Any]] | None:
        """The binding of a name, and the scope that has it."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope, scope.names[name]
            scope = scope.parent
        return None

    def value(self, name: str, node: Node) -> None:
        """Bind a name to what is known of it."""
        self.names[name] = (VALUE, node)


def declare(statements: Iterable[Any], scope: Scope) -> None:
    """Bind what statements declare; a name that is changed later stands for nothing that is known."""
    changed: set[str] = set()
    for statement in statements:
        inner = statement
        if statement.type == "export_statement":
            inner = statement.child_by_field_name("declaration") or statement
        if inner.type in {"lexical_declaration", "variable_declaration"}:
            for each in inner.named_children:
                _declarator(each, scope)
        elif inner.type in {"function_declaration", "enum_declaration"}:
            name = inner.child_by_field_name("name")
            if name is not None:
                scope.names[text_of(name)] = (ENUM if inner.type == "enum_declaration" else EXPRESSION, inner)
        elif statement.type == "import_statement":
            _imported(statement, scope)
        changed |= changes_in(statement)
    for name in changed & scope.names.keys():
        scope.names[name] = (EXPRESSION, None)


def changes_in(statement: Any) -> set[str]:
    """The names that are assigned to, or whose object is changed by a method or by `Object.assign`."""
    changed = set()
    for node in walk(statement):
        if node.type in {"assignment_expression", "augmented_assignment_expression"}:
            changed.add(_base(node.child_by_field_name("left")))
        elif node.type == "update_expression":
            changed.add(_base(node.child_by_field_name("argument")))
        elif node.type == "call_expression":
            function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
            if function is None or function.type != "member_expression":
                continue
            if text_of(function) == "Object.assign" and arguments is not None and arguments.named_children:
                changed.add(_base(arguments.named_children[0]))
            method = function.child_by_field_name("property")
            if method is not None and text_of(method) in _CHANGES:
                changed.add(_base(function.child_by_field_name("object")))
    return changed - {""}


def _base(node: Any) -> str:
    while node is not None and node.type in {"member_expression", "subscript_expression"}:
        node = node.child_by_field_name("object")
    return text_of(node) if node is not None and node.type == "identifier" else ""


def _declarator(node: Any, scope: Scope) -> None:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is None:
        return
    if name.type == "identifier":
        scope.names[text_of(name)] = (EXPRESSION, value)
    elif name.type == "object_pattern":
        for key, local, default in pattern_of(name):
            scope.names[local] = ("part", (value, key, default))


def pattern_of(pattern: Any) -> list[tuple[str, str, Any]]:
    """Key, local name and default of each part of `{ a, b: c, d = 1 }`; what is deeper is left out."""
    parts = []
    for each in pattern.named_children:
        default = None
        if each.type == "shorthand_property_identifier_pattern":
            parts.append((text_of(each), text_of(each), None))
        elif each.type == "object_assignment_pattern":
            left, default = each.child_by_field_name("left"), each.child_by_field_name("right")
            if left is not None:
                parts.append((text_of(left), text_of(left), default))
        elif each.type == "pair_pattern":
            key, value = each.child_by_field_name("key"), each.child_by_field_name("value")
            if key is not None and value is not None and value.type == "identifier":
                parts.append((text_of(key), text_of(value), None))
    return parts


def _imported(statement: Any, scope: Scope) -> None:
    source = statement.child_by_field_name("source")
    clause = next((each for each in statement.named_children if each.type == "import_clause"), None)
    if source is None or clause is None:
        return
    module, attributes = string_of(source), text_of(statement)
    is_worker = "cf-worker" in attributes
    for each in clause.named_children:
        if each.type == "identifier":
            scope.names[text_of(each)] = (IMPORT, (module, "default", is_worker))
        elif each.type == "namespace_import":
            scope.names[text_of(each.named_children[-1])] = (IMPORT, (module, "*", is_worker))
        elif each.type == "named_imports":
            for one in each.named_children:
                name, alias = one.child_by_field_name("name"), one.child_by_field_name("alias")
                if name is not None:
                    scope.names[text_of(alias if alias is not None else name)] = (IMPORT, (module, text_of(name), is_worker))


def is_function(node: Any) -> bool:
    """Whether a node is a function."""
    return node.type in FUNCTIONS
