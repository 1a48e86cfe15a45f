"""Statements, and a whole source, as the grammars of both languages give them."""

from __future__ import annotations

from cfq_lint.facts.record import record
from cfq_lint.worker_code.tree.nodes import Node, Other, Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

RETURN, RAISE, BREAK, CONTINUE = "return", "raise", "break", "continue"
DEFAULT = "default"
EVERYTHING = "*"
"""What is imported where the name stands for a module, and all that it exports."""


class Each(Node):
    """A loop over elements, with what comes after it where nothing broke it."""

    __slots__ = __match_args__ = ("target", "over", "body", "orelse")
    target: Node
    over: Node
    body: Node
    orelse: Node


class Repeat(Node):
    """A loop with a condition; `counter` is what `for (…; …; …)` has around it, where that `is_counted`."""

    __slots__ = __match_args__ = ("counter", "test", "body", "is_counted")
    counter: tuple[Node, ...]
    test: Node
    body: Node
    is_counted: bool


class Switch(Node):
    """A choice among `Case`s; `is_left` says that a `break` leaves it, and no loop around it."""

    __slots__ = __match_args__ = ("subject", "cases", "is_left")
    subject: Node
    cases: tuple[Case, ...]
    is_left: bool


class Case(Node):
    """What is done for one of several options or failures, or, without any, for everything else.

    `name` is what a handler calls the failure, "" where it does not.
    """

    __slots__ = __match_args__ = ("options", "body", "name")
    options: tuple[Node, ...]
    body: Node
    name: str


class Attempt(Node):
    """`try`, with its handlers."""

    __slots__ = __match_args__ = ("body", "handlers", "orelse", "final")
    body: Node
    handlers: tuple[Case, ...]
    orelse: Node
    final: Node


class With(Node):
    """A context that a body runs in. `swallows` says whether it swallows all failures, or some; None where it swallows none."""

    __slots__ = __match_args__ = ("items", "targets", "body", "swallows")
    items: tuple[Node, ...]
    targets: tuple[Node, ...]
    body: Node
    swallows: bool | None


class Leave(Node):
    """A way out, by its kind, with what is given back."""

    __slots__ = __match_args__ = ("kind", "values")
    kind: str
    values: tuple[Node, ...]


@record
class Source:
    """What a grammar makes of a text: the tree, the scope of its top, and how it hangs together with other modules.

    `rebound` are names that are bound to something other than what one declaration says. `imports` are the module and the name
    there that a name stands for, `exports` the same of what others see, with the module "" for this one. `stars` are modules
    all of which is exported, `sources` those that run with this one, `perhaps` those that may be meant by a name. `again` is
    what the grammar keeps of it for reading another text that is the same in parts.
    """

    body: Other
    scope: Scope
    rebound: set[str]
    imports: dict[str, tuple[str, str]]
    exports: dict[str, tuple[str, str]]
    stars: tuple[str, ...]
    sources: tuple[str, ...]
    perhaps: tuple[str, ...]
    again: Any = None
