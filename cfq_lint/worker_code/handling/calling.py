"""What the calls in a handler do to a message: they settle it, are followed, or are work of somebody else's."""

from __future__ import annotations

from cfq_lint.facts.record import replace
from cfq_lint.worker_code.handling.effects import is_left_alone, is_work, tells_only
from cfq_lint.worker_code.handling.naming import (
    ACKS,
    BATCH,
    DATA,
    FIELDS_OF_BATCH,
    FIELDS_OF_MESSAGE,
    MESSAGE,
    RETRIES,
    SETTLING,
    Room,
)
from cfq_lint.worker_code.handling.state import (
    ACK,
    ACK_ALL,
    RETRY,
    Flow,
    Seen,
    State,
    as_related,
    doubted,
    settle,
    worked,
)
from cfq_lint.worker_code.lowering.steps import Argument, Call, Floating, Function, Spot

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.lowering.steps import Step
    from cfq_lint.worker_code.modules.module import Module
    from cfq_lint.worker_code.modules.program import Program

_DEPTH_MAX = 8
_COLLECTS = frozenset({"push", "append", "add", "set", "extend", "unshift"})
_BUILT_IN = frozenset(
    {"JSON", "Object", "Array", "String", "Number", "Math", "json", "str", "len", "list", "dict", "int", "isinstance"}
)
_NOWHERE = Spot("", 0, 0)


class Calling:
    """The meaning of calls. `seen` are those on the way. What a body does is left to whoever follows all steps."""

    def __init__(self, program: Program, queue: str) -> None:
        self.program = program
        self.queue = queue
        self.seen: list[Seen] = []
        self.is_python = program.entry.endswith(".py")

    def run(self, steps: tuple[Step, ...], states: set[State], room: Room) -> Flow:
        """The ways through steps."""
        raise NotImplementedError

    def floating(self, step: Floating, states: set[State], room: Room) -> Flow:
        """Work that is started and not waited for here."""
        raise NotImplementedError

    def call(self, call: Call, states: set[State], room: Room) -> Flow:
        """A call settles the message, is followed, or is work of somebody else's."""
        how = self.settles(call, room)
        if how:
            return Flow({settle(state, how, call.spot) for state in states})
        is_related = room.related(call.mentions)
        inner = [argument.function for argument in call.arguments if argument.function is not None]
        if not inner:  # else what they do is seen by itself
            self.seen.append(self.see(call, room, is_related=is_related))
        if len(call.chain) == 1 and call.chain[0] in room.functions:
            function, around = room.functions[call.chain[0]]
            return self.enter(function, around, call.arguments, states, room)
        found = self.local(call.chain, room) if not room.holds(call.held) else None
        if found is not None and room.depth < _DEPTH_MAX:
            if found[1].is_async and not call.awaited and is_related:
                return self.floating(Floating((replace(call, awaited=True),), call.spot), states, room)
            part = self.called(call.chain, call.arguments, states, room)
            if call.awaited and is_related:
                part.normal = {as_related(state, call.spot) for state in part.normal}
            return part
        if inner:
            return self.inline(inner, states, room)
        if is_related and call.name in _COLLECTS and len(call.chain) > 1:
            room.names.setdefault(call.chain[0], DATA)
            is_kept = call.chain[0] == "this" and any(room.holds(argument.whole) for argument in call.arguments)
            return Flow(doubted(states, call.spot) if is_kept else states)
        return self.unfollowed(call, states, room, is_related=is_related)

    def see(self, call: Call, room: Room, *, is_related: bool) -> Seen:
        """What there is to know of a call by itself."""
        key: bool | None = None
        if call.key_is_fresh or (call.key is not None and not room.fresh.isdisjoint(call.key)):
            key = True
        elif call.key is not None and room.related(call.key):
            key = False
        is_fresh = call.fresh or not room.fresh.isdisjoint(call.mentions)
        is_of_one = room.in_loop or any(room.names.get(name) in {MESSAGE, DATA} for name in call.mentions)
        return Seen(call, is_related, is_of_one, is_fresh, call.mentions - room.fresh, key)

    def settles(self, call: Call, room: Room) -> str:
        """How a call settles messages; "" for a call that does not."""
        owner, own = room.kind(call.chain[:-1]), room.kind(call.chain)
        if owner == BATCH:
            return {"ackall": ACK_ALL, "retryall": RETRY}.get(call.name.replace("_", "").lower(), "")
        if own in {ACKS, RETRIES} or (owner == DATA and call.name in {"ack", "retry"}):
            return ACK if call.name == "ack" or own == ACKS else RETRY
        return ""

    def unfollowed(self, call: Call, states: set[State], room: Room, *, is_related: bool) -> Flow:
        """A call of something that is not the Worker's own, or that is not certain."""
        if tells_only(call) or call.chain[0] in _BUILT_IN:
            return Flow(states)
        if is_left_alone(call) and is_related:
            return Flow({state._replace(doubt=state.doubt or call.spot) for state in states})
        hands_over = any(room.holds(given) for given in (call.held, *(argument.whole for argument in call.arguments)))
        hands_over = hands_over or any(room.kind(argument.chain) in SETTLING for argument in call.arguments)
        done, flow = states, Flow(set())
        if is_work(call, is_python=self.is_python):
            done = {worked(state, call.spot, is_related=is_related, each=room.in_loop) for state in states}
            flow.raised = set(states) if is_related else set()
        if hands_over:
            done = doubted(done, call.spot)
        flow.normal = done
        return flow

    def inline(self, functions: list[Function], states: set[State], room: Room) -> Flow:
        """Functions written into a call, such as a transaction's: they run once."""
        flow = Flow(states)
        for function in functions:
            part = self.run(function.body, flow.normal, room)
            flow.raised |= part.raised
            flow.normal = part.normal | part.returned
        return flow

    def local(self, chain: tuple[str, ...], room: Room) -> tuple[Module, Function] | None:
        """The function of the Worker's own that is called; None where it is not certain."""
        if len(chain) > 1 and room.names.get(chain[0]):
            return None  # something of the message's, whatever else has that name
        return self.program.callee(room.module, chain, room.owner)

    def called(self, chain: tuple[str, ...], given: tuple[Argument, ...], states: set[State], room: Room) -> Flow:
        """Follow a function of the Worker's own."""
        found = self.local(chain, room)
        if found is None or room.depth >= _DEPTH_MAX:
            return Flow({state._replace(doubt=state.doubt or _NOWHERE) for state in states})
        module, function = found
        around = room
        if module is not room.module:
            around = replace(room, module=module, names={}, functions={}, fresh=set(), owner="")
        return self.enter(function, around, given, states, room)

    def enter(self, function: Function, around: Room, given: tuple[Argument, ...], states: set[State], caller: Room) -> Flow:
        """Run a function with what its parameters stand for; `around` is the room that it was written in."""
        names, functions, fresh = {**around.names}, {**around.functions}, set(around.fresh)
        for parameter, argument in zip(function.parameters, given, strict=False):
            own = {parameter} if isinstance(parameter, str) else set(parameter)
            is_fresh = argument.fresh or not caller.fresh.isdisjoint(argument.mentions)
            fresh = fresh | own if is_fresh else fresh - own
            kind = caller.kind(argument.chain) or (DATA if caller.related(argument.mentions) else "")
            if isinstance(parameter, str):
                names[parameter] = kind
                if argument.function is not None:
                    functions[parameter] = (argument.function, caller)
                continue
            fields = FIELDS_OF_BATCH if kind == BATCH else FIELDS_OF_MESSAGE if kind == MESSAGE else {}
            for name in parameter:
                names[name] = (
                    fields.get(name) or (caller.names.get(name, "") if name in argument.whole else "") or (kind and DATA)
                )
        owner = function.owner or around.owner
        room = Room(around.module, names, functions, fresh, caller.depth + 1, caller.in_loop, owner)
        part = self.run(function.body, states, room)
        flow = Flow(part.normal | part.returned)
        flow.raised = part.raised
        return flow
