"""A queue handler read once for one queue: the ways to its end, and what was seen on them."""

from __future__ import annotations

from cfq_lint.facts.record import record
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.ways.following import Following
from cfq_lint.worker_code.ways.state import Called, Flow, Mark, State, TooLong
from cfq_lint.worker_code.ways.values import BATCH, FUNCTION, INSTANCE, OPAQUE, Room, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.lowering.steps import Function, Module
    from cfq_lint.worker_code.modules.program import Program
    from cfq_lint.worker_code.ways.calls import Settled
    from cfq_lint.worker_code.ways.conditions import States

_VALUES = (n.Record, n.Listing, n.Text, n.Number, n.Decimal, n.Invoke, n.Member, n.Binary, n.Name, n.Template, n.Wait)


@record
class Handled:
    """What a handler does with the messages of one queue.

    `ended` are the ways on which it returns, `raised` those on which it throws. `called` are the calls on the way, in order,
    `settled` those that settle messages. `left` are the places where a `return` ends a loop over messages, with that loop and the ways there,
    `asked` the comparisons of the queue's name with what is known, `statuses` the numbers that a response's status is compared
    with, `in_loop` the places in loops over messages that may throw. `problem` says why nothing is known.
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
    problem: str = ""


def handled(program: Program, queue: str) -> Handled:
    """Read the program's handler for one queue."""
    if program.problem:
        return _unknown(queue, program.problem)
    handlers = [each for each in program.handlers() if each[1].node is not None]
    if len(handlers) != 1:
        found = "several queue handlers" if handlers else "no queue handler that can be found by reading"
        return _unknown(queue, f"{program.entry} has {found}")
    module, handler = handlers[0]
    reader = Reader(program, queue)
    try:
        return reader.read(module, handler)
    except (TooLong, RecursionError):
        return _unknown(queue, f"the handler in {handler.spot} has too many ways through it to follow")


def _unknown(queue: str, problem: str) -> Handled:
    return Handled(queue, None, frozenset(), frozenset(), (), (), (), (), frozenset(), frozenset(), problem)


class Reader(Following):
    """Reads the handler of a program."""

    def __init__(self, program: Program, queue: str) -> None:
        super().__init__()
        self.program = program
        self.queue = queue
        self.is_python = program.entry.endswith(".py")
        self.module_at = program.modules[program.entry]
        self.known: dict[tuple[str, str], Value | None] = {}
        self.rooms: dict[str, Room] = {}
        self.left_at: dict[tuple[Mark, Mark], set[State]] = {}
        self.asked: dict[Mark, None] = {}
        self.statuses: set[int] = set()

    def read(self, module: Module, handler: Function) -> Handled:
        """All ways through the handler. Raises TooLong."""
        assert handler.node is not None, "it was read from a source"
        room = Room(module, self.room_of(module))
        room.calls = (handler.node,)
        if handler.owner:
            room.names["this"] = Value(INSTANCE, fields={}, module=module, name=handler.owner)
        given = [Value(BATCH, related=True), Value(OPAQUE, chain=("env",)), Value(OPAQUE, chain=("ctx",))]
        self._parameters(handler.node, given, room)
        flow = self._body(handler.node, room)
        return Handled(
            self.queue,
            self.mark(handler.node, room),
            frozenset(flow.normal | flow.returned),
            frozenset(flow.raised),
            tuple(self.called.values()),
            tuple(self.settling.values()),
            tuple((mark, loop, frozenset(states)) for (mark, loop), states in self.left_at.items()),
            tuple(self.asked),
            frozenset(self.statuses),
            frozenset(self.in_loop),
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
        if module.path not in self.rooms:
            self.rooms[module.path] = Room(module)
        return self.rooms[module.path]

    def named(self, module: Module, name: str) -> Value | None:
        """What a name of a module stands for, wherever it is bound."""
        key = (module.path, name)
        if key not in self.known:
            self.known[key] = None  # what it is made of may name it
            self.known[key] = self._found(module, name)
        return self.known[key]

    def _found(self, module: Module, name: str) -> Value | None:
        home = self.program.home(module, name)
        if home is None:
            return None
        at, local = home
        function = at.functions.get(local)
        if function is not None and function.node is not None:
            return Value(FUNCTION, function=function.node, room=self.room_of(at), module=at, name=local)
        value = at.values.get(local)
        if value is None or not isinstance(value, _VALUES) or local in at.rebound:
            return None
        made, _ = self.value(value, {State()}, self.room_of(at), Flow())
        return made

    def class_named(self, module: Module, name: str) -> tuple[Module, str] | None:
        """The class of the Worker's own that a name means."""
        home = self.program.home(module, name)
        if home is None or not any(each.startswith(f"{home[1]}.") for each in home[0].functions):
            return None
        return home

    def method_of(self, value: Value, name: str) -> Value | None:
        """A method of an instance of a class of the Worker's own."""
        module = value.module
        if module is None or not value.name:
            return None
        found = self.program.method(module, value.name, name) or self.program.callee(module, ("this", name), value.name)
        if found is None or found[1].node is None:
            return None
        at, function = found
        return Value(FUNCTION, function=function.node, room=self.room_of(at), module=at, name=name, owner=value)

    def call(self, node: n.Invoke, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """What a call gives; of a name that stands for a module, what that exports."""
        callee = node.callee
        if isinstance(callee, n.Member) and isinstance(callee.of, n.Name) and room.find(callee.of.id) is None:
            found = self.program.callee(room.module, (callee.of.id, callee.name)) if not isinstance(callee.of, n.This) else None
            if found is not None and found[1].node is not None:
                function = Value(FUNCTION, function=found[1].node, room=self.room_of(found[0]), module=found[0], name=callee.name)
                if found[1].owner:
                    function.owner = Value(INSTANCE, fields={}, module=found[0], name=found[1].owner)
                given, states = self.values(node.given, states, room, out)
                return self.entered(node, function, given, states, room, out)
        return super().call(node, states, room, out)

    # --- what is noted

    def asked_of_queue(self, at: Mark, sides: tuple[Value, Value]) -> None:
        """Note that the queue's name is compared with something that is known."""
        self.asked[at] = None

    def asked_of_status(self, at: Mark, number: int, call: Called | None) -> None:
        """Note that a response's status is compared with a number."""
        self.statuses.add(number)

    def left_loop(self, node: n.Node, states: States, room: Room) -> None:
        """Note that a `return` ends a loop over messages."""
        self.left_at.setdefault((self.mark(node, room), room.loops[-1]), set()).update(states)
