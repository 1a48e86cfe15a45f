"""What a queue handler does with one message: every way through it, as far as that is certain.

A message is followed through the handler: the work that is done for it before and after it is acknowledged, what happens where
that work fails, and how the handler ends. Comparisons of `batch.queue` with names choose the way; local functions that are
given the batch or a message are followed. The module is longer than most: each step has its meaning in one place.
"""

from __future__ import annotations

from typing import NamedTuple

from cfq_lint.facts.record import record, replace
from cfq_lint.worker_code.names import is_left_alone, is_work, tells_only
from cfq_lint.worker_code.steps import (
    ANY,
    BREAK,
    CONTINUE,
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
    Spot,
    Test,
    Try,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.program import Program
    from cfq_lint.worker_code.steps import Module, Step

BATCH, MESSAGES, MESSAGE, DATA, QUEUE, ACKS, RETRIES = "batch", "messages", "message", "data", "queue", "acks", "retries"
OF_QUEUE = "of queue"
"""What is made of the queue's name, and so may tell one queue from another."""
ACK, ACK_ALL, RETRY = "ack()", "ackAll()", "retry"
_OF_BATCH = {"messages": MESSAGES, "queue": QUEUE}
_FIELDS = {"ack": ACKS, "retry": RETRIES, "body": DATA, "id": DATA, "timestamp": DATA, "attempts": DATA}
_DEPTH_MAX = 8
_STATES_MAX = 400
NONE, OTHER, RELATED = 0, 1, 2
"""How work has to do with the message: none was done, it was other work, or the message is in it."""


class State(NamedTuple):
    """Where a message has got to on one way through the handler.

    `settled` is how it was settled first. `before` and `after` are the work around an acknowledgement, `each` whether it is
    done message by message. `failed` is the `try` that caught a failure of its work, `noted` the one whose failure further work
    was done about, `floating` work that the runtime waits for at the end only, `lost` a loop that waits for nothing, `doubt` a
    place that was not followed. `guessed` says that it is not certain that this queue's messages come this way.
    """

    settled: str = ""
    settled_at: Spot | None = None
    before: int = NONE
    before_at: Spot | None = None
    after: int = NONE
    after_at: Spot | None = None
    each: bool = False
    failed: Spot | None = None
    noted: Spot | None = None
    floating: Spot | None = None
    lost: Spot | None = None
    doubt: Spot | None = None
    guessed: bool = False


@record
class Seen:
    """A call that the handler may make: whether the message is in it, and whether an id made on the spot is.

    `is_of_one` says that it is made for each message, and not just for the batch; `others` are the names in it that stand for
    no such id. Of its idempotency key `key` says whether it is made on the spot, True, or of the message, False; None where
    that is not certain.
    """

    call: Call
    is_related: bool
    is_of_one: bool
    is_fresh: bool
    others: frozenset[str]
    key: bool | None


class TooLong(Exception):  # noqa: N818 - it says what a handler is
    """There are more ways through a handler than are followed."""


class Flow:
    """The states at the ways out of some steps."""

    __slots__ = ("broken", "continued", "normal", "raised", "returned")

    def __init__(self, normal: set[State]) -> None:
        self.normal = normal
        self.returned: set[State] = set()
        self.raised: set[State] = set()
        self.broken: set[State] = set()
        self.continued: set[State] = set()

    def leave(self, other: Flow) -> None:
        """Add the abrupt ways out of another flow."""
        self.returned |= other.returned
        self.raised |= other.raised
        self.broken |= other.broken
        self.continued |= other.continued


@record
class _Room:
    """Where steps run: the module, what names stand for, which parameters are functions, whether messages are looped over.

    `owner` is the class or object whose method it is.
    """

    module: Module
    names: dict[str, str]
    functions: dict[str, tuple[Function, _Room]]
    fresh: set[str]
    depth: int
    in_loop: bool
    owner: str = ""


class Follower:
    """Follows one message of one queue through a handler. `seen` are the calls on the way."""

    def __init__(self, program: Program, queue: str) -> None:
        self.program = program
        self.queue = queue
        self.seen: list[Seen] = []
        self.is_python = program.entry.endswith(".py")

    def follow(self, module: Module, handler: Function) -> Flow:
        """All ways through the handler. Raises TooLong."""
        names: dict[str, str] = {}
        if handler.parameters:
            first = handler.parameters[0]
            names = {first: BATCH} if isinstance(first, str) else {name: _OF_BATCH.get(name, DATA) for name in first}
        return self.run(handler.body, {State()}, _Room(module, names, {}, set(), 0, False, handler.owner))

    # --- names

    def kind(self, chain: tuple[str, ...], room: _Room) -> str:
        """What a plain path stands for; "" for what has nothing to do with the messages."""
        kind = room.names.get(chain[0], "") if chain else ""
        for part in chain[1:]:
            if kind == BATCH:
                kind = _OF_BATCH.get(part, DATA)
            elif kind == MESSAGES:
                kind = MESSAGE if part == ANY else DATA
            elif kind == MESSAGE:
                kind = _FIELDS.get(part, DATA)
            elif kind in _NAMING:
                kind = OF_QUEUE
            elif kind:
                kind = DATA
        return kind

    def related(self, mentions: frozenset[str], room: _Room) -> bool:
        """Whether one of some names stands for a message, or for what was made of one."""
        return any(room.names.get(name, QUEUE) not in _NAMING for name in mentions)

    def holds(self, names: frozenset[str], room: _Room) -> bool:
        """Whether a message or the batch itself is among some names."""
        return any(room.names.get(name) in _WHOLE for name in names)

    def bind(self, step: Assign, room: _Room) -> None:
        """Note what names stand for from here on."""
        kind = self.kind(step.chain, room)
        if not kind and (about := {self.kind(chain, room) for chain in step.about} - {"", BATCH}) and about <= _NAMING:
            kind = OF_QUEUE
        for name in step.names:
            if step.is_pattern and kind == BATCH:
                room.names[name] = _OF_BATCH.get(name, DATA)
            elif step.is_pattern and kind == MESSAGE:
                room.names[name] = _FIELDS.get(name, DATA)
            elif kind:
                room.names[name] = kind
            elif self.related(step.mentions, room):
                room.names[name] = DATA
            is_fresh = step.fresh or not room.fresh.isdisjoint(step.mentions)
            (room.fresh.add if is_fresh else room.fresh.discard)(name)

    # --- steps

    def run(self, steps: tuple[Step, ...], states: set[State], room: _Room) -> Flow:
        """The ways through steps."""
        flow = Flow(states)
        for step in steps:
            if not flow.normal:
                break
            if len(flow.normal) > _STATES_MAX:
                raise TooLong
            part = self.step(step, flow.normal, room)
            flow.leave(part)
            flow.normal = part.normal
        return flow

    def step(self, step: Step, states: set[State], room: _Room) -> Flow:
        """The ways through one step."""
        match step:
            case Assign():
                self.bind(step, room)
                return Flow(_doubted(states, step.spot) if self.holds(step.kept, room) else states)
            case Call():
                return self.call(step, states, room)
            case Loop():
                return self.loop(step, states, room)
            case Branch():
                return self.branch(step, states, room)
            case Try():
                return self.tried(step, states, room)
            case Floating():
                return self.floating(step, states, room)
            case Exit(kind=kind):
                flow = Flow(set())
                {RETURN: flow.returned, RAISE: flow.raised, BREAK: flow.broken, CONTINUE: flow.continued}[kind].update(states)
                return flow

    def branch(self, step: Branch, states: set[State], room: _Room) -> Flow:
        """Every arm that may run; of comparisons with the queue's name the one that does."""
        flow = Flow(set())
        if any(self.kind(chain, room) in _NAMING for chain in step.about) and not any(
            self.truth(test, room) is not None for test, _ in step.arms
        ):
            states = {state._replace(guessed=True) for state in states}
        for test, body in step.arms:
            truth = self.truth(test, room)
            if truth is False:
                continue
            part = self.run(body, states, room)
            flow.leave(part)
            flow.normal |= part.normal
            if truth:
                break
        return flow

    def truth(self, test: Test | None, room: _Room) -> bool | None:
        """Whether a comparison of the batch's queue holds; None where it is about something else."""
        if test is None or self.kind(test.of, room) != QUEUE:
            return None
        for name in test.imported:
            text = self.program.constant(room.module, name)
            if text is None:
                return None
            test = replace(test, names=test.names | {text})
        return test.holds(self.queue)

    def loop(self, step: Loop, states: set[State], room: _Room) -> Flow:
        """A loop over messages, or over what was made of them, comes by the message once; another one once or never."""
        over = self.kind(step.over, room)
        is_over_messages = over == MESSAGES
        inner = replace(room, in_loop=room.in_loop or is_over_messages)
        for name in step.names:
            if is_over_messages:
                inner.names[name] = MESSAGE if len(step.names) == 1 else _FIELDS.get(name, MESSAGE)
            elif over or self.related(step.mentions, room):
                inner.names[name] = DATA
        body = step.body
        if step.called is not None:
            given = Argument((_ELEMENT,), frozenset({_ELEMENT}), frozenset({_ELEMENT}))
            inner.names[_ELEMENT] = MESSAGE if is_over_messages else DATA
            part = self.called(step.called.chain, (given,), states, inner)
        else:
            part = self.run(body, states, inner)
        flow = Flow(part.normal | part.continued | part.broken)
        flow.raised = part.raised
        if step.is_function:
            flow.normal |= part.returned
        else:
            flow.returned = part.returned
        if not step.waits:
            flow.raised = set()
            flow.normal = {
                state._replace(lost=step.spot) if state.before == RELATED and before.before != RELATED else state
                for state in flow.normal
                for before in states
            }
        if not (is_over_messages or over or self.related(step.mentions, room)):
            flow.normal |= states
        return flow

    def tried(self, step: Try, states: set[State], room: _Room) -> Flow:
        """What is raised in the body goes to the handler, and everything through the final block."""
        body = self.run(step.body, states, room)
        flow = Flow(set())
        flow.leave(body)
        flow.normal = body.normal
        if step.handler is not None:
            flow.raised = set()
            failed = {_failed(state, step.spot) for state in body.raised}
            part = self.run(step.handler, failed, room)
            orelse = self.run(step.orelse, flow.normal, room)
            flow.normal = part.normal | orelse.normal
            flow.leave(part)
            flow.leave(orelse)
        if step.final:
            flow = self.finally_(step, flow, room)
        return flow

    def finally_(self, step: Try, flow: Flow, room: _Room) -> Flow:
        """Each way out goes on as it was."""
        out = Flow(set())
        for way in ("normal", "returned", "raised", "broken", "continued"):
            states: set[State] = getattr(flow, way)
            if way == "raised":
                states = {_failed(state, step.spot) for state in states}
            part = self.run(step.final, states, room)
            out.leave(part)
            getattr(out, way).update(part.normal)
        return out

    def floating(self, step: Floating, states: set[State], room: _Room) -> Flow:
        """Where the work settles the message itself, its own order counts; else it is work that nobody waits for here.

        Of work that nobody ever waits for it is not certain that it comes to its end at all.
        """
        flow = Flow(set())
        for state in states:
            part = self.run(step.body, {state}, room)
            ends = part.normal | part.returned
            settles = any(end.settled != state.settled for end in ends | part.raised)
            if settles and (step.held or step.joined):
                flow.normal |= ends
                flow.raised |= part.raised
            elif settles or any(end.before == RELATED != state.before or end.after == RELATED != state.after for end in ends):
                flow.normal.add(state._replace(floating=step.spot) if step.held else state._replace(doubt=step.spot))
            else:
                flow.normal.add(state)
        return flow

    # --- calls

    def call(self, call: Call, states: set[State], room: _Room) -> Flow:
        """A call settles the message, is followed, or is work of somebody else's."""
        how = self.settles(call, room)
        if how:
            return Flow({_settle(state, how, call.spot) for state in states})
        is_related = self.related(call.mentions, room)
        inner = [argument.function for argument in call.arguments if argument.function is not None]
        if not inner:  # else what they do is seen by itself
            self.seen.append(self.see(call, room, is_related=is_related))
        if len(call.chain) == 1 and call.chain[0] in room.functions:
            function, around = room.functions[call.chain[0]]
            return self.enter(function, around, call.arguments, states, room)
        found = self.local(call.chain, room) if not self.holds(call.held, room) else None
        if found is not None and room.depth < _DEPTH_MAX:
            if found[1].is_async and not call.awaited and is_related:
                return self.floating(Floating((replace(call, awaited=True),), call.spot), states, room)
            part = self.called(call.chain, call.arguments, states, room)
            if call.awaited and is_related:
                part.normal = {_as_related(state, call.spot) for state in part.normal}
            return part
        if inner:
            return self.inline(inner, states, room)
        if is_related and call.name in _COLLECTS and len(call.chain) > 1:
            room.names.setdefault(call.chain[0], DATA)
            is_kept = call.chain[0] == "this" and any(self.holds(argument.whole, room) for argument in call.arguments)
            return Flow(_doubted(states, call.spot) if is_kept else states)
        return self.unfollowed(call, states, room, is_related=is_related)

    def see(self, call: Call, room: _Room, *, is_related: bool) -> Seen:
        """What there is to know of a call by itself."""
        key: bool | None = None
        if call.key_is_fresh or (call.key is not None and not room.fresh.isdisjoint(call.key)):
            key = True
        elif call.key is not None and self.related(call.key, room):
            key = False
        is_fresh = call.fresh or not room.fresh.isdisjoint(call.mentions)
        is_of_one = room.in_loop or any(room.names.get(name) in {MESSAGE, DATA} for name in call.mentions)
        return Seen(call, is_related, is_of_one, is_fresh, call.mentions - room.fresh, key)

    def settles(self, call: Call, room: _Room) -> str:
        """How a call settles messages; "" for a call that does not."""
        owner, own = self.kind(call.chain[:-1], room), self.kind(call.chain, room)
        if owner == BATCH:
            return {"ackall": ACK_ALL, "retryall": RETRY}.get(call.name.replace("_", "").lower(), "")
        if own in {ACKS, RETRIES} or (owner == DATA and call.name in {"ack", "retry"}):
            return ACK if call.name == "ack" or own == ACKS else RETRY
        return ""

    def unfollowed(self, call: Call, states: set[State], room: _Room, *, is_related: bool) -> Flow:
        """A call of something that is not the Worker's own, or that is not certain."""
        if tells_only(call) or call.chain[0] in _BUILT_IN:
            return Flow(states)
        if is_left_alone(call) and is_related:
            return Flow({state._replace(doubt=state.doubt or call.spot) for state in states})
        hands_over = any(self.holds(given, room) for given in (call.held, *(argument.whole for argument in call.arguments)))
        hands_over = hands_over or any(self.kind(argument.chain, room) in _SETTLING for argument in call.arguments)
        done, flow = states, Flow(set())
        if is_work(call, is_python=self.is_python):
            done = {_work(state, call.spot, is_related=is_related, each=room.in_loop) for state in states}
            flow.raised = set(states) if is_related else set()
        if hands_over:
            done = _doubted(done, call.spot)
        flow.normal = done
        return flow

    def inline(self, functions: list[Function], states: set[State], room: _Room) -> Flow:
        """Functions written into a call, such as a transaction's: they run once."""
        flow = Flow(states)
        for function in functions:
            part = self.run(function.body, flow.normal, room)
            flow.raised |= part.raised
            flow.normal = part.normal | part.returned
        return flow

    def local(self, chain: tuple[str, ...], room: _Room) -> tuple[Module, Function] | None:
        """The function of the Worker's own that is called; None where it is not certain."""
        if len(chain) > 1 and room.names.get(chain[0]):
            return None  # something of the message's, whatever else has that name
        return self.program.callee(room.module, chain, room.owner)

    def called(self, chain: tuple[str, ...], given: tuple[Argument, ...], states: set[State], room: _Room) -> Flow:
        """Follow a function of the Worker's own."""
        found = self.local(chain, room)
        if found is None or room.depth >= _DEPTH_MAX:
            return Flow({state._replace(doubt=state.doubt or _NOWHERE) for state in states})
        module, function = found
        around = room
        if module is not room.module:
            around = replace(room, module=module, names={}, functions={}, fresh=set(), owner="")
        return self.enter(function, around, given, states, room)

    def enter(self, function: Function, around: _Room, given: tuple[Argument, ...], states: set[State], caller: _Room) -> Flow:
        """Run a function with what its parameters stand for; `around` is the room that it was written in."""
        names, functions, fresh = {**around.names}, {**around.functions}, set(around.fresh)
        for parameter, argument in zip(function.parameters, given, strict=False):
            own = {parameter} if isinstance(parameter, str) else set(parameter)
            is_fresh = argument.fresh or not caller.fresh.isdisjoint(argument.mentions)
            fresh = fresh | own if is_fresh else fresh - own
            kind = self.kind(argument.chain, caller) or (DATA if self.related(argument.mentions, caller) else "")
            if isinstance(parameter, str):
                names[parameter] = kind
                if argument.function is not None:
                    functions[parameter] = (argument.function, caller)
                continue
            fields = _OF_BATCH if kind == BATCH else _FIELDS if kind == MESSAGE else {}
            for name in parameter:
                names[name] = (
                    fields.get(name) or (caller.names.get(name, "") if name in argument.whole else "") or (kind and DATA)
                )
        owner = function.owner or around.owner
        room = _Room(around.module, names, functions, fresh, caller.depth + 1, caller.in_loop, owner)
        part = self.run(function.body, states, room)
        flow = Flow(part.normal | part.returned)
        flow.raised = part.raised
        return flow


_ELEMENT = "(element)"
_NAMING = frozenset({QUEUE, OF_QUEUE})
_WHOLE = frozenset({BATCH, MESSAGE, MESSAGES})
_SETTLING = _WHOLE | {ACKS, RETRIES}
_COLLECTS = frozenset({"push", "append", "add", "set", "extend", "unshift"})
_BUILT_IN = frozenset(
    {"JSON", "Object", "Array", "String", "Number", "Math", "json", "str", "len", "list", "dict", "int", "isinstance"}
)
_NOWHERE = Spot("", 0, 0)


def _settle(state: State, how: str, spot: Spot) -> State:
    """The first call on a message wins; `ackAll` counts for those that nothing was called on."""
    return state if state.settled else state._replace(settled=how, settled_at=spot)


def _doubted(states: set[State], spot: Spot | None) -> set[State]:
    """What has the message may settle it, at once or later."""
    return {state if state.settled else state._replace(doubt=spot) for state in states}


def _failed(state: State, spot: Spot) -> State:
    """The first failure counts: what fails while it is dealt with is no other one."""
    return state if state.settled or state.failed is not None else state._replace(failed=spot)


def _work(state: State, spot: Spot, *, is_related: bool, each: bool) -> State:
    weight = RELATED if is_related else OTHER
    if state.settled in {ACK, ACK_ALL}:
        return state._replace(after=weight, after_at=spot) if weight > state.after else state
    if state.settled:
        return state
    if is_related:  # what failed before is dealt with elsewhere
        state = state._replace(failed=None, noted=state.failed or state.noted, each=state.each or each)
    return state._replace(before=weight, before_at=spot) if weight > state.before else state


def _as_related(state: State, spot: Spot) -> State:
    """Work that a function does to which the message was given concerns the message."""
    if state.before == OTHER and not state.settled:
        return state._replace(before=RELATED, before_at=spot)
    return state
