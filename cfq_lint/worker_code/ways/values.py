"""What an expression stands for while a handler is read: the batch, a message, what was made of one, a call's result."""

from __future__ import annotations

from cfq_lint.worker_code.ways.state import PERHAPS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from cfq_lint.worker_code.modules.module import Module
    from cfq_lint.worker_code.modules.module import Value as Meaning
    from cfq_lint.worker_code.tree.nodes import Invoke, Lambda
    from cfq_lint.worker_code.ways.marks import Mark
    from cfq_lint.worker_code.ways.state import State

BATCH, MESSAGE, LIST, LITERAL, FLAG, DATA, RESULT = "batch", "message", "list", "literal", "flag", "data", "result"
RESPONSE, STATUS, OPAQUE, PROMISE, FUNCTION, OBJECT, INSTANCE = (
    "response",
    "status",
    "opaque",
    "promise",
    "function",
    "object",
    "instance",
)
ERROR, ATTEMPTS, METHOD, BOOLEAN = "error", "attempts", "method", "boolean"
CHANCE, CLOCK, DAY = "chance", "clock", "day"
"""What a value is made of that another delivery makes anew: chance, the time, or the time as a date that is shared by many."""


class Value:
    """What an expression stands for; which fields count depends on `kind`.

    `related` says that the message is in it, `fresh` that another delivery makes another one. `literal` is a text, number or
    truth value; a FLAG has one on each way, by its `key`. `chain` is the path of an OPAQUE, `call` the call that gave it,
    `element` what a LIST holds, `fields` what an OBJECT does. `run` does what a PROMISE promises. `guard` is what a condition
    on it tells: its kind, the truth for which it holds, and the call that it is about. `is_body` says that it is the message's
    own body or in it, `grown` that it was counted up from what `call` read; `bound` is how long a LIST can be at most.
    """

    related: bool
    fresh = ""
    literal: Any = None
    key: Any = None
    chain: tuple[str, ...] = ()
    call: Called | None = None
    element: Value | None = None
    fields: dict[str, Value] | None = None
    run: Callable[..., Any] | None = None
    guard: tuple[str, bool, Called | Mark | None] | None = None
    function: Lambda | None = None
    room: Room | None = None
    module: Module | None = None
    owner: Value | None = None
    origin: Meaning | None = None
    name = ""
    text = ""
    whole = False
    is_body = False
    is_queue = False
    grown = False
    bound: int | None = None

    def __init__(self, kind: str, *, related: bool = False, **more: Any) -> None:
        self.kind = kind
        self.related = related
        for name, value in more.items():
            setattr(self, name, value)

    def under(self, key: Any) -> Value:
        """The same, as what a name stands for that has a literal value on other ways."""
        made = Value(self.kind)
        made.__dict__.update(self.__dict__)
        made.key = key
        return made


class Called:
    """A call that may be reached: `effect` is what it does.

    `chain` is its path, with the receivers' calls; `given` the values of its own arguments, `all_given` those of its receivers'
    calls as well. `related` says that the message is in it, `whole` that it is handed the message itself. `text` are the
    literal strings. `loops` are the loops over messages around it, `is_checked` that somebody looks at a response's status,
    `is_lost` says that nobody waits for it. `within` are the names of the functions around it that no
    message is handed to, `boxes` the lists that alone bring the message in, `through` the calls that lead to it. `unfollowed`
    is the function of the Worker's own that it calls where that was not followed.
    """

    related = False
    boxes: tuple[Any, ...] = ()
    whole = False
    text = ""
    effect = PERHAPS
    loops: tuple[Mark, ...] = ()
    is_checked = False
    is_awaited = False
    is_lost = False
    on_env = False
    within: tuple[str, ...] = ()
    order = 0
    unfollowed: Mark | None = None

    def __init__(self, mark: Mark, node: Invoke, chain: tuple[str, ...], given: list[Value], all_given: list[Value]) -> None:
        self.mark = mark
        self.node = node
        self.chain = chain
        self.given = given
        self.all_given = all_given
        self.named: dict[str, Value] = {}
        self.through: dict[Mark, None] = {}
        self.reached: set[State] = set()

    @property
    def name(self) -> str:
        """The last of the chain."""
        return self.chain[-1] if self.chain else "?"


class Settled:
    """A call that settles: how, where, what it is given, the room and the loops that it stands in, and the ways to it."""

    __slots__ = ("given", "how", "loops", "mark", "node", "room", "states")

    def __init__(self, how: str, mark: Mark, node: Invoke, given: list[Value], room: Room, *, loops: tuple[Mark, ...]) -> None:
        self.how = how
        self.mark = mark
        self.node = node
        self.given = given
        self.room = room
        self.loops = loops
        self.states: set[State] = set()


class Room:
    """Where a function's names stand: the module, what they stand for, the room around it, and whose method it is.

    `loops` are the loops over messages that the function itself is in, each with whether its body is a function's; `calls` the
    functions that are being run.
    """

    __slots__ = ("calls", "loops", "module", "names", "outer", "owner", "returned")

    def __init__(self, module: Module, outer: Room | None = None, owner: Value | None = None) -> None:
        self.module = module
        self.names: dict[str, Value] = {}
        self.outer = outer
        self.owner = owner
        self.loops: list[Mark] = []
        self.calls: tuple[Lambda, ...] = outer.calls if outer is not None else ()
        self.returned: list[tuple[Any, Value]] = []

    def find(self, name: str) -> Value | None:
        """What a name stands for here or around."""
        at: Room | None = self
        while at is not None:
            if name in at.names:
                return at.names[name]
            at = at.outer
        return None

    def home(self, name: str) -> Room:
        """The room that binds a name, this one where none does."""
        at: Room | None = self
        while at is not None:
            if name in at.names:
                return at
            at = at.outer
        return self


def literal(value: object) -> Value:
    """A text, number, truth value or nothing."""
    return Value(LITERAL, literal=value)


def data(*, fresh: str = "", is_body: bool = False) -> Value:
    """What is made of a message without asking anybody."""
    return Value(DATA, related=True, fresh=fresh, is_body=is_body)


def freshest(parts: Iterable[Value]) -> str:
    """What another delivery makes of it for certain: by chance before by the time, and by the time before by the day."""
    found = {each.fresh for each in parts}
    return next((each for each in (CHANCE, CLOCK, DAY) if each in found), "")


def unknown(parts: Iterable[Value] = ()) -> Value:
    """What is made of several values, in a way that does not matter."""
    parts = [each for each in parts if each is not None]
    related = any(each.related for each in parts)
    calls = [
        each
        for each in parts
        if each.call is not None and (each.grown or each.kind in {RESULT, RESPONSE, OPAQUE, STATUS, PROMISE})
    ]
    fresh = freshest(parts)
    errors = any(each.kind == ERROR for each in parts)
    if errors:
        return Value(ERROR, related=True, fresh=fresh)
    if calls:
        made = Value(RESULT, related=related, fresh=fresh, call=calls[0].call)
    elif any(each.kind == ATTEMPTS for each in parts):
        made = Value(ATTEMPTS, related=True, fresh=fresh)
    elif related:
        made = Value(DATA, related=True, fresh=fresh)
    else:
        made = Value(OPAQUE, fresh=fresh)
    made.grown = any(each.grown for each in parts)
    made.text = "\n".join(each.text for each in parts if each.text)
    made.whole = any(each.whole or holds_message(each) for each in parts)
    return made


def holds_message(value: Value | None, depth: int = 3) -> bool:
    """Whether a message or the batch itself is in a value, so that who has it can settle the message."""
    if value is None or depth == 0:
        return False
    if value.kind in {BATCH, MESSAGE} or (value.kind == METHOD and value.room is None):
        return True
    if value.whole:
        return True
    if value.kind == LIST:
        return holds_message(value.element, depth - 1)
    if value.kind == OBJECT and value.fields:
        return any(holds_message(each, depth - 1) for each in value.fields.values())
    return False
