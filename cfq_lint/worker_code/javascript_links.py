"""How modules of JavaScript and TypeScript hang together: imports, exports, and names that stand for objects with methods."""

from __future__ import annotations

from cfq_lint.worker_code.javascript_nodes import (
    CLASSES,
    DECLARED,
    bound_names,
    is_function,
    outside_of_functions,
    string_of,
    text_of,
    unwrapped,
    walk,
)
from cfq_lint.worker_code.steps import DEFAULT, EVERYTHING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

_LINKING = frozenset({"import_statement", "export_statement", "import_require_clause"})
_MEMBERS = frozenset({"public_field_definition", "field_definition"})


def imported(root: Any) -> dict[str, tuple[str, str]]:
    """The names that a module imports, each with the module and the name there, or EVERYTHING for all that it exports."""
    made: dict[str, tuple[str, str]] = {}
    for node in walk(root):
        source = string_of(node.child_by_field_name("source")) if node.type == "import_statement" else None
        if source is not None:
            made |= _of_statement(node, source)
        elif node.type == "variable_declarator" and node.child_by_field_name("value") is not None:
            source = _called_for(unwrapped(node.child_by_field_name("value")))
            names, is_pattern = bound_names(node.child_by_field_name("name"))
            made |= {name: (source, name if is_pattern else EVERYTHING) for name in names} if source is not None else {}
    return made


def _of_statement(node: Any, source: str) -> dict[str, tuple[str, str]]:
    made = {}
    for each in walk(node):
        if each.type == "import_specifier":
            alias = each.child_by_field_name("alias") or each.child_by_field_name("name")
            made[text_of(alias)] = (source, text_of(each.child_by_field_name("name")))
        elif each.type == "namespace_import":
            made[text_of(each.named_children[0])] = (source, EVERYTHING)
        elif each.type == "import_clause":
            made |= {text_of(child): (source, DEFAULT) for child in each.named_children if child.type == "identifier"}
    return made


def _called_for(node: Any) -> str | None:
    """The module in `require("…")` and `import("…")`."""
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    if function is None or text_of(function) not in {"require", "import"}:
        return None
    given = node.child_by_field_name("arguments").named_children
    return string_of(given[0]) if given else None


def sources(root: Any) -> tuple[str, ...]:
    """All modules that run with this one; those of which it takes types alone do not."""
    found = []
    for node in walk(root):
        if node.type == "call_expression":
            found.append(_called_for(node))
        elif node.type in _LINKING and not any(each.type == "type" for each in node.children):
            found.append(string_of(node.child_by_field_name("source")))
    return tuple(dict.fromkeys(each for each in found if each is not None))


def exported(root: Any) -> tuple[dict[str, tuple[str, str]], tuple[str, ...]]:
    """What a module exports, by name: the module, "" for itself, and the name there; and modules of which it exports all."""
    found: dict[str, tuple[str, str]] = {}
    stars = []
    for node in root.children:
        if node.type != "export_statement":
            continue
        source = string_of(node.child_by_field_name("source")) or ""
        if any(each.type == "*" for each in node.children):
            stars.append(source)
        for each in node.named_children:
            if each.type == "namespace_export":
                found[text_of(each.named_children[0])] = (source, EVERYTHING)
            for specifier in each.named_children if each.type == "export_clause" else ():
                alias = specifier.child_by_field_name("alias") or specifier.child_by_field_name("name")
                found[text_of(alias)] = (source, text_of(specifier.child_by_field_name("name")))
        value = node.child_by_field_name("value") or node.child_by_field_name("declaration")
        if any(each.type == DEFAULT for each in node.children) and value is not None:
            found[DEFAULT] = ("", _own_name(value) or DEFAULT)
        elif value is not None:
            found |= {name: ("", name) for name in _declared(value)}
    return found, tuple(stars)


def _own_name(value: Any) -> str:
    value = unwrapped(value)
    if value.type == "identifier":
        return text_of(value)
    name = value.child_by_field_name("name") if value.type in DECLARED | CLASSES else None
    return text_of(name) if name is not None else ""


def _declared(node: Any) -> Iterator[str]:
    if node.type in {"lexical_declaration", "variable_declaration"}:
        for each in node.named_children:
            if each.type == "variable_declarator":
                yield from bound_names(each.child_by_field_name("name"))[0]
    elif _own_name(node):
        yield _own_name(node)


def named_values(root: Any) -> Iterator[tuple[str, Any]]:
    """The names that a module binds at its top, with their values; DEFAULT for what it exports without a name."""
    for statement in root.children:
        is_export = statement.type == "export_statement"
        node = (
            (statement.child_by_field_name("declaration") or statement.child_by_field_name("value")) if is_export else statement
        )
        if node is None:
            continue
        if node.type in {"lexical_declaration", "variable_declaration"}:
            for each in node.named_children:
                value = each.child_by_field_name("value") if each.type == "variable_declarator" else None
                if value is not None:
                    yield text_of(each.child_by_field_name("name")), unwrapped(value)
        elif node.type in CLASSES | DECLARED or is_export:
            value = unwrapped(node)
            if value.type != "identifier":
                yield _own_name(value) or DEFAULT, value


def methods(root: Any) -> Iterator[tuple[str, str, Any]]:
    """The functions in classes and in objects that have a name: that name, theirs, and the function."""
    for node in walk(root):
        key = node.child_by_field_name("name") or node.child_by_field_name("property") or node.child_by_field_name("key")
        value = node if node.type == "method_definition" else node.child_by_field_name("value")
        if key is None or (node.type == "pair" and key.type == "computed_property_name"):
            continue
        if node.type == "method_definition" or (node.type in _MEMBERS | {"pair"} and is_function(value)):
            owner = owner_of(node)
            if owner or node.type == "method_definition":
                yield owner, text_of(key).strip("\"'"), unwrapped(value)


def owner_of(member: Any) -> str:
    """The name of the class or object that a member stands in."""
    around = member.parent.parent if member.parent.type == "class_body" else member.parent
    if around.type in CLASSES and around.child_by_field_name("name") is not None:
        return text_of(around.child_by_field_name("name"))
    outer = around.parent
    while outer is not None and unwrapped(outer) == around:
        outer = outer.parent
    if outer is not None and outer.type == "variable_declarator":
        return text_of(outer.child_by_field_name("name"))
    return DEFAULT if outer is not None and outer.type == "export_statement" else ""


def instances(root: Any, bound: dict[str, list[Any]], changed: set[str]) -> dict[str, str]:
    """The names, and the fields as `Class.field`, that hold an instance of one class for all their life, with its name."""
    fields: dict[str, list[Any]] = {}
    for node in walk(root):
        if node.type in _MEMBERS and node.child_by_field_name("value") is not None:
            name = node.child_by_field_name("name") or node.child_by_field_name("property")
            fields.setdefault(f"{owner_of(node)}.{text_of(name)}", []).append(node.child_by_field_name("value"))
        elif node.type == "assignment_expression":
            left, around = node.child_by_field_name("left"), node
            while around is not None and around.type not in CLASSES:
                around = around.parent
            owner = around.child_by_field_name("name") if around is not None else None
            if owner is not None and left.type == "member_expression" and left.child_by_field_name("object").type == "this":
                name = left.child_by_field_name("property")
                fields.setdefault(f"{text_of(owner)}.{text_of(name)}", []).append(node.child_by_field_name("right"))
    held = fields | {name: values for name, values in bound.items() if name not in changed}
    made = {name: constructed(unwrapped(values[0])) for name, values in held.items() if len(values) == 1}
    return {name: one for name, one in made.items() if one is not None}


def constructed(node: Any) -> str | None:
    """The name of the class in `new Class(…)`."""
    maker = node.child_by_field_name("constructor") if node.type == "new_expression" else None
    return text_of(maker) if maker is not None and maker.type == "identifier" else None


def handler_in(value: Any, resolved: Any) -> Iterator[Any]:
    """Where the queue handler of an exported value may stand: functions, names of some, and objects that bring one along."""
    for each in _within(value, resolved):
        key = each.child_by_field_name("key" if each.type == "pair" else "name")
        if each.type == "shorthand_property_identifier" and each.text == b"queue":
            yield each
        elif each.type in {"pair", "method_definition"} and text_of(key).strip("\"'`") == "queue":
            yield each if each.type == "method_definition" else unwrapped(each.child_by_field_name("value"))
        elif each.type in _MEMBERS and is_function(each.child_by_field_name("value")):
            name = each.child_by_field_name("name") or each.child_by_field_name("property")
            if text_of(name) == "queue":
                yield unwrapped(each.child_by_field_name("value"))


def _within(value: Any, resolved: Any) -> Iterator[Any]:
    """What stands in a value, and in the objects that a wrapper there is given by name."""
    for each in outside_of_functions(value):
        yield each
        if each.type == "identifier" and each.parent is not None and each.parent.type == "arguments":
            given = resolved(each)
            if given.type == "object":
                yield from outside_of_functions(given)


def lent(value: Any) -> Iterator[Any]:
    """The names of whole objects in an exported value, given to a wrapper or spread out: they may bring a handler along."""
    for each in outside_of_functions(value):
        if each.type == "identifier" and each.parent is not None and each.parent.type in {"arguments", "spread_element"}:
            yield each
