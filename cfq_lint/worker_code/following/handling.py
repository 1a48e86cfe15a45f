"""A queue handler read once for one queue: the ways to its end, and what was seen on them."""

from __future__ import annotations

from cfq_lint.facts.record import record, replace
from cfq_lint.worker_code.following.expressions import STEPS_A_FUNCTION, STEPS_MAX
from cfq_lint.worker_code.following.statements import Statements
from cfq_lint.worker_code.following.telling import only_tells
from cfq_lint.worker_code.modules.module import Value as Meaning
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.ways.state import Flow, State, TooLong
from cfq_lint.worker_code.ways.values import (
    BATCH,
    BOOLEAN,
    FUNCTION,
    INSTANCE,
    LITERAL,
    OPAQUE,
    RESPONSE,
    STATUS,
    Called,
    Room,
    Value,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.following.conditions import States
    from cfq_lint.worker_code.modules.module import Module
    from cfq_lint.worker_code.modules.program import Program
    from cfq_lint.worker_code.ways.marks import Mark
    from cfq_lint.worker_code.ways.values import Settled

_SHARES = 6
_VALUES = (n.Record, n.Listing, n.Text, n.Number, n.Decimal, n.Invoke, n.Member, n.Binary, n.Name, n.Template, n.Wait)


@record
class Handled:
    """What a handler does with the messages of one queue.

    `ended` are the ways on which it returns, `raised` those on which it throws. `called` are the calls on the way, in order,
    `settled` those that settle messages. `left` are the places where a `return` ends a loop over messages, with that loop and
    the ways there, `asked` the comparisons of the queue's name with what is known, none where it is one of those, `statuses`
    the numbers that a response's status is compared with, `in_loop` the places in loops over messages that may throw.
    `looks_at_queue` says that the queue's name matters. `problem` says why nothing is known, `steps` how long the reading was.
    """

    queue: str
    handler: Mark | None
    ended: frozenset[State]
    raised: frozenset[State]
    called: tuple[Called, ...]
    settled: tuple[Settled, ...]
    left: tuple[tuple[Mark, Mark, frozenset[State]], ...]
    asked: tuple[Mark, ...]
    statuses: frozenset[int]
    in_loop: frozenset[Mark]
    looks_at_queue: bool
    problem: str = ""
    steps: int = 0

    @property
    def doubts(self) -> tuple[Mark, ...]:
        """The places where a message was handed to what was not followed."""
        found = {each.doubt for each in (*self.ended, *self.raised) if each.doubt is not None}
        return tuple(sorted(found, key=lambda mark: (mark.module.path, mark.node.at)))


def handled(program: Program, queue: str, steps_before: int = 0) -> Handled:
    """Read the program's handler for one queue; what was read of it for others before, `steps_before`, shortens the reading."""
    if program.problem:
        return _unknown(queue, program.problem)
    handlers = program.handlers()
    if len(handlers) != 1:
        found = "several queue handlers" if handlers else "no queue handler that can be found by reading"
        return _unknown(queue, f"{program.entry} has {found}")
    module, handler, this = handlers[0]
    steps, most = 0, max(STEPS_MAX // _SHARES, STEPS_MAX - steps_before)
    for a_function in (STEPS_A_FUNCTION, STEPS_A_FUNCTION // _SHARES):
        reader = Reader(program, queue)
        reader.steps_most, reader.steps_a_function = most, a_function
        try:
            return reader.read(module, handler, this)
        except (TooLong, RecursionError):
            steps, most = steps + reader.steps, most // 2
    line = handler.at[0] + 1
    return _unknown(queue, f"the handler in {module.path}:{line} has too many ways through it to follow", steps)


def _unknown(queue: str, problem: str, steps: int = 0) -> Handled:
    return Handled(queue, None, frozenset(), frozenset(), (), (), (), (), frozenset(), frozenset(), False, problem, steps)


class Reader(Statements):
    """Reads the handler of a program."""

    def __init__(self, program: Program, queue: str) -> None:
        super().__init__()
        self.program = program
        self.queue = queue
        self.is_python = program.entry.endswith(".py")
        self.known: dict[tuple[int, str], Value | None] = {}
        self.rooms: dict[int, Room] = {}
        self.left_at: dict[tuple[Mark, Mark], set[State]] = {}
        self.asked: dict[Mark, None] = {}
        self.is_named = False
        self.statuses: set[int] = set()
        self.views: list[Module] = []
        self.looks_at_queue = False
        self.telling: dict[int, bool] = {}

    def read(self, module: Module, handler: n.Lambda, this: Meaning | None) -> Handled:
        """All ways through the handler. Raises TooLong."""
        room = Room(module, self.room_of(module))
        room.calls = (handler,)
        if this is not None:
            room.names["this"] = self.as_value(this) or Value(OPAQUE, chain=("this",))
        given = [Value(BATCH, related=True), Value(OPAQUE, chain=("env",)), Value(OPAQUE, chain=("ctx",))]
        self._parameters(handler, given, room)
        flow = self._body(handler, room)
        return Handled(
            self.queue,
            self.mark(handler, room),
            frozenset(flow.normal | flow.returned),
            frozenset(flow.raised),
            tuple(self.called.values()),
            tuple(self.settling.values()),
            tuple((mark, loop, frozenset(states)) for (mark, loop), states in self.left_at.items()),
            tuple(self.asked) if not self.is_named else (),
            frozenset(self.statuses),
            frozenset(self.in_loop),
            self.looks_at_queue,
            steps=self.steps,
        )

    def _body(self, node: n.Lambda, room: Room) -> Flow:
        if not node.gives:
            flow = self.block(node.body, {State()}, room)
        else:
            flow = Flow()
            value, states = self.value(node.body[0], {State()}, room, flow)
            room.returned.append((states, value))
            flow.returned = states
        if room.returned:
            out = Flow()
            ended: States = set()
            for states, value in room.returned:
                reached = states & flow.returned
                ended |= self.settled(value, reached, out)[1] if value.run is not None and reached else reached
            flow.returned = ended
            flow.raised |= out.raised
        return flow

    # --- what names mean

    def room_of(self, module: Module) -> Room:
        """The room of a module's own names."""
        if id(module) not in self.rooms:
            self.rooms[id(module)] = Room(module)
        return self.rooms[id(module)]

    def named(self, module: Module, name: str) -> Value | None:
        """What a name of a module stands for, wherever it is bound."""
        key = (id(module), name)
        if key not in self.known:
            self.known[key] = None  # what it is made of may name it
            meaning = self.program.meaning(module, name)
            self.known[key] = self.as_value(meaning, name) if meaning is not None else None
        return self.known[key]

    def as_value(self, meaning: Meaning, name: str = "") -> Value | None:
        """What is known of a name, or of a member of something, before anything runs."""
        node, module = meaning.node, meaning.module.base
        if meaning.around or meaning.this is not None:
            module = module.view(meaning.around, meaning.this)
        room = self.room_of(module)
        self.views.append(module)
        if isinstance(node, n.Lambda):
            made = Value(FUNCTION, function=node, room=room, module=module, name=name or node.name)
            made.owner = self.as_value(meaning.this) if meaning.this is not None and meaning.this is not meaning else None
            return made
        if isinstance(node, n.Class) and meaning.is_instance:
            return Value(INSTANCE, fields={}, module=module, name=node.owner, origin=meaning)
        if isinstance(node, n.Class):
            return Value(OPAQUE, chain=(node.owner or name,), origin=meaning)
        if isinstance(node, n.Record):
            made = self.value(node, {State()}, room, Flow())[0]
            made.origin = meaning
            return made
        if not isinstance(node, _VALUES):
            return None
        return self.value(node, {State()}, room, Flow())[0]

    def member(self, value: Value, name: str) -> Value:
        """`value.name`; of `env`, what the configuration's variables say."""
        if value.kind == OPAQUE and value.chain == ("env",):
            self.program.asked.add(name)
            if name in self.program.variables:
                return Value(LITERAL, literal=self.program.variables[name])
        return super().member(value, name)

    def only_tells(self, function: Value, given: list[Value]) -> bool:
        """Whether a function only tells and computes, and is not handed what it may look at for others."""
        if (
            function.function is None
            or function.module is None
            or any(each.kind in {RESPONSE, STATUS, BOOLEAN} for each in given)
        ):
            return False
        key = id(function.function)
        if key not in self.telling:
            self.telling[key] = only_tells(self.program, function.module, function.function)
        return self.telling[key]

    def class_named(self, value: Value) -> Value | None:
        """An object of the class that a value is."""
        if value.origin is None or not isinstance(value.origin.node, n.Class):
            return None
        return self.as_value(replace(value.origin, is_instance=True))

    def method_of(self, value: Value, name: str) -> Value | None:
        """A member of an object of a class of the Worker's own."""
        if value.origin is None:
            return None
        found = self.program.member(value.origin, name)
        if found is None:
            return None
        made = self.as_value(found, name)
        if made is not None and made.kind == FUNCTION:
            made.owner = value
        return made

    def call(self, node: n.Invoke, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """What a call gives; of a name that stands for a module, what that exports."""
        callee = node.callee
        above = self._above(callee, room)
        function = self._out_of_a_map(callee, room) if above is None else above
        if function is not None:
            given, states = self.values(node.given, states, room, out)
            return self.entered(node, function, given, states, room, out)
        if isinstance(callee, n.Member) and isinstance(callee.of, n.Name) and not isinstance(callee.of, n.This):
            known = room.find(callee.of.id) or self.named(room.module, callee.of.id)
            meaning = self.program.meaning(room.module, callee.of.id) if known is None else None
            if known is not None and known.kind == OPAQUE and known.origin is not None:
                meaning = known.origin  # a class, and a method of its own
            found = self.program.member(meaning, callee.name) if meaning is not None else None
            function = self.as_value(found, callee.name) if found is not None else None
            if function is not None and function.kind == FUNCTION:
                given, states = self.values(node.given, states, room, out)
                return self.entered(node, function, given, states, room, out)
        return super().call(node, states, room, out)

    def _above(self, callee: n.Node, room: Room) -> Value | None:
        """The inherited method in `super(…)`, `super.run(…)` or Python's `super().run(…)`."""
        match callee:
            case n.Name("super"):
                name = "constructor"
            case n.Member(n.Name("super") | n.Invoke(n.Name("super")), name):
                pass
            case _:
                return None
        this, found = room.find("this"), None
        holders = [room.module.holder(each) for each in reversed(room.calls)]
        holder = next((each for each in holders if each is not None), None)
        if this is not None and this.origin is not None and holder is not None:
            found = self.program.inherited(this.origin, room.module, holder, name)
        made = self.as_value(found, name) if found is not None else None
        if made is None or made.kind != FUNCTION:
            return None
        made.owner = this
        return made

    def _out_of_a_map(self, callee: n.Node, room: Room) -> Value | None:
        """The function in `handlers.get(batch.queue)(…)`, or in `.run(…)` of what was got, also by a name for that."""
        if isinstance(callee, n.Member):
            held, name = self._got(callee.of, room), callee.name
            found = self.program.member(held, name) if held is not None else None
        else:
            found, name = self._got(callee, room), ""
        made = self.as_value(found, name) if found is not None else None
        return made if made is not None and made.kind == FUNCTION else None

    def _got(self, node: n.Node, room: Room) -> Meaning | None:
        """What `handlers.get(batch.queue)` takes out of a map that is written out."""
        match room.module.names.resolved(node):
            case n.Invoke(n.Member(of, "get"), (key,)):
                table = self.program.value(Meaning(room.module, of, room.module.around, room.module.this))
                wanted = self.value(key, {State()}, room, Flow())[0].literal
                is_known = table is not None and isinstance(table.node, n.New) and isinstance(wanted, str)
                return self.program.member(table, wanted) if is_known and table is not None else None
            case _:
                return None

    # --- what is noted

    def asked_of_queue(self, at: Mark, *, is_it: bool = False) -> None:
        """Note that the queue's name is compared with something that is known, and whether that is its name."""
        self.asked[at] = None
        self.is_named = self.is_named or is_it
        self.looks_at_queue = True

    def asked_of_status(self, number: int) -> None:
        """Note that a response's status is compared with a number."""
        self.statuses.add(number)

    def left_loop(self, node: n.Node, states: States, room: Room) -> None:
        """Note that a `return` ends a loop over messages."""
        self.left_at.setdefault((self.mark(node, room), room.loops[-1]), set()).update(states)
