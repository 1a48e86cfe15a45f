"""Does a Worker's source certainly lack a queue handler? Read, never run; whoever is not sure says no.

Python is read with `ast`, JavaScript and TypeScript with tree-sitter.
"""

from __future__ import annotations

import ast
import warnings

from cfq_lint.source import javascript

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ENTRY_CLASS = "Default"
"""The class that a Python Worker exports. https://developers.cloudflare.com/workers/languages/python/basics/"""
_HANDLERS = frozenset({"queue", "on_queue"})
_KNOWN_BASES = frozenset({"WorkerEntrypoint", "object"})
_UNDOING = ("setattr", "globals(", "exec(", "eval(", "__getattr")


def certainly_lacks_queue_handler(path: str, text: str) -> bool:
    """Whether a source certainly exports no queue handler. `path` tells its language; False wherever there is doubt."""
    if path.endswith(".py"):
        return _python_lacks(text)
    return _javascript_lacks(path, text)


def _python_lacks(text: str) -> bool:
    if any(word in text for word in _UNDOING):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in somebody's source is not ours to tell
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if any(_may_bring_a_handler(node) for node in ast.walk(tree)):
        return False
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == ENTRY_CLASS]
    return bool(classes) and all(_is_plain(node) for node in classes)


def _may_bring_a_handler(node: ast.AST) -> bool:
    """Whether a node defines, binds or imports something named like a handler or the entry class, or imports everything."""
    match node:
        case ast.ImportFrom(names=names) | ast.Import(names=names):
            return not {"*", ENTRY_CLASS, *_HANDLERS}.isdisjoint(alias.asname or alias.name for alias in names)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            return name in _HANDLERS
        case ast.Name(id=name, ctx=ast.Store()):
            return name == ENTRY_CLASS or name in _HANDLERS
        case ast.Attribute(attr=name, ctx=ast.Store()):
            return name in _HANDLERS
        case _:
            return False


def _is_plain(node: ast.ClassDef) -> bool:
    """Whether a class inherits from nothing that could bring a handler along."""
    names = [base.attr if isinstance(base, ast.Attribute) else getattr(base, "id", None) for base in node.bases]
    return not node.decorator_list and not node.keywords and all(name in _KNOWN_BASES for name in names)


def _javascript_lacks(path: str, text: str) -> bool:
    root = javascript.parsed(path, text.encode("utf-8", "replace"))
    if root is None:
        return False
    exported = [node for node in root.children if node.type == "export_statement"]
    default = [node for node in exported if any(child.type == "default" for child in node.children)]
    if len(default) != 1:
        return False
    value = default[0].child_by_field_name("value") or default[0].child_by_field_name("declaration")
    value = _resolved(_unwrapped(value), root) if value is not None else None
    if value is None:
        return False
    if value.type == "object":
        return all(_names_no_handler(child) for child in value.named_children)
    if value.type in {"class", "class_declaration"}:
        return _class_lacks(value)
    return False


def _unwrapped(node: Any) -> Any:
    """The value within `(…)`, `… satisfies T` and `… as T`."""
    while node.type in {"satisfies_expression", "as_expression", "parenthesized_expression"}:
        node = node.named_children[0]
    return node


def _resolved(node: Any, root: Any) -> Any:
    """What a name stands for that the module binds once, with `const` or as a class."""
    if node.type != "identifier":
        return node
    found = []
    for statement in root.children:
        if statement.type == "lexical_declaration" and statement.children[0].type == "const":
            found += [each for each in statement.named_children if each.type == "variable_declarator"]
        elif statement.type == "class_declaration":
            found.append(statement)
    named = [each for each in found if each.child_by_field_name("name").text == node.text]
    # What is changed after it is made, `worker.queue = …`, is not what stands here.
    if len(named) != 1 or node.text + b".queue" in root.text or node.text + b"[" in root.text or b"Object.assign" in root.text:
        return None
    value = named[0] if named[0].type == "class_declaration" else named[0].child_by_field_name("value")
    return _unwrapped(value) if value is not None else None


def _names_no_handler(member: Any) -> bool:
    if member.type == "comment":
        return True
    if member.type == "shorthand_property_identifier":
        return bool(member.text != b"queue")
    key = member.child_by_field_name("key" if member.type == "pair" else "name")
    if key is None or key.type == "computed_property_name":
        return False  # a spread, or a name that only running tells
    return bool(key.text.strip(b"\"'`") != b"queue")


def _class_lacks(node: Any) -> bool:
    heritage = [child for child in node.children if child.type == "class_heritage"]
    if any(b"WorkerEntrypoint" not in child.text or b"(" in child.text for child in heritage):
        return False
    body = node.child_by_field_name("body")
    members = [child for child in body.named_children if child.type not in {"comment", "class_static_block"}]
    if len(members) < sum(child.type != "comment" for child in body.named_children):
        return False
    names = [member.child_by_field_name("name") or member.child_by_field_name("property") for member in members]
    return all(name is not None and name.type != "computed_property_name" and name.text != b"queue" for name in names)
