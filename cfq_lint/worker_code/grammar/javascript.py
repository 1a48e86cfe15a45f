"""The grammar of JavaScript and TypeScript, read with tree-sitter."""

from __future__ import annotations

from cfq_lint.facts.record import record
from cfq_lint.source.javascript import parsed
from cfq_lint.worker_code.grammar.again import Functions, Made
from cfq_lint.worker_code.grammar.javascript_names import WRAPPERS, Names, own, text_of
from cfq_lint.worker_code.grammar.libraries import in_plain, is_used
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.asking import bound_names, unwrapped
from cfq_lint.worker_code.tree.statements import BREAK, CONTINUE, DEFAULT, RAISE, RETURN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_SAID = {"===": "==", "!==": "!=", "&&": "and", "||": "or", "in": "has"}
_WAYS_OUT = {"return_statement": RETURN, "throw_statement": RAISE, "break_statement": BREAK, "continue_statement": CONTINUE}
_DIGITS_MAX = 9


@record
class _Again:
    """What serves for the next text: this one with its syntax tree, and its functions."""

    text: bytes
    tree: Any
    functions: Functions


def parse(path: str, text: str, before: s.Source | None = None) -> s.Source | None:
    """The source; None where it does not parse. Raises RecursionError where it is too deep.

    `before` is the same of another text, whose functions are taken over where they are in this one, too.
    """
    known: _Again | None = before.again if before is not None else None
    data = text.encode("utf-8", "replace")
    tree = parsed(path, data, (known.text, known.tree) if known is not None else None)
    if tree is None:
        return None
    grammar = _Grammar(known.functions if known is not None else Functions())
    body = n.Other(tree.root_node.start_point, grammar.nodes(tree.root_node.named_children))
    links = grammar.links
    again = _Again(data, tree, grammar.known.next(grammar.made))
    return s.Source(
        *(body, grammar.scope, grammar.rebound, links.imports, links.exports, tuple(links.stars)),
        *(tuple(dict.fromkeys(links.sources)), (), again),
    )


class _Grammar(Names):
    def __init__(self, known: Functions) -> None:
        super().__init__()
        self.known = known
        self.made = Made(None)

    # --- expressions

    def call(self, at: Any) -> n.Node:
        given = at.child_by_field_name("arguments")
        callee = at.child_by_field_name("function" if at.type == "call_expression" else "constructor")
        values = () if given is None else self.nodes(given.named_children if given.type == "arguments" else [given])
        is_optional = any(each.type == "optional_chain" for each in at.children)
        kind = n.New if at.type == "new_expression" else n.Perhaps if is_optional else n.Invoke
        made = kind(at.start_point, self.node(callee), values)
        self.links.ask(made)
        return in_plain(made, self.links.imports) if is_used(self.links.imports) else made

    def yielded(self, at: Any) -> n.Node:
        """`yield* effect`, which waits for it."""
        is_whole = any(each.type == "*" for each in at.children) and is_used(self.links.imports)
        return n.Wait(at.start_point, self.inner(at)) if is_whole else n.Other(at.start_point, self.nodes(at.named_children))

    def number(self, at: Any) -> n.Node:
        text = text_of(at).replace("_", "")
        is_plain = text.isascii() and text.isdecimal() and len(text) <= _DIGITS_MAX
        if is_plain:
            return n.Number(at.start_point, int(text))
        try:
            return n.Decimal(at.start_point, float(text))
        except ValueError:  # hexadecimal and the like
            return n.Other(at.start_point, ())

    def unary(self, at: Any) -> n.Node:
        kind = n.Not if text_of(at.child_by_field_name("operator")) == "!" else n.Other
        value = self.of(at, "argument")
        return kind(at.start_point, value if kind is n.Not else (value,))

    def member_of(self, at: Any) -> n.Node:
        """A member of an object or class."""
        if at.type == "shorthand_property_identifier":
            return n.Pair(at.start_point, text_of(at), None, self.name(at), False)
        field = at.child_by_field_name
        key, value = field("key") or field("name") or field("property"), field("value")
        is_method, is_computed = at.type == "method_definition", key.type == "computed_property_name"
        if value is None and not is_method:
            return n.Other(at.start_point, ())
        made = self.function(at) if is_method else self.node(value)
        name = None if is_computed else text_of(key).strip("\"'")
        return n.Pair(at.start_point, name, self.node(key) if is_computed else None, made, is_method)

    def function(self, at: Any) -> n.Node:
        # Not plain is what the libraries change, and what says something of the module around it.
        is_plain, links = not is_used(self.links.imports), self.links.count
        key = (at.type, at.text)
        made = self.known.taken(key, at.start_point, self.scope) if is_plain else None
        made = made or self._made(key, at)
        for each in (made,) if is_plain and self.links.count == links else made.inner:
            self.made.hold(each)
        self.rebound |= made.rebound
        if at.type in _DECLARED:
            self.scope.bind(made.node.name, made.node)
        return made.node

    def _made(self, key: tuple[str, bytes], at: Any) -> Made:
        made, around, rebound = Made(key), self.made, self.rebound
        self.made, self.rebound = made, made.rebound
        made.node = self.scoped(self._function, at)
        self.made, self.rebound = around, rebound
        return made

    def _function(self, at: Any) -> n.Lambda:
        self.made.scope = self.scope
        field = at.child_by_field_name
        name, one, many, body = field("name"), field("parameter"), field("parameters"), field("body")
        parameters = [one] if one is not None else many.named_children if many is not None else []
        names = tuple(self.loose(each) for each in parameters if each.type != "comment")
        is_async = any(child.type == "async" for child in at.children)
        gives = body is not None and body.type != "statement_block"
        inner = (self.node(body),) if body is not None else ()
        own = text_of(name) if at.type in _DECLARED else ""  # another's name is seen in itself alone
        return n.Lambda(at.start_point, own, names, inner, is_async, gives)

    def class_(self, at: Any) -> n.Node:
        name, body = at.child_by_field_name("name"), at.child_by_field_name("body")
        bases = tuple(base for each in at.children if each.type == "class_heritage" for base in self.inherited(each))
        made = n.Class(at.start_point, self.nodes(body.named_children), text_of(name) if name is not None else "", bases)
        if name is not None:
            self.scope.bind(text_of(name), made)
        return made

    def inherited(self, at: Any) -> tuple[n.Node, ...]:
        """What a class extends; interfaces bring nothing along."""
        inner = [each for each in at.named_children if each.type not in {"implements_clause", "type_arguments"}]
        return tuple(self.node(each.child_by_field_name("value") or each) for each in inner)

    def enumerated(self, at: Any) -> n.Node:
        """`enum Name { A = "a" }`, which is an object."""
        made = n.Record(
            at.start_point, self.nodes(at.child_by_field_name("body").named_children), text_of(at.named_children[0])
        )
        self.scope.bind(made.owner, made)
        return made

    # --- statements

    def block(self, at: Any) -> n.Node:
        return self.scoped(lambda at: n.Other(at.start_point, self.nodes(at.named_children)), at)

    def repeated(self, at: Any) -> n.Node:
        body = self.of(at, "body")
        if at.type == "do_statement":
            return body
        return s.Repeat(at.start_point, (), self.of(at, "condition"), body, False)

    def switch(self, at: Any) -> n.Node:
        cases, waiting = [], []
        for case in at.child_by_field_name("body").named_children:
            if case.type == "comment":
                continue
            value = case.child_by_field_name("value")
            body = self.scoped(lambda case: n.Other(case.start_point, self.nodes(case.children_by_field_name("body"))), case)
            waiting += [self.node(value)] if value is not None else []
            if value is None or body.parts:
                cases.append(s.Case(case.start_point, tuple(waiting) if value is not None else (), body, ""))
                waiting = []
        return s.Switch(at.start_point, self.of(at, "value"), tuple(cases), True)

    def attempt(self, at: Any) -> n.Node:
        handler = at.child_by_field_name("handler")
        handlers = (self.scoped(self.handler, handler),) if handler is not None else ()
        body, final = self.of(at, "body"), self.of(at, "finalizer")
        return s.Attempt(at.start_point, body, handlers, self.optional(None), final)

    def handler(self, at: Any) -> n.Node:
        parameter = at.child_by_field_name("parameter")
        names = bound_names(self.target(parameter)) if parameter is not None else ()
        for name in names:
            self.scope.bind(name)
        return s.Case(at.start_point, (), self.of(at, "body"), (*names, "")[0])

    def imported(self, at: Any) -> n.Node:
        self.links.read_import(at)
        return n.Other(at.start_point, ())

    def exported(self, at: Any) -> n.Node:
        self.links.read_export(at)
        value = at.child_by_field_name("value") or at.child_by_field_name("declaration")
        if value is None:
            return n.Other(at.start_point, ())
        made = self.node(value)
        if any(each.type == DEFAULT for each in at.children):
            return self.as_default(made)
        self.links.exports |= {name: ("", name) for name in _declared(made)}
        return made

    def as_default(self, made: n.Node) -> n.Node:
        """What a module exports without a name is bound to DEFAULT."""
        (name,) = (*_declared(unwrapped(made)), "")[:1]
        self.links.exports[DEFAULT] = ("", name or DEFAULT)
        own(unwrapped(made), DEFAULT)
        if name:
            return made
        self.scope.bind(DEFAULT, made)
        return n.Bind(made.at, n.Name(made.at, DEFAULT, self.scope), made, n.DECLARES)


def _declared(made: n.Node) -> tuple[str, ...]:
    """The names that a declaration binds, or that stand there."""
    match made:
        case n.Name(name) | n.Lambda(name):
            return (name,) if name else ()
        case n.Record():
            return (made.owner,) if made.owner else ()
        case n.Bind(target):
            return bound_names(target)
        case n.Other(inner):
            return tuple(name for each in inner for name in _declared(each))
        case _:
            return ()


_DECLARED = frozenset({"function_declaration", "generator_function_declaration"})
_FUNCTIONS = ("arrow_function", "function_expression", "function", "generator_function", *_DECLARED)
_MEMBERS = (
    "pair",
    "enum_assignment",
    "method_definition",
    "public_field_definition",
    "field_definition",
    "shorthand_property_identifier",
)


def _each(self: _Grammar, at: Any) -> n.Node:
    over, target = self.of(at, "right"), self.loose(at.child_by_field_name("left"))
    return s.Each(at.start_point, target, over, self.of(at, "body"), self.optional(None))


def _counted(self: _Grammar, at: Any) -> n.Node:
    counter = (self.of(at, "initializer"), self.of(at, "increment"))
    return s.Repeat(at.start_point, counter, self.of(at, "condition"), self.of(at, "body"), True)


def _binary(self: _Grammar, at: Any) -> n.Node:
    operator = text_of(at.child_by_field_name("operator"))
    return n.Binary(at.start_point, _SAID.get(operator, operator), self.of(at, "left"), self.of(at, "right"))


def _set(self: _Grammar, at: Any) -> n.Node:
    how = n.SETS if at.type == "assignment_expression" else n.ADDS
    return n.Bind(at.start_point, self.target(at.child_by_field_name("left")), self.of(at, "right"), how)


def _choice(self: _Grammar, at: Any) -> n.Node:
    return n.Either(at.start_point, self.of(at, "condition"), self.of(at, "consequence"), self.of(at, "alternative"))


_Grammar.makers = {
    **dict.fromkeys(("identifier", "this", "import", "super"), _Grammar.name),
    **dict.fromkeys(WRAPPERS, _Grammar.inner),
    **dict.fromkeys(_FUNCTIONS, _Grammar.function),
    **dict.fromkeys(("class_declaration", "abstract_class_declaration", "class"), _Grammar.class_),
    **dict.fromkeys(_MEMBERS, _Grammar.member_of),
    **dict.fromkeys(("statement_block", "class_static_block"), _Grammar.block),
    **dict.fromkeys(("lexical_declaration", "variable_declaration"), _Grammar.declaration),
    **dict.fromkeys(("assignment_expression", "augmented_assignment_expression"), _set),
    **dict.fromkeys(("call_expression", "new_expression"), _Grammar.call),
    **dict.fromkeys(("if_statement", "ternary_expression"), _choice),
    **dict.fromkeys(("while_statement", "do_statement"), _Grammar.repeated),
    **dict.fromkeys(_WAYS_OUT, lambda self, at: s.Leave(at.start_point, _WAYS_OUT[at.type], self.nodes(at.named_children))),
    "enum_declaration": _Grammar.enumerated,
    "variable_declarator": _Grammar.declarator,
    "member_expression": lambda self, at: n.Member(
        at.start_point, self.of(at, "object"), text_of(at.child_by_field_name("property"))
    ),
    "subscript_expression": lambda self, at: n.Index(at.start_point, self.of(at, "object"), self.of(at, "index")),
    "string": lambda _, at: n.Text(at.start_point, text_of(at)[1:-1]),
    "regex": lambda _, at: n.Regex(at.start_point, *text_of(at)[1:].rsplit("/", 1)),
    "true": lambda _, at: n.Number(at.start_point, True),
    "false": lambda _, at: n.Number(at.start_point, False),
    **dict.fromkeys(("null", "undefined"), lambda _, at: n.Nothing(at.start_point)),
    "update_expression": lambda self, at: n.Bind(at.start_point, self.of(at, "argument"), n.Number(at.start_point, 1), n.ADDS),
    "template_string": lambda self, at: n.Template(at.start_point, text_of(at)[1:-1], self.nodes(at.named_children)),
    "number": _Grammar.number,
    "binary_expression": _binary,
    "unary_expression": _Grammar.unary,
    "await_expression": lambda self, at: n.Wait(at.start_point, self.inner(at)),
    "yield_expression": _Grammar.yielded,
    "spread_element": lambda self, at: n.Spread(at.start_point, self.inner(at)),
    "array": lambda self, at: n.Listing(at.start_point, self.nodes(at.named_children)),
    "object": lambda self, at: n.Record(at.start_point, self.nodes(at.named_children), ""),
    "for_in_statement": lambda self, at: self.scoped(lambda at: _each(self, at), at),
    "for_statement": lambda self, at: self.scoped(lambda at: _counted(self, at), at),
    "switch_statement": _Grammar.switch,
    "try_statement": _Grammar.attempt,
    "labeled_statement": lambda self, at: self.of(at, "body"),
    "import_statement": _Grammar.imported,
    "export_statement": _Grammar.exported,
}
"""What each of tree-sitter's nodes is; whatever else there is only holds others."""
