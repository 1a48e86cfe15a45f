"""What each kind of expression comes to: objects, spreads, arrays, templates, operators, conditions and calls."""

from __future__ import annotations

from cfq_lint.source.cloudflare_config.syntax import name_of, number_of, string_of, text_of, unescaped
from cfq_lint.source.cloudflare_config.values import (
    ELSEWHERE,
    FUNCTION,
    OTHERWISE,
    SPREAD,
    UNDEFINED,
    constant,
    joined,
    members_of,
    part_of,
    truth,
    unknown,
    used_at,
)
from cfq_lint.source.node import ARRAY, BOOLEAN, BROKEN, NULL, NUMBER, OBJECT, STRING, Member, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from cfq_lint.source.cloudflare_config.scopes import Scope

    class Module(Protocol):
        """The module that an expression stands in, as `evaluate` has it."""

        budget: Any

        def span(self, node: Any) -> tuple[int, int]:
            """The span of a node."""

        def unknown(self, node: Any) -> Node:
            """What cannot be told of an expression."""

        def evaluate(self, node: Any, scope: Scope) -> Node:
            """The value of an expression."""

        def named(self, name: str, scope: Scope, node: Any) -> Node:
            """The value of a name."""

        def compared(self, sign: str, one: Node, other: Node, node: Any) -> Node:
            """Whether two values compare so."""

        def call(self, function: Node, arguments: list[Node], node: Any) -> Node:
            """What a function returns for arguments."""


def _object(module: Module, node: Any, scope: Scope) -> Node:
    members: dict[str, Member] = {}
    for each in node.named_children:
        if each.type == "spread_element":
            _spread(module, each, scope, members)
            continue
        key = each.child_by_field_name("key") if each.type == "pair" else each.child_by_field_name("name") or each
        if each.type == "comment" or key is None:
            continue
        name = name_of(key)
        if name is None and key.type == "computed_property_name" and key.named_children:
            computed = module.evaluate(key.named_children[0], scope)
            name = computed.value if computed.kind == STRING else None
        if name is None:
            members[SPREAD] = Member(SPREAD, *module.span(each), module.unknown(each))
            continue
        if each.type == "pair":
            value = module.evaluate(each.child_by_field_name("value"), scope)
        elif each.type == "shorthand_property_identifier":
            value = _identifier(module, each, scope)
        else:
            value = Node(FUNCTION, *module.span(each), (each, scope, module))
        members.pop(name, None)
        members[name] = Member(name, *module.span(key), value)
    return Node(OBJECT, *module.span(node), list(members.values()))


def _spread(module: Module, node: Any, scope: Scope, members: dict[str, Member]) -> None:
    """Put the members of `...value` among those before it."""
    span = module.span(node)
    value = module.evaluate(node.named_children[0], scope) if node.named_children else unknown(*span)
    if value.kind == OBJECT:
        if value.start == ELSEWHERE:
            value = used_at(value, *span)
        for member in value.value:
            members.pop(member.key, None)
            members[member.key] = member
    elif value.kind == BROKEN:  # it may say anything, also of the keys before it
        for key, member in members.items():
            members[key] = Member(key, member.start, member.end, unknown(member.node.start, member.node.end))
        members[SPREAD] = Member(SPREAD, *span, unknown(*span))


def _array(module: Module, node: Any, scope: Scope) -> Node:
    items: list[Node] = []
    for each in node.named_children:
        if each.type == "comment":
            continue
        if each.type == "spread_element" and each.named_children:
            value = module.evaluate(each.named_children[0], scope)
            if value.kind == ARRAY:
                items += value.value if value.start != ELSEWHERE else used_at(value, *module.span(each)).value
            elif value.kind != UNDEFINED:
                items.append(module.unknown(each))
        else:
            items.append(module.evaluate(each, scope))
    return Node(ARRAY, *module.span(node), items)


def _identifier(module: Module, node: Any, scope: Scope) -> Node:
    return used_at(module.named(text_of(node), scope, node), *module.span(node))


def _member(module: Module, node: Any, scope: Scope) -> Node:
    value = module.evaluate(node.child_by_field_name("object"), scope)
    key = text_of(node.child_by_field_name("property")) if node.child_by_field_name("property") is not None else ""
    part = part_of(value, key)
    return used_at(part, *module.span(node)) if part is not None else module.unknown(node)


def _subscript(module: Module, node: Any, scope: Scope) -> Node:
    value = module.evaluate(node.child_by_field_name("object"), scope)
    key = module.evaluate(node.child_by_field_name("index"), scope)
    if key.kind == OTHERWISE and value.kind == OBJECT:
        for member in value.value:
            module.budget.modes.setdefault(member.key)
        return Node(UNDEFINED, *module.span(node), None)
    part = part_of(value, str(key.value)) if key.kind in {STRING, NUMBER} else None
    return used_at(part, *module.span(node)) if part is not None else module.unknown(node)


def _template(module: Module, node: Any, scope: Scope) -> Node:
    text = ""
    for part in node.named_children:
        if part.type == "escape_sequence":
            text += unescaped(text_of(part))
        elif part.type == "template_substitution" and part.named_children:
            value = module.evaluate(part.named_children[0], scope)
            if value.kind not in {STRING, NUMBER, BOOLEAN}:
                return module.unknown(node)
            text += str(value.value).lower() if value.kind == BOOLEAN else str(value.value)
        else:
            text += text_of(part)
    return constant(text, *module.span(node))


def _binary(module: Module, node: Any, scope: Scope) -> Node:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = text_of(node.child_by_field_name("operator"))
    one = module.evaluate(left, scope)
    if sign in {"&&", "||", "??"}:
        if sign == "??":
            goes_on = None if one.kind == BROKEN else one.kind in {UNDEFINED, NULL}
        else:
            goes_on = truth(one) if sign == "&&" else {True: False, False: True, None: None}[truth(one)]
        if goes_on is False:
            return one
        other = module.evaluate(right, scope)
        if goes_on:
            return other
        # `...(unknown && { … })` brings the members or nothing.
        if sign == "&&" and other.kind in {OBJECT, ARRAY}:
            return joined(Node(other.kind, other.start, other.end, []), other)
        return module.unknown(node)
    return module.compared(sign, one, module.evaluate(right, scope), node)


def _unary(module: Module, node: Any, scope: Scope) -> Node:
    value = module.evaluate(node.child_by_field_name("argument"), scope)
    sign = text_of(node.child_by_field_name("operator"))
    known = truth(value)
    if sign == "!" and known is not None:
        return constant(not known, *module.span(node))
    if sign in {"-", "+"} and value.kind == NUMBER:
        return constant(-value.value if sign == "-" else value.value, *module.span(node))
    return module.unknown(node)


def _ternary(module: Module, node: Any, scope: Scope) -> Node:
    condition = truth(module.evaluate(node.child_by_field_name("condition"), scope))
    then, other = node.child_by_field_name("consequence"), node.child_by_field_name("alternative")
    if condition is not None:
        return module.evaluate(then if condition else other, scope)
    value = joined(module.evaluate(then, scope), module.evaluate(other, scope))
    return module.unknown(node) if value.kind == BROKEN else value


def _call(module: Module, node: Any, scope: Scope) -> Node:
    function, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if function is None or arguments is None or any(each.type == "spread_element" for each in arguments.named_children):
        return module.unknown(node)
    given = [module.evaluate(each, scope) for each in arguments.named_children if each.type != "comment"]
    if function.type == "member_expression":
        method = text_of(function.child_by_field_name("property"))
        if text_of(function) == "Object.freeze" and given:
            return given[0]
        if text_of(function) in _LISTED and len(given) == 1 and given[0].kind == OBJECT and SPREAD not in members_of(given[0]):
            return _listed(module, method, given[0], node)
        value = module.evaluate(function.child_by_field_name("object"), scope)
        if method == "map" and value.kind == ARRAY and given and given[0].kind == FUNCTION:
            mapped = [each if each.kind == BROKEN else module.call(given[0], [each], node) for each in value.value]
            return Node(ARRAY, *module.span(node), mapped)
        if method == "includes" and value.kind == ARRAY and len(given) == 1:
            return _includes(module, value, given[0], node)
        if method == "filter" and value.kind == ARRAY and text_of(arguments) == "(Boolean)":
            return Node(ARRAY, value.start, value.end, [each for each in value.value if truth(each) is not False])
    return module.call(module.evaluate(function, scope), given, node)


_LISTED = frozenset({"Object.entries", "Object.keys", "Object.values"})


def _listed(module: Module, method: str, value: Node, node: Any) -> Node:
    """What `Object.entries`, `Object.keys` or `Object.values` gives of an object."""
    span = module.span(node)
    items = []
    for member in value.value:
        key = constant(member.key, member.start, member.end)
        pair = Node(ARRAY, member.start, member.node.end, [key, member.node])
        items.append({"entries": pair, "keys": key, "values": member.node}[method])
    return Node(ARRAY, *span, items)


def _includes(module: Module, value: Node, given: Node, node: Any) -> Node:
    same = [truth(module.compared("===", given, each, node)) for each in value.value]
    if True in same:
        return constant(True, *module.span(node))
    return module.unknown(node) if None in same else constant(False, *module.span(node))


def enumeration(module: Module, node: Any, scope: Scope) -> Node:
    """An enum as the object of its members; those without a value of their own are left out."""
    body = node.child_by_field_name("body")
    members = []
    for each in body.named_children if body is not None else ():
        name, value = each.child_by_field_name("name"), each.child_by_field_name("value")
        if each.type == "enum_assignment" and name is not None and value is not None:
            members.append(Member(name_of(name) or "", *module.span(name), module.evaluate(value, scope)))
    return Node(OBJECT, *module.span(node), members)


def _number(module: Module, node: Any, _scope: Scope) -> Node:
    value = number_of(text_of(node))
    return module.unknown(node) if value is None else constant(value, *module.span(node))


EXPRESSIONS: dict[str, Callable[[Module, Any, Scope], Node]] = {
    "array": _array,
    "binary_expression": _binary,
    "call_expression": _call,
    "false": lambda module, node, _: constant(False, *module.span(node)),
    "identifier": _identifier,
    "member_expression": _member,
    "null": lambda module, node, _: constant(None, *module.span(node)),
    "number": _number,
    "object": _object,
    "string": lambda module, node, _: constant(string_of(node), *module.span(node)),
    "subscript_expression": _subscript,
    "template_string": _template,
    "ternary_expression": _ternary,
    "true": lambda module, node, _: constant(True, *module.span(node)),
    "unary_expression": _unary,
    "undefined": lambda module, node, _: Node(UNDEFINED, *module.span(node), None),
}
"""How to evaluate an expression in a module and a scope, by the kind of its node."""
