"""What a queue handler does with one message: every way through it, as far as that is certain.

A message is followed through the handler: the work that is done for it before and after it is acknowledged, what happens where
that work fails, and how the handler ends. Comparisons of `batch.queue` with names choose the way; local functions that are
given the batch or a message are followed.
"""

from __future__ import annotations

from cfq_lint.facts.record import replace
from cfq_lint.worker_code.handling.calling import Calling
from cfq_lint.worker_code.handling.naming import (
    BATCH,
    DATA,
    FIELDS_OF_BATCH,
    FIELDS_OF_MESSAGE,
    MESSAGE,
    MESSAGES,
    NAMING,
    QUEUE,
    Room,
)
from cfq_lint.worker_code.handling.state import RELATED, Flow, State, TooLong, doubted, failed
from cfq_lint.worker_code.lowering.steps import (
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
    Test,
    Try,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.lowering.steps import Step
    from cfq_lint.worker_code.modules.module import Module

_STATES_MAX = 400
_ELEMENT = "(element)"


class Follower(Calling):
    """Follows one message of one queue through a handler."""

    def follow(self, module: Module, handler: Function) -> Flow:
        """All ways through the handler. Raises TooLong."""
        names: dict[str, str] = {}
        if handler.parameters:
            first = handler.parameters[0]
            names = {first: BATCH} if isinstance(first, str) else {name: FIELDS_OF_BATCH.get(name, DATA) for name in first}
        return self.run(handler.body, {State()}, Room(module, names, {}, set(), 0, False, handler.owner))

    def run(self, steps: tuple[Step, ...], states: set[State], room: Room) -> Flow:
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

    def step(self, step: Step, states: set[State], room: Room) -> Flow:
        """The ways through one step."""
        match step:
            case Assign():
                room.bind(step)
                return Flow(doubted(states, step.spot) if room.holds(step.kept) else states)
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

    def branch(self, step: Branch, states: set[State], room: Room) -> Flow:
        """Every arm that may run; of comparisons with the queue's name the one that does."""
        flow = Flow(set())
        if any(room.kind(chain) in NAMING for chain in step.about) and not any(
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

    def truth(self, test: Test | None, room: Room) -> bool | None:
        """Whether a comparison of the batch's queue holds; None where it is about something else."""
        if test is None or room.kind(test.of) != QUEUE:
            return None
        for name in test.imported:
            text = self.program.constant(room.module, name)
            if text is None:
                return None
            test = replace(test, names=test.names | {text})
        return test.holds(self.queue)

    def loop(self, step: Loop, states: set[State], room: Room) -> Flow:
        """A loop over messages, or over what was made of them, comes by the message once; another one once or never."""
        over = room.kind(step.over)
        is_over_messages = over == MESSAGES
        inner = replace(room, in_loop=room.in_loop or is_over_messages)
        for name in step.names:
            if is_over_messages:
                inner.names[name] = MESSAGE if len(step.names) == 1 else FIELDS_OF_MESSAGE.get(name, MESSAGE)
            elif over or room.related(step.mentions):
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
        if not (is_over_messages or over or room.related(step.mentions)):
            flow.normal |= states
        return flow

    def tried(self, step: Try, states: set[State], room: Room) -> Flow:
        """What is raised in the body goes to the handler, and everything through the final block."""
        body = self.run(step.body, states, room)
        flow = Flow(set())
        flow.leave(body)
        flow.normal = body.normal
        if step.handler is not None:
            flow.raised = set()
            caught = {failed(state, step.spot) for state in body.raised}
            part = self.run(step.handler, caught, room)
            orelse = self.run(step.orelse, flow.normal, room)
            flow.normal = part.normal | orelse.normal
            flow.leave(part)
            flow.leave(orelse)
        if step.final:
            flow = self.finally_(step, flow, room)
        return flow

    def finally_(self, step: Try, flow: Flow, room: Room) -> Flow:
        """Each way out goes on as it was."""
        out = Flow(set())
        for way in ("normal", "returned", "raised", "broken", "continued"):
            states: set[State] = getattr(flow, way)
            if way == "raised":
                states = {failed(state, step.spot) for state in states}
            part = self.run(step.final, states, room)
            out.leave(part)
            getattr(out, way).update(part.normal)
        return out

    def floating(self, step: Floating, states: set[State], room: Room) -> Flow:
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
