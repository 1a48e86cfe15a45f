"""Syntax nodes of JavaScript and TypeScript, as tree-sitter gives them: what every reader of them needs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

FUNCTIONS = frozenset({"arrow_function", "function_expression", "function", "generator_function"})
DECLARED = frozenset({"function_declaration", "generator_function_declaration"})
CLASSES = frozenset({"class_declaration", "abstract_class_declaration", "class"})
WRAPPERS = frozenset(
    {
        "satisfies_expression",
        "as_expression",
        "parenthesized_expression",
        "non_null_expression",
        "await_expression",
        "type_assertion",
    }
)


def walk(node: Any) -> Iterator[Any]:
    """A node and all below it, in the order of the text."""
    waiting = [node]
    while waiting:
        at = waiting.pop()
        yield at
        waiting += reversed(at.named_children)


def outside_of_functions(node: Any) -> Iterator[Any]:
    """The same, but nothing that stands in a function."""
    waiting = [node]
    while waiting:
        at = waiting.pop()
        yield at
        if at.type != "method_definition" and at.type not in FUNCTIONS:
            waiting += reversed(at.named_children)


def text_of(node: Any) -> str:
    """The text of a node."""
    return str(node.text.decode("utf-8", "replace"))


def unwrapped(node: Any) -> Any:
    """The value within `(…)`, `await …`, `… as T`, `… satisfies T` and `…!`."""
    while node.type in WRAPPERS and node.named_children:
        node = node.named_children[0]
    return node


def string_of(node: Any) -> str | None:
    """What a string literal says; None for anything else."""
    return text_of(node)[1:-1] if node is not None and node.type == "string" else None


def is_function(node: Any) -> bool:
    """Whether an expression is a function."""
    return node is not None and unwrapped(node).type in FUNCTIONS


def bound_names(node: Any) -> tuple[tuple[str, ...], bool]:
    """The names that a target binds, and whether it is a pattern that takes something apart."""
    pattern = node.child_by_field_name("pattern")
    node = unwrapped(pattern if pattern is not None else node)
    if node.type == "identifier":
        return (text_of(node),), False
    kinds = {"identifier", "shorthand_property_identifier_pattern"}
    return tuple(text_of(each) for each in walk(node) if each.type in kinds), True
