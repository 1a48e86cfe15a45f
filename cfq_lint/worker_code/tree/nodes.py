"""Expressions, and names with what binds them, as the grammars of both languages give them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Scope:
    """What a block or function binds: names with their values, None where a declaration gives none."""

    __slots__ = ("names", "outer")

    def __init__(self, outer: Scope | None = None) -> None:
        self.names: dict[str, list[Node | None]] = {}
        self.outer = outer

    def bind(self, name: str, value: Node | None = None) -> None:
        """Note that a name is bound here."""
        self.names.setdefault(name, []).append(value)

    def value(self, name: str) -> Node | None:
        """The value of the one declaration that binds a name; None for parameters, imports and what is not certain."""
        at: Scope | None = self
        while at is not None:
            if name in at.names:
                values = at.names[name]
                return values[0] if len(values) == 1 else None
            at = at.outer
        return None


class Node:
    """A piece of a source. `at` is its place, row and column in bytes from 0; `parts` are the nodes right below it."""

    __slots__ = ("at", "parts")
    __match_args__: tuple[str, ...] = ()

    def __init__(self, at: tuple[int, int], *values: Any) -> None:
        self.at = at
        parts: list[Node] = []
        for name, value in zip(self.__match_args__, values, strict=True):
            setattr(self, name, value)
            if isinstance(value, Node):
                parts.append(value)
            elif isinstance(value, tuple) and value and isinstance(value[0], Node):
                parts += value
        self.parts: tuple[Node, ...] = tuple(parts)


class Other(Node):
    """Anything that only holds other nodes: operators, several declarations in one statement."""

    __slots__ = __match_args__ = ("inner",)
    inner: tuple[Node, ...]


class Later(Other):
    """What is not run where it stands, and is not followed: a lambda."""

    __slots__ = ()


class Name(Node):
    """A name, where `scope` tells what it stands for."""

    __slots__ = __match_args__ = ("id", "scope")
    id: str
    scope: Scope


class This(Name):
    """`this` or `self`."""

    __slots__ = ()


class Pattern(Node):
    """A target that takes something apart into names; `keys` are the field, or the number, that each is taken from."""

    __slots__ = __match_args__ = ("names", "keys")
    names: tuple[Name, ...]
    keys: tuple[str | int, ...]


class Text(Node):
    """A string's literal."""

    __slots__ = __match_args__ = ("value",)
    value: str


class Regex(Node):
    """A regular expression's literal."""

    __slots__ = __match_args__ = ("pattern", "flags")
    pattern: str
    flags: str


class Template(Node):
    """A string with holes: as it is written, and what stands in the holes."""

    __slots__ = __match_args__ = ("value", "holes")
    value: str
    holes: tuple[Node, ...]


class Number(Node):
    """A whole number, or a truth value."""

    __slots__ = __match_args__ = ("value",)
    value: int


class Nothing(Node):
    """`null`, `undefined` or `None`."""

    __slots__ = ()


class Decimal(Node):
    """A number that is not whole."""

    __slots__ = __match_args__ = ("value",)
    value: float


class Member(Node):
    """`of.name`."""

    __slots__ = __match_args__ = ("of", "name")
    of: Node
    name: str


class Index(Node):
    """`of[key]`."""

    __slots__ = __match_args__ = ("of", "key")
    of: Node
    key: Node


class Slice(Node):
    """`lower:upper` as an index."""

    __slots__ = __match_args__ = ("lower", "upper")
    lower: Node | None
    upper: Node | None


class Invoke(Node):
    """A call. `given` may hold `Spread` and `Keyword`."""

    __slots__ = __match_args__ = ("callee", "given")
    callee: Node
    given: tuple[Node, ...]


class New(Invoke):
    """`new callee(…)`."""

    __slots__ = ()


class Perhaps(Invoke):
    """`callee?.(…)`: nothing where there is nothing to call."""

    __slots__ = ()


class Spread(Node):
    """`...value` or `*value`, also `**value`."""

    __slots__ = __match_args__ = ("value",)
    value: Node


class Keyword(Node):
    """`name=value` in a call."""

    __slots__ = __match_args__ = ("name", "value")
    name: str
    value: Node


class Listing(Node):
    """A list, tuple or set that is written out."""

    __slots__ = __match_args__ = ("items",)
    items: tuple[Node, ...]


class Record(Node):
    """An object or dict that is written out, of `Pair` and `Spread`. `owner` is the name that it is bound to, if any."""

    __slots__ = __match_args__ = ("members", "owner")
    members: tuple[Node, ...]
    owner: str


class Pair(Node):
    """A member of an object, dict or class: `name` where that is literal, else `key`."""

    __slots__ = __match_args__ = ("name", "key", "value", "is_method")
    name: str | None
    key: Node | None
    value: Node
    is_method: bool


class Class(Record):
    """A class by its name, `owner`: its methods and fields as `Pair`, whatever else stands in it, and what it inherits from."""

    __slots__ = ("bases",)
    __match_args__ = ("members", "owner", "bases")
    bases: tuple[Node, ...]


class Lambda(Node):
    """A function. `gives` says that its body is one expression, which it gives back.

    `is_known` says that somebody asked for its body, so that what was found out may rest on that; `noted` is as in
    `asking.noted`.
    """

    __match_args__ = ("name", "parameters", "body", "is_async", "gives")
    __slots__ = ("_body", "gives", "is_async", "is_known", "name", "noted", "parameters")
    name: str
    parameters: tuple[Node, ...]
    is_async: bool
    gives: bool
    is_known: bool
    noted: tuple[Node, ...] | None

    def __init__(self, at: tuple[int, int], *values: Any) -> None:
        super().__init__(at, *values)
        self.noted, self.is_known = None, False

    @property
    def body(self) -> tuple[Node, ...]:
        """The nodes of the body."""
        self.is_known = True
        return self._body

    @body.setter
    def body(self, body: tuple[Node, ...]) -> None:
        self._body = body


class Wait(Node):
    """`await value`."""

    __slots__ = __match_args__ = ("value",)
    value: Node


class Either(Node):
    """`test ? then : other`, or the same as a statement."""

    __slots__ = __match_args__ = ("test", "then", "other")
    test: Node
    then: Node
    other: Node


class Binary(Node):
    """`left operator right`, with `and`, `or`, `==` and `!=` for what each language writes so."""

    __slots__ = __match_args__ = ("operator", "left", "right")
    operator: str
    left: Node
    right: Node


class Not(Node):
    """The opposite of a condition."""

    __slots__ = __match_args__ = ("value",)
    value: Node


DECLARES, SETS, ADDS = "declares", "sets", "adds"


class Bind(Node):
    """A value that a target gets: DECLARES, SETS where it had another one, ADDS to it."""

    __slots__ = __match_args__ = ("target", "value", "how")
    target: Node
    value: Node
    how: str


class Comprehension(Node):
    """`made for target in over`, with conditions."""

    __slots__ = __match_args__ = ("made", "target", "over", "conditions")
    made: Node
    target: Node
    over: Node
    conditions: tuple[Node, ...]
