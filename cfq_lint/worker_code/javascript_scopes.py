"""What a name stands for where it stands, in JavaScript and TypeScript: the innermost block that binds it says so."""

from __future__ import annotations

from cfq_lint.worker_code.javascript_nodes import CLASSES, DECLARED, FUNCTIONS, bound_names, text_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_BLOCKS = frozenset({"program", "statement_block", "switch_case", "switch_default", "class_static_block"})
_DECLARATIONS = frozenset({"lexical_declaration", "variable_declaration"})


class Scopes:
    """The names that each block binds, looked up once."""

    def __init__(self) -> None:
        self._known: dict[int, dict[str, list[Any]]] = {}

    def value(self, node: Any) -> Any:
        """The value of the one declaration that binds a name; None for parameters, imports and what is not certain."""
        name, at = text_of(node), node.parent
        while at is not None:
            if at.id not in self._known:
                self._known[at.id] = {}
                for each, value in _bound_by(at):
                    self._known[at.id].setdefault(each, []).append(value)
            values = self._known[at.id].get(name)
            if values is not None:
                return values[0] if len(values) == 1 else None
            at = at.parent
        return None


def _bound_by(node: Any) -> Iterator[tuple[str, Any]]:
    """The names that a block, function or loop itself binds, each with its value where a declaration gives it one."""
    field = node.child_by_field_name
    if node.type in _BLOCKS:
        for child in node.named_children:
            yield from _of_statement(child)
    elif node.type in FUNCTIONS | DECLARED or node.type == "method_definition":
        one, many = field("parameter"), field("parameters")
        for each in [one] if one is not None else many.named_children if many is not None else ():
            if each.type != "comment":
                yield from ((name, None) for name in bound_names(each)[0])
    elif node.type == "for_statement" and field("initializer") is not None:
        yield from ((name, None) for name, _ in _of_statement(field("initializer")))
    elif node.type == "for_in_statement":
        yield from ((name, None) for name in bound_names(field("left"))[0])
    elif node.type == "catch_clause" and field("parameter") is not None:
        yield from ((name, None) for name in bound_names(field("parameter"))[0])


def _of_statement(node: Any) -> Iterator[tuple[str, Any]]:
    if node.type == "export_statement" and node.child_by_field_name("declaration") is not None:
        node = node.child_by_field_name("declaration")
    if node.type in DECLARED | CLASSES and node.child_by_field_name("name") is not None:
        yield text_of(node.child_by_field_name("name")), None
    elif node.type in _DECLARATIONS:
        for each in node.named_children:
            if each.type == "variable_declarator":
                names, is_pattern = bound_names(each.child_by_field_name("name"))
                value = each.child_by_field_name("value")
                yield from ((name, None if is_pattern else value) for name in names)
