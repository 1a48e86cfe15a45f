"""JavaScript and TypeScript into steps, with tree-sitter.

The module is longer than most: a language's statements and expressions are one table.
"""

from __future__ import annotations

import re

from cfq_lint.facts.record import replace
from cfq_lint.source.javascript import parsed
from cfq_lint.worker_code import javascript_links as links
from cfq_lint.worker_code.javascript_nodes import (
    DECLARED,
    FUNCTIONS,
    WRAPPERS,
    bound_names,
    is_function,
    outside_of_functions,
    string_of,
    text_of,
    unwrapped,
    walk,
)
from cfq_lint.worker_code.javascript_scopes import Scopes
from cfq_lint.worker_code.steps import (
    ANY,
    BREAK,
    CONTINUE,
    DEFAULT,
    IDEMPOTENCY_KEY,
    NEW,
    NOTHING,
    RAISE,
    RETURN,
    Argument,
    Assign,
    Branch,
    Call,
    Exit,
    Floating,
    Function,
    Loop,
    Module,
    Sent,
    Spot,
    Test,
    Try,
    either,
    opposite,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from cfq_lint.worker_code.steps import Step

_FRESH = re.compile(rb"\b(?:randomUUID|uuid(?:v?[1467])?|v[1467]|nanoid|ulid|createId|cuid2?)\s*\(")
"""What makes an id on the spot; versions 3 and 5 of UUIDs are made of what they are given."""
_CHANGES = frozenset({"push", "unshift", "splice", "pop", "shift"})
_KEEPS_LENGTH = frozenset({"map", "fill", "keys", "values", "entries", "sort", "toSorted", "reverse", "toReversed"})
_EACH = frozenset({"map", "forEach", "filter", "flatMap"})
_TOGETHER = frozenset({"all", "allSettled"})
_FIRST = frozenset({"any", "race"})
_PARTS = {"startsWith": "{}*", "endsWith": "*{}", "includes": "*{}*"}
"""Questions about a part of a name, as patterns."""
_NAMES = frozenset({"identifier", "shorthand_property_identifier", "this"})
_SWITCHED = frozenset({"switch_case", "switch_default"})
_MEMORIES = frozenset({"Set", "Map", "WeakSet", "WeakMap", "LRUCache"})
_BUILT_IN = _MEMORIES | {"Array", "Date", "Promise", "Request", "Response", "URL", "Headers", "FormData", "Uint8Array", "Blob"}
"""What is made of these does nothing with what it is given."""
_DIGITS_MAX = 9


def read(path: str, text: str) -> Module | None:
    """The module; None where it does not parse."""
    source = text.encode("utf-8", "replace")
    root = parsed(path, source)
    if root is None:
        return None
    try:
        return _Reader(path, text, source).module(root)
    except RecursionError:
        return None


class _Reader:
    def __init__(self, path: str, text: str, source: bytes) -> None:
        self.path = path
        self.text = text
        self.lines = source.split(b"\n")
        self.bound: dict[str, list[Any]] = {}
        self.changed: set[str] = set()
        self.assigned: set[str] = set()
        self.scopes = Scopes()
        self.joined: set[str] = set()
        self.in_memory: set[str] = set()
        self.result_is_awaited = True

    def module(self, root: Any) -> Module:
        functions: dict[str, list[Function]] = {}
        for node in walk(root):
            if node.type == "variable_declarator" and node.child_by_field_name("value") is not None:
                self.bound.setdefault(text_of(node.child_by_field_name("name")), []).append(node.child_by_field_name("value"))
            self.assigned |= _assigned(node)
            self.changed |= _rebound(node)
            self.joined |= _joined(node)
            self.in_memory |= _in_memory(node)
        self.changed |= self.assigned
        for node in walk(root):
            if node.type in DECLARED:
                name = text_of(node.child_by_field_name("name"))
                functions.setdefault(name, []).append(self.function(node, name))
            elif node.type == "variable_declarator" and is_function(node.child_by_field_name("value")):
                name = text_of(node.child_by_field_name("name"))
                functions.setdefault(name, []).append(self.function(node.child_by_field_name("value"), name))
        for owner, name, node in links.methods(root):
            made = replace(self.function(node, name), owner=owner)
            if node.type == "method_definition" or node.parent.type != "pair":
                functions.setdefault(f"this.{name}", []).append(made)
            if owner and owner not in self.changed:
                functions.setdefault(f"{owner}.{name}", []).append(made)
        imports = links.imported(root)
        handlers = {}
        for name, value in links.named_values(root):
            if value.type in FUNCTIONS and name == DEFAULT:
                functions.setdefault(name, []).append(self.function(value, name))
            handlers[name] = tuple(self.handlers(value, imports))
        exports, stars = links.exported(root)
        return Module(
            path=self.path,
            text=self.text,
            functions={name: found[0] for name, found in functions.items() if len(found) == 1},
            imports=imports,
            handlers=handlers,
            sent=tuple(self.sent(root)),
            constants=self.constants(),
            exports=exports,
            stars=stars,
            sources=links.sources(root),
            instances=links.instances(root, self.bound, self.changed),
            rebound=frozenset(self.changed),
        )

    def handlers(self, value: Any, imports: dict[str, tuple[str, str]]) -> Iterator[Function | tuple[str, ...]]:
        """The queue handlers in a value that may be exported, or the paths of those that it only names."""
        for made in links.handler_in(value, self.resolved):
            if made.type == "method_definition" or made.type in FUNCTIONS:
                owner = links.owner_of(made) if made.type == "method_definition" else ""
                yield replace(self.function(made, "queue"), owner=owner)
            elif _chain(made) and made.type != "call_expression":
                yield _chain(made)
        for each in links.lent(value):
            if each.parent.type == "spread_element" or text_of(each) in imports:
                yield (text_of(each), "queue")

    def spot(self, node: Any) -> Spot:
        row, column = node.start_point
        return Spot(self.path, row + 1, len(self.lines[row][:column].decode("utf-8", "replace")) + 1)

    def function(self, node: Any, name: str = "", *, result_is_awaited: bool = True) -> Function:
        """A function; of one that is not async, `result_is_awaited` says whether somebody waits for what it gives back."""
        body = node.child_by_field_name("body")
        is_async = any(child.type == "async" for child in node.children)
        around, self.result_is_awaited = self.result_is_awaited, is_async or result_is_awaited
        if body is None:
            steps: tuple[Step, ...] = ()
        elif body.type == "statement_block":
            steps = self.block(body)
        else:
            steps = (*self.calls(body, awaited=self.result_is_awaited), Exit(RETURN))
        self.result_is_awaited = around
        one = node.child_by_field_name("parameter")
        many = node.child_by_field_name("parameters")
        parameters = [one] if one is not None else many.named_children if many is not None else []
        names = tuple(_parameter(each) for each in parameters if each.type != "comment")
        return Function(name, names, steps, is_async, self.spot(node))

    def block(self, node: Any) -> tuple[Step, ...]:
        """The steps of a block, or of one statement that stands for one."""
        if node is None:
            return ()
        if node.type in {"statement_block", "else_clause", "finally_clause"}:
            return tuple(step for child in node.named_children for step in self.statement(child))
        return tuple(self.statement(node))

    def statement(self, node: Any) -> Iterator[Step]:
        field = node.child_by_field_name
        match node.type:
            case "expression_statement":
                yield from self.calls(node.named_children[0])
            case "lexical_declaration" | "variable_declaration":
                for each in node.named_children:
                    if each.type == "variable_declarator" and each.child_by_field_name("value") is not None:
                        yield from self.assign(each.child_by_field_name("name"), each.child_by_field_name("value"))
            case "statement_block":
                yield from self.block(node)
            case "labeled_statement":
                yield from self.block(field("body"))
            case "for_in_statement":
                over = field("right")
                yield from self.calls(over)
                names, _ = bound_names(field("left"))
                plain = _over(over)
                yield Loop(names, _chain(plain), _mentions(over), self.block(field("body")), self.spot(node))
            case "for_statement":
                yield from self.counted(node)
            case "while_statement":
                yield from self.calls(field("condition"))
                yield Branch(((None, self.block(field("body"))), (None, ())))
            case "do_statement":
                yield from self.block(field("body"))
            case "if_statement":
                yield from self.calls(field("condition"))
                arms = (
                    (self.test(field("condition")), self.block(field("consequence"))),
                    (None, self.block(field("alternative"))),
                )
                yield Branch(arms, _paths(field("condition")))
            case "switch_statement":
                yield from self.calls(field("value"))
                yield self.switch(node)
            case "try_statement":
                handler, final = field("handler"), field("finalizer")
                caught = self.block(handler.child_by_field_name("body")) if handler is not None else None
                yield Try(self.block(field("body")), caught, (), self.block(final), self.spot(node))
            case "return_statement":
                for each in node.named_children:
                    yield from self.calls(each, awaited=self.result_is_awaited)
                yield Exit(RETURN)
            case "throw_statement":
                yield Exit(RAISE)
            case "break_statement":
                yield Exit(BREAK)
            case "continue_statement":
                yield Exit(CONTINUE)
            case _:
                return

    def counted(self, node: Any) -> Iterator[Step]:
        """`for (let i = 0; i < batch.messages.length; i++)`: for each element of what is counted, else perhaps never."""
        condition = node.child_by_field_name("condition")
        body = self.block(node.child_by_field_name("body"))
        counted = [
            _chain(each)[:-1]
            for each in walk(condition)
            if each.type == "member_expression" and _chain(each)[-1:] == ("length",)
        ]
        if counted and counted[0]:
            yield Loop((), counted[0], _mentions(condition), body, self.spot(node))
        else:
            yield Branch(((None, body), (None, ())))

    def switch(self, node: Any) -> Branch:
        of = _chain(unwrapped(node.child_by_field_name("value")))
        arms: list[tuple[Test | None, tuple[Step, ...]]] = []
        waiting: list[Test | None] = []
        otherwise: tuple[Step, ...] = ()
        for case in node.child_by_field_name("body").named_children:
            if case.type not in _SWITCHED:
                continue
            value = case.child_by_field_name("value")
            body = [child for child in case.named_children if child != value and child.type != "comment"]
            steps = tuple(step for each in body for step in self.statement(each))
            steps = steps[:-1] if steps and steps[-1] == Exit(BREAK) else steps
            if case.type == "switch_default":
                otherwise = steps
                continue
            waiting.append(self.compared(of, value))
            if body:
                arms.append((either(waiting), steps))
                waiting = []
        return Branch((*arms, (None, otherwise)), (of,))

    def assign(self, target: Any, value: Any) -> Iterator[Step]:
        if is_function(value):
            return
        yield from self.calls(value, awaited=text_of(target) in self.joined)
        names, is_pattern = bound_names(target)
        is_fresh = _FRESH.search(value.text) is not None
        kept = _handed(value) if _chain(target)[:1] == ("this",) and len(_chain(target)) > 1 else NOTHING
        yield Assign(
            names, _chain(unwrapped(value)), _mentions(value), is_fresh, is_pattern, _paths(value), kept, self.spot(value)
        )

    def calls(self, node: Any, *, awaited: bool = False) -> Iterator[Step]:
        """The calls in an expression, in the order in which they happen."""
        field = node.child_by_field_name
        match node.type:
            case "await_expression":
                yield from self.calls(node.named_children[0], awaited=True)
            case "call_expression":
                yield from self.call(node, awaited=awaited)
            case "ternary_expression":
                yield from self.calls(field("condition"))
                first, second = (tuple(self.calls(field(key), awaited=awaited)) for key in ("consequence", "alternative"))
                yield Branch(((self.test(field("condition")), first), (None, second)), _paths(field("condition")))
            case "binary_expression" if text_of(field("operator")) in {"&&", "||", "??"}:
                yield from self.calls(field("left"))
                rest = tuple(self.calls(field("right"), awaited=awaited))
                if rest:
                    yield Branch(((None, rest), (None, ())), _paths(field("left")))
            case "assignment_expression":
                yield from self.assign(field("left"), field("right"))
            case "new_expression":
                yield from self.made(node)
            case _ if node.type in FUNCTIONS:
                return
            case _:
                for child in node.named_children:
                    yield from self.calls(child, awaited=awaited)

    def call(self, node: Any, *, awaited: bool) -> Iterator[Step]:
        callee = unwrapped(node.child_by_field_name("function"))
        given = node.child_by_field_name("arguments")
        values = [each for each in given.named_children if each.type != "comment"] if given is not None else []
        values = [each.named_children[0] if each.type == "spread_element" else each for each in values]
        chain = _chain(callee)
        receiver = callee.child_by_field_name("object") if callee.type == "member_expression" else None
        method = text_of(callee.child_by_field_name("property")) if receiver is not None else ""
        if chain[:1] == ("Promise",) and chain[-1] in _TOGETHER:
            inner = tuple(step for value in values for step in self.calls(value, awaited=True))
            inner = (Try(inner, (), (), (), self.spot(node)),) if chain[-1] == "allSettled" else inner
            yield from inner if awaited else (Floating(inner, self.spot(node)),)
        elif chain[:1] == ("Promise",) and chain[-1] in _FIRST:
            # The first of them is waited for, and the others are not.
            yield Floating(tuple(step for value in values for step in self.calls(value, awaited=True)), self.spot(node))
        elif method == "push" and len(chain) == 2 and chain[0] in self.joined:  # noqa: PLR2004 - list.push
            inner = tuple(step for value in values for step in self.calls(value, awaited=True))
            yield Floating(inner, self.spot(node), joined=True)
        elif chain[-1:] == ("waitUntil",):
            inner = tuple(step for value in values for step in self.calls(value, awaited=True))
            yield Floating(inner, self.spot(node), held=True)
        elif callee.type in FUNCTIONS:
            called = Argument((), NOTHING, NOTHING, self.function(callee))
            yield Call(("?",), (called,), NOTHING, "", awaited, False, self.spot(node))
        elif receiver is not None and method in {"then", "catch", "finally"}:
            yield from self.promised(receiver, method, values, awaited=awaited)
        elif receiver is not None and method in _EACH and values:
            yield from self.calls(receiver)
            loop = self.each(node, receiver, values[0], waits=method != "forEach", awaited=awaited)
            is_loose = method != "forEach" and not awaited and _is_async(unwrapped(values[0]))
            yield Floating((loop,), self.spot(node)) if is_loose else loop
        elif receiver is not None and method == "reduce" and values and is_function(values[0]):
            yield from self.calls(receiver)
            yield self.reduced(node, receiver, values[0], awaited=awaited)
        else:
            yield from self.plain_call(node, chain, values, awaited=awaited)

    def reduced(self, node: Any, receiver: Any, value: Any, *, awaited: bool) -> Step:
        """`reduce()`: one after another where each waits for what the one before gave back, else all at once."""
        made = self.function(unwrapped(value), result_is_awaited=awaited)
        before, element = (*made.parameters[:2], "", "")[:2]
        names = (element,) if isinstance(element, str) else element
        text = text_of(value.child_by_field_name("body"))
        pattern = rf"\bawait\s+{re.escape(str(before))}\b" if made.is_async else rf"\b{re.escape(str(before))}\b"
        is_chained = isinstance(before, str) and re.search(pattern, text) is not None
        body = (*made.body,)
        loop = Loop(names, _chain(_over(receiver)), _mentions(receiver), body, self.spot(node), True, is_function=True)
        return loop if is_chained and (awaited or not made.is_async) else Floating((loop,), self.spot(node))

    def promised(self, receiver: Any, how: str, values: list[Any], *, awaited: bool) -> Iterator[Step]:
        before = tuple(self.calls(receiver, awaited=True))
        blocks = [self.function(value).body if is_function(value) else self.named(value) for value in values]
        blocks = [tuple(step for step in block if step != Exit(RETURN)) for block in blocks]
        first = blocks[0] if blocks else ()
        steps: tuple[Step, ...]
        if how == "then":
            steps = (*before, *first) if len(blocks) < 2 else (Try(before, blocks[1], first, (), self.spot(receiver)),)  # noqa: PLR2004 - both of then()'s
        elif how == "catch":
            steps = (Try(before, first, (), (), self.spot(receiver)),)
        else:
            steps = (Try(before, None, (), first, self.spot(receiver)),)
        yield from steps if awaited else (Floating(steps, self.spot(receiver), held=False),)

    def named(self, value: Any) -> tuple[Step, ...]:
        """What a function does that is only named, as in `.then(message.ack)`."""
        chain = _chain(unwrapped(value))
        return (Call(chain, (), _mentions(value), "", True, False, self.spot(value)),) if chain else tuple(self.calls(value))

    def each(self, node: Any, receiver: Any, value: Any, *, waits: bool, awaited: bool) -> Loop:
        spread = unwrapped(receiver)
        if spread.type == "array" and [each.type for each in spread.named_children] == ["spread_element"]:
            receiver = spread.named_children[0].named_children[0]
        chain, mentions = _chain(_over(receiver)), _mentions(receiver)
        function = unwrapped(value)
        if function.type not in FUNCTIONS:
            called = Argument(_chain(function), _mentions(function), NOTHING)
            return Loop((), chain, mentions, (), self.spot(node), waits, called=called)
        made = self.function(function, result_is_awaited=awaited)
        names = made.parameters[0] if made.parameters else ()
        names = (names,) if isinstance(names, str) else names
        body = tuple(made.body)
        return Loop(names, chain, mentions, body, self.spot(node), waits or not made.is_async, is_function=True)

    def plain_call(self, node: Any, chain: tuple[str, ...], values: list[Any], *, awaited: bool) -> Iterator[Step]:
        callee, held = node.child_by_field_name("function"), NOTHING
        for before in _receivers(callee):
            for value in before.child_by_field_name("arguments").named_children:
                yield from self.calls(value)
                held |= _handed(value)
        yield from self.made_first(callee)
        arguments = []
        for value in values:
            function = self.function(value) if is_function(value) else None
            if function is None:
                yield from self.calls(value)
            mentions = NOTHING if function else _mentions(value)
            whole, is_fresh = NOTHING if function else _whole(value), function is None and _FRESH.search(value.text) is not None
            arguments.append(Argument(_chain(unwrapped(value)), mentions, whole, function, is_fresh))
        strings = "\n".join(text_of(each) for each in walk(node) if each.type in {"string", "template_string"})
        named = [self.resolved(each) for each in walk(node) if each.type == "identifier"]
        strings += "".join(f"\n{text_of(each)}" for each in named if each.type in {"string", "template_string"})
        strings += "".join(f"\n{text_of(each)}=" for each in walk(node) if each.type == "property_identifier")
        fresh = any(_FRESH.search(value.text) for value in values)
        fresh = fresh or any(_FRESH.search(each.child_by_field_name("arguments").text) for each in _receivers(node))
        spot = self.spot(node)
        forgets = chain[-2:-1] != () and chain[-2] in self.in_memory
        mentions = _mentions(node)
        yield Call(chain or ("?",), tuple(arguments), mentions, strings, awaited, fresh, spot, *self.key(node), forgets, held)

    def made_first(self, callee: Any) -> Iterator[Step]:
        """The making of the instance in `new Class(…).method()`."""
        while callee.type in {"member_expression", "call_expression", *WRAPPERS}:
            is_call, is_member = callee.type == "call_expression", callee.type == "member_expression"
            field = "function" if is_call else "object" if is_member else ""
            callee = callee.child_by_field_name(field) if field else callee.named_children[0]
        if callee.type == "new_expression":
            yield from self.made(callee)

    def made(self, node: Any) -> Iterator[Step]:
        """`new Class(…)`: whoever is handed a message may do anything with it later."""
        given = node.child_by_field_name("arguments")
        values = [each for each in given.named_children if each.type != "comment"] if given is not None else []
        for value in values:
            yield from self.calls(value)
        name = text_of(node.child_by_field_name("constructor"))
        if name in _BUILT_IN or name.endswith("Error"):
            return
        handed = tuple(Argument(_chain(value), _mentions(value), _handed(value)) for value in values)
        yield Call((f"{NEW}{name}",), handed, _mentions(node), "", False, False, self.spot(node))

    def key(self, node: Any) -> tuple[frozenset[str] | None, bool]:
        """The names in what a call has as idempotency key, None without one, and whether that is made on the spot."""
        values: list[Any] = []
        for each in outside_of_functions(node):
            named = each.child_by_field_name("key") if each.type == "pair" else each if each.type == "string" else None
            if each.type == "shorthand_property_identifier" and IDEMPOTENCY_KEY.search(text_of(each)):
                values.append(each)
            elif named is not None and IDEMPOTENCY_KEY.search(text_of(named)):
                after = each.next_named_sibling if each.parent is not None and each.parent.type == "arguments" else None
                values += [value for value in (each.child_by_field_name("value"), after) if value is not None]
        if not values:
            return None, False
        is_fresh = any(_FRESH.search(self.resolved(value).text) for value in values)
        return frozenset(name for value in values for name in _mentions(value)), is_fresh

    def sent(self, root: Any) -> Iterator[Sent]:
        """Every `send` and `sendBatch` on something that may be a binding."""
        for node in walk(root):
            if node.type != "call_expression":
                continue
            chain = _chain(node.child_by_field_name("function"))
            arguments = node.child_by_field_name("arguments")
            values = [each for each in arguments.named_children if each.type != "comment"] if arguments is not None else []
            if len(chain) > 1 and chain[-1] in {"send", "sendBatch"} and values:
                value = self.resolved(values[0])
                binding = self.binding(node.child_by_field_name("function"), chain)
                if chain[-1] == "send":
                    yield Sent(binding, False, *self.keys(value), 1, self.spot(node))
                else:
                    yield Sent(binding, True, *self.batch(value), self.spot(node))

    def binding(self, callee: Any, chain: tuple[str, ...]) -> str:
        """The binding in `env.Q.send`, or in `q.send` where `q` stands for one; ANY where it may be one of several."""
        if len(chain) > 2:  # noqa: PLR2004 - env.Q.send
            return chain[-2]
        through = _chain(self.resolved(unwrapped(callee).child_by_field_name("object")))
        if (
            through == chain[:1]
            and chain[0] in self.assigned
            and any("env" in _chain(each) for each in self.bound.get(chain[0], ()))
        ):
            return ANY
        return (through or chain[:-1])[-1]

    def resolved(self, node: Any) -> Any:
        """What a name stands for that is declared once around it, and not changed in the module; else the node."""
        node = unwrapped(node)
        value = self.scopes.value(node) if node.type in _NAMES and text_of(node) not in self.assigned else None
        return unwrapped(value) if value is not None else node

    def keys(self, node: Any) -> tuple[frozenset[str] | None, frozenset[str]]:
        """The keys of an object literal, None where they are not certain, and those whose values are made on the spot."""
        node = unwrapped(node)
        members = node.named_children if node.type == "object" else []
        found = _members(members) if node.type == "object" else None
        # What stands before a spread may be replaced by it.
        spread = max((at for at, each in enumerate(members) if each.type == "spread_element"), default=-1)
        certain = _members(members[spread + 1 :]) or {}
        fresh = [key for key, value in certain.items() if value is not None and _FRESH.search(self.resolved(value).text)]
        return None if found is None else frozenset(found), frozenset(fresh)

    def literal(self, node: Any) -> str | None:
        """The text of a string, or of a constant of the module that is one."""
        return string_of(self.resolved(node)) if node is not None else None

    def test(self, node: Any) -> Test | None:
        """A comparison with a name, if a condition is one."""
        node = unwrapped(node)
        field = node.child_by_field_name
        if node.type == "unary_expression" and text_of(field("operator")) == "!":
            return opposite(self.test(field("argument")))
        if node.type == "call_expression" and field("function").type == "member_expression":
            values = field("arguments").named_children
            chain, name = _chain(field("function")), self.literal(values[0]) if len(values) == 1 else None
            pattern = _PARTS.get(chain[-1]) if chain else None
            return Test(chain[:-1], frozenset({pattern.format(name)})) if name is not None and pattern is not None else None
        if node.type != "binary_expression":
            return None
        operator, left, right = text_of(field("operator")), field("left"), field("right")
        if operator == "||":
            return either([self.test(left), self.test(right)])
        if self.literal(left) is not None:
            left, right = right, left
        if operator not in {"===", "==", "!==", "!="}:
            return None
        compared = self.compared(_chain(left), right)
        return compared if operator.startswith("=") else opposite(compared)

    def compared(self, of: tuple[str, ...], node: Any) -> Test | None:
        """The comparison with a text, or with a name that may be imported."""
        name = self.literal(node)
        if name is not None:
            return Test(of, frozenset({name}))
        if node is not None and node.type == "identifier" and text_of(node) not in self.bound:
            return Test(of, NOTHING, imported=frozenset({text_of(node)}))
        return None

    def constants(self) -> dict[str, str]:
        """The names that are bound once, to a text."""
        return {
            name: text
            for name, values in self.bound.items()
            if len(values) == 1 and (text := self.literal(values[0])) is not None
        }

    def batch(self, node: Any) -> tuple[frozenset[str] | None, frozenset[str], int | None]:
        """The fields of the bodies in the argument of a `sendBatch`, those made on the spot, and how many there can be."""
        most, elements = self.length(node), []
        if node.type == "array":
            elements = [unwrapped(each) for each in node.named_children if each.type != "comment"]
        while node.type == "call_expression":
            callee = node.child_by_field_name("function")
            if callee.type != "member_expression":
                break
            values = node.child_by_field_name("arguments").named_children
            name = text_of(callee.child_by_field_name("property"))
            maker = values[0] if name == "map" and values else values[1] if name == "from" and len(values) > 1 else None
            if maker is not None and is_function(maker):
                elements = [unwrapped(each) for each in _results(unwrapped(maker))]
            node = self.resolved(callee.child_by_field_name("object"))
        bodies = [_field_of(each, "body") for each in elements]
        found = [self.keys(self.resolved(body)) for body in bodies if body is not None]
        keys = [each for each, _ in found if each is not None]
        if not keys or len(keys) < len(bodies):
            return None, NOTHING, most
        return frozenset.intersection(*keys), frozenset.intersection(*(fresh for _, fresh in found)), most

    def length(self, node: Any) -> int | None:
        """How many elements a list has at most, and no fewer where that is more than one call can send; None if not certain."""
        node = self.resolved(node)
        field = node.child_by_field_name
        if node.type == "array":
            elements = [each for each in node.named_children if each.type != "comment"]
            counts = [self.length(each.named_children[0]) if each.type == "spread_element" else 1 for each in elements]
            known = [count for count in counts if count is not None]
            return sum(known) if len(known) == len(counts) else None
        if node.type not in {"call_expression", "new_expression"} or field("arguments") is None:
            return None
        callee = unwrapped(field("function" if node.type == "call_expression" else "constructor"))
        values = [each for each in field("arguments").named_children if each.type != "comment"]
        if callee.type == "identifier":
            return self.number(values[0]) if text_of(callee) == "Array" and len(values) == 1 else None
        if callee.type != "member_expression":
            return None
        name, of = text_of(callee.child_by_field_name("property")), callee.child_by_field_name("object")
        if name == "from" and of.text == b"Array" and values:
            members = _members(values[0].named_children) if values[0].type == "object" else None
            counted = members.get("length") if members else None
            return self.number(counted) if counted is not None else self.length(values[0])
        if name == "slice":
            return self.width(values)
        return self.length(of) if name in _KEEPS_LENGTH else None

    def number(self, node: Any) -> int | None:
        """A whole number, or a constant of the module that is one."""
        text = text_of(self.resolved(node)).replace("_", "")
        return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS_MAX else None

    def width(self, values: list[Any]) -> int | None:
        """How long `slice(i, i + 100)` or `slice(0, 100)` can be."""
        if len(values) != 2:  # noqa: PLR2004 - from and to
            return None
        upper = values[1]
        if values[0].text != b"0":
            if upper.type != "binary_expression" or upper.child_by_field_name("left").text != values[0].text:
                return None
            if text_of(upper.child_by_field_name("operator")) != "+":
                return None
            upper = upper.child_by_field_name("right")
        return self.number(upper)


def _is_async(function: Any) -> bool:
    return any(child.type == "async" for child in function.children)


def _rebound(node: Any) -> set[str]:
    """The names that are bound there, and not to what a declaration says."""
    field = node.child_by_field_name
    match node.type:
        case "formal_parameters":
            return {name for each in node.named_children if each.type != "comment" for name in bound_names(each)[0]}
        case "arrow_function" if field("parameter") is not None:
            return {text_of(field("parameter"))}
        case "for_in_statement":
            return set(bound_names(field("left"))[0])
        case "variable_declarator" if field("name").type != "identifier":
            return set(bound_names(field("name"))[0])
        case _:
            return set()


def _assigned(node: Any) -> set[str]:
    """The names that do not keep there what they were declared to be, nor all that it holds."""
    field = node.child_by_field_name
    match node.type:
        case "assignment_expression" | "augmented_assignment_expression":
            return set(_chain(field("left"))[:1]) or set(bound_names(field("left"))[0])
        case "call_expression":
            chain, given = _chain(field("function")), field("arguments")
            if chain == ("Object", "assign") and given is not None and given.named_children:
                return set(_chain(given.named_children[0])[:1])
            return {chain[0]} if len(chain) == 2 and chain[1] in _CHANGES else set()  # noqa: PLR2004 - list.push
        case _:
            return set()


def _in_memory(node: Any) -> set[str]:
    """The name that gets a new set or map there."""
    if node.type != "new_expression" or text_of(node.child_by_field_name("constructor")) not in _MEMORIES:
        return set()
    around = node.parent
    field = around.child_by_field_name
    target = field("name") or field("property") or (field("left") if around.type == "assignment_expression" else None)
    return {text_of(target).rpartition(".")[2]} if target is not None else set()


def _joined(node: Any) -> set[str]:
    """The names of promises, or of lists of them, that are waited for there."""
    if node.type == "await_expression":
        return {text_of(each) for each in node.named_children if each.type == "identifier"}
    chain = _chain(node.child_by_field_name("function")) if node.type == "call_expression" else ()
    given = node.child_by_field_name("arguments") if chain in {("Promise", "all"), ("Promise", "allSettled")} else None
    values = given.named_children if given is not None else []
    values = [inner for each in values for inner in (each.named_children if each.type == "array" else [each])]
    values = [each.named_children[0] if each.type == "spread_element" else each for each in values]
    return {text_of(each) for each in values if each.type == "identifier"}


def _chain(node: Any) -> tuple[str, ...]:
    """The path of a plain expression, calls on the way left out; empty where it is none."""
    node = unwrapped(node)
    field = node.child_by_field_name
    if node.type in _NAMES:
        return (text_of(node),)
    if node.type == "new_expression":
        made = links.constructed(node)
        return (f"{NEW}{made}",) if made is not None else ()
    if node.type == "member_expression":
        before = _chain(field("object"))
        return (*before, text_of(field("property"))) if before else ()
    if node.type == "subscript_expression":
        before, index = _chain(field("object")), string_of(field("index"))
        return (*before, index or ANY) if before else ()
    return _chain(field("function")) if node.type == "call_expression" else ()


def _receivers(node: Any) -> Iterator[Any]:
    """The calls on whose results something is called."""
    while node.type in {"member_expression", "call_expression", *WRAPPERS}:
        if node.type == "call_expression":
            yield node
            node = node.child_by_field_name("function")
        else:
            node = node.child_by_field_name("object") if node.type == "member_expression" else node.named_children[0]


def _mentions(node: Any) -> frozenset[str]:
    return frozenset(text_of(each) for each in walk(node) if each.type in _NAMES)


def _whole(node: Any) -> frozenset[str]:
    """The names in it of which not just a field is taken."""
    return frozenset(
        text_of(each)
        for each in walk(node)
        if each.type in _NAMES
        and (each.parent is None or each.parent.type not in {"member_expression", "subscript_expression"})
    )


def _handed(node: Any) -> frozenset[str]:
    """The names in it that whoever gets it can use themselves: not just a field of theirs, nor what a call makes of them."""
    waiting, found = [unwrapped(node)], set()
    while waiting:
        at = waiting.pop()
        if at.type in _NAMES:
            found.add(text_of(at))
        elif at.type not in {"member_expression", "subscript_expression", "call_expression", *FUNCTIONS}:
            waiting += at.named_children
    return frozenset(found)


def _paths(node: Any) -> tuple[tuple[str, ...], ...]:
    """The plain paths in an expression."""
    return tuple(dict.fromkeys(chain for each in walk(node) if (chain := _chain(each))))


def _over(node: Any) -> Any:
    """What is looped over in `batch.messages.entries()` and the like."""
    node = unwrapped(node)
    if (
        node.type == "call_expression"
        and _chain(node)[-1:]
        and _chain(node)[-1] in {"entries", "values", "slice", "filter", "toSorted"}
    ):
        return node.child_by_field_name("function").child_by_field_name("object")
    return node


def _parameter(node: Any) -> str | tuple[str, ...]:
    names, is_pattern = bound_names(node)
    return names if is_pattern or len(names) != 1 else names[0]


def _members(members: list[Any]) -> dict[str, Any] | None:
    """The keys in an object literal with their values (a shorthand is its own); None where the keys are not certain."""
    found: dict[str, Any] = {}
    for member in members:
        key = member.child_by_field_name("key" if member.type == "pair" else "name")
        if member.type == "shorthand_property_identifier":
            found[text_of(member)] = member
        elif member.type == "comment":
            continue
        elif key is None or key.type == "computed_property_name":
            return None  # a spread, or a name that only running tells
        else:
            found[text_of(key).strip("\"'")] = member.child_by_field_name("value")
    return found


def _field_of(node: Any, name: str) -> Any:
    """The value of a field of an object literal; None where there is none."""
    for member in node.named_children if node.type == "object" else ():
        if member.type == "pair" and text_of(member.child_by_field_name("key")).strip("\"'") == name:
            return member.child_by_field_name("value")
        if member.type == "shorthand_property_identifier" and text_of(member) == name:
            return member
    return None


def _results(function: Any) -> Iterable[Any]:
    """What a function written there gives back: its expression, or what its own `return`s do."""
    body = function.child_by_field_name("body")
    if body.type != "statement_block":
        return [body]
    return [
        each.named_children[0] for each in outside_of_functions(body) if each.type == "return_statement" and each.named_children
    ]
