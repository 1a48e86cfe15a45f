"""Names of JavaScript and TypeScript, and what binds them: declarations, parameters, scopes."""

from __future__ import annotations

from cfq_lint.worker_code.grammar.javascript_links import Links
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import bound_names, unwrapped

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, ClassVar, TypeVar

    Made = TypeVar("Made")

WRAPPERS = (
    "satisfies_expression",
    "as_expression",
    "parenthesized_expression",
    "non_null_expression",
    "expression_statement",
    "template_substitution",
    "type_assertion",
)
"""What only stands around a value."""
_SKIPPED = frozenset(
    {"comment", "type_arguments", "type_annotation", "type_parameters", "string_fragment", "escape_sequence", "empty_statement"}
)
_BINDING = frozenset({"identifier", "shorthand_property_identifier_pattern"})


class Names:
    """Makes nodes of tree-sitter's, by `makers`: what each of its kinds is. Whatever else there is only holds others."""

    makers: ClassVar[dict[str, Callable[[Any, Any], n.Node]]] = {}

    def __init__(self) -> None:
        self.scope = n.Scope()
        self.rebound: set[str] = set()
        self.links = Links()

    def node(self, at: Any) -> n.Node:
        """The node of one of tree-sitter's."""
        make = self.makers.get(at.type)
        return make(self, at) if make is not None else n.Other(at.start_point, self.nodes(at.named_children))

    def nodes(self, several: Iterable[Any]) -> tuple[n.Node, ...]:
        """The nodes of several, without comments and types."""
        return tuple(self.node(each) for each in several if each.type not in _SKIPPED)

    def optional(self, at: Any) -> n.Node:
        """The node of what may be left out."""
        return self.node(at) if at is not None else n.Other((0, 0), ())

    def of(self, at: Any, field: str) -> n.Node:
        """What stands in a field, which may be left out."""
        return self.optional(at.child_by_field_name(field))

    def inner(self, at: Any) -> n.Node:
        """What stands in `(…)`, `… as T`, `… satisfies T`, `…!` and the like."""
        inner = [each for each in at.named_children if each.type not in _SKIPPED]
        return self.node(inner[0]) if inner else n.Other(at.start_point, ())

    def scoped(self, make: Callable[[Any], Made], at: Any) -> Made:
        """What is made in a scope of its own."""
        self.scope, outer = n.Scope(self.scope), self.scope
        made = make(at)
        self.scope = outer
        return made

    def name(self, at: Any) -> n.Node:
        """A name."""
        return (n.This if at.type == "this" else n.Name)(at.start_point, text_of(at), self.scope)

    def target(self, at: Any) -> n.Node:
        """What is bound or set."""
        at = at.child_by_field_name("pattern") or at
        while at.type in {"assignment_pattern", *WRAPPERS}:
            at = at.child_by_field_name("left") or at.named_children[0]
        if at.type in {"identifier", "this", "member_expression", "subscript_expression"}:
            return self.node(at)
        waiting: list[tuple[Any, str | int]] = [(at, "")]
        names: dict[n.Name, str | int] = {}
        while waiting:
            each, key = waiting.pop()
            if each.type in _BINDING:
                name = n.Name(each.start_point, text_of(each), self.scope)
                names[name] = key if each.type == "identifier" else name.id
            if each.type == "pair_pattern":
                waiting.append((each.child_by_field_name("value"), text_of(each.child_by_field_name("key"))))
            else:
                is_list = each.type == "array_pattern"
                waiting += reversed([(inner, i if is_list else key) for i, inner in enumerate(each.named_children)])
        return n.Pattern(at.start_point, tuple(names), tuple(names.values()))

    def loose(self, at: Any) -> n.Node:
        """A target that is bound to something that is not seen."""
        made = self.target(at)
        for name in bound_names(made):
            self.scope.bind(name)
            self.rebound.add(name)
        return made

    def declarator(self, at: Any) -> n.Node:
        """`name = value` in a declaration."""
        target, value = self.target(at.child_by_field_name("name")), at.child_by_field_name("value")
        if value is None:
            for name in bound_names(target):
                self.scope.bind(name)
            return n.Other(at.start_point, ())
        made = self.node(value)
        if isinstance(target, n.Name):
            self.scope.bind(target.id, made)
            own(unwrapped(made), target.id)
        else:
            for name in bound_names(target):
                self.scope.bind(name)
                self.rebound.add(name)
        self.links.called_for(target, unwrapped(made))
        return n.Bind(at.start_point, target, made, n.DECLARES)

    def declaration(self, at: Any) -> n.Node:
        """`const`, `let` or `var`."""
        made = self.nodes(at.named_children)
        return made[0] if len(made) == 1 else n.Other(at.start_point, made)


def text_of(at: Any) -> str:
    """The text of one of tree-sitter's nodes."""
    return str(at.text.decode("utf-8", "replace"))


def own(value: n.Node, name: str) -> None:
    """Give a name to an object or class that has none."""
    if isinstance(value, n.Record) and not value.owner:
        value.owner = name
