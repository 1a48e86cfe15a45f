"""Calls of what is not the Worker's own, and what settles a message."""

from __future__ import annotations

from cfq_lint.worker_code.following.effects import effect_of, starts_work
from cfq_lint.worker_code.following.expressions import FRESH_CALLS, SPLITS_CLOCK, Expressions
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.ways.state import (
    ACK,
    ACK_ALL,
    ACKS,
    DONE_MAX,
    FAILURE,
    INVALID,
    OF_ERROR,
    PARSE,
    PERHAPS,
    READ,
    RETRY,
    RETRY_ALL,
    TELL,
    WIDENED,
    WORK,
    Flow,
    State,
)
from cfq_lint.worker_code.ways.values import (
    BOOLEAN,
    CLOCK,
    DATA,
    DAY,
    ERROR,
    FUNCTION,
    LIST,
    LITERAL,
    OBJECT,
    OPAQUE,
    PROMISE,
    RESPONSE,
    RESULT,
    STATUS,
    Called,
    Room,
    Settled,
    Value,
    holds_message,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.following.conditions import States
    from cfq_lint.worker_code.ways.marks import Mark

SETTLING = {"ack": ACK, "retry": RETRY, "ackall": ACK_ALL, "retryall": RETRY_ALL}
PURE = frozenset(
    {
        "String",
        "Number",
        "Boolean",
        "Array",
        "Object",
        "Math",
        "JSON",
        "Date",
        "BigInt",
        "Symbol",
        "parseInt",
        "parseFloat",
        "Uint8Array",
    }
    | {
        "encodeURIComponent",
        "decodeURIComponent",
        "btoa",
        "atob",
        "URL",
        "Headers",
        "Request",
        "TextEncoder",
        "TextDecoder",
        "Intl",
        "RegExp",
    }
    | {
        "str",
        "int",
        "len",
        "float",
        "bool",
        "dict",
        "list",
        "tuple",
        "set",
        "isinstance",
        "min",
        "max",
        "sum",
        "sorted",
        "json",
        "datetime",
    }
    | {
        "getattr",
        "hasattr",
        "dt",
        "time",
        "math",
        "os",
        "re",
        "uuid",
        "random",
        "range",
        "structuredClone",
        "crypto",
        "Buffer",
        "base64",
    }
)


class Foreign(Expressions):
    """Knows what a call does that is not followed."""

    is_python = False

    def __init__(self) -> None:
        super().__init__()
        self.called: dict[int, Called] = {}
        self.settling: dict[Mark, Settled] = {}
        self.loops: list[Mark] = []
        self.through: list[Mark] = []
        self.handed: set[int] = set()
        self.in_loop: set[Mark] = set()
        self.unused: n.Node | None = None

    def run_function(self, function: Value, given: list[Value], states: States, out: Flow) -> tuple[Value, States]:
        """What a function of the Worker's own gives, and the ways on from it."""
        raise NotImplementedError

    def left_alone(self, value: Value, states: States, at: Mark, out: Flow, *, is_held: bool) -> States:
        """The ways after work was started that nobody waits for here."""
        raise NotImplementedError

    def doubted(self, states: States, at: Mark) -> States:
        """What has the message may settle it."""
        return {state if state.settled else state._replace(doubt=state.doubt or at) for state in states}

    # --- what is not the Worker's own

    def foreign(
        self,
        node: n.Invoke,
        function: Value,
        given: list[Value],
        states: States,
        room: Room,
        out: Flow,
        *,
        receiver: Value | None = None,
        is_ours: bool = False,
    ) -> tuple[Value, States]:
        """A call of something that is not followed."""
        if not states:
            return Value(OPAQUE), states
        called = self._called(node, function, given, room, receiver)
        if is_ours:
            called.effect = READ
        called.reached |= states
        if called.effect == PARSE:
            return self._parsed(called, given, states, out)
        name = called.name
        if name in FRESH_CALLS and called.chain[0] not in {"env", "performance"}:
            return Value(OPAQUE, fresh=FRESH_CALLS[name], chain=()), states
        inner = [each for each in given if each.kind == FUNCTION]
        root = called.chain[0] if called.chain else ""
        if (
            root in PURE
            or (receiver is not None and receiver.kind in {DATA, LITERAL, ERROR})
            or (receiver is not None and receiver.fresh and not called.on_env)
        ):
            made = unknown([*given, *([receiver] if receiver is not None else [])])
            if name in SPLITS_CLOCK and made.fresh == CLOCK:
                made.fresh = DAY
            made.is_body = bool(receiver is not None and receiver.is_body and name == "to_py")
            return made, states
        if receiver is not None and receiver.kind == RESULT and name in {"push", "append", "unshift", "concat", "extend"}:
            receiver.grown = True
            return receiver, states
        result = Value(OPAQUE, related=called.related)
        result.chain, result.call, result.text, result.whole = called.chain, called, called.text, called.whole
        result.fresh = [*filter(None, [each.fresh for each in called.all_given]), ""][0]
        if called.effect not in {WORK, TELL} and ERROR in {each.kind for each in (*given, receiver) if each is not None}:
            result.guard = (OF_ERROR, True, None)  # whoever asks for what it gives asks of the error
        if inner:
            result.kind = PROMISE
            result.run = lambda states, out: self._inline(called, inner, states, out)
            if not any(each.function is not None and each.function.is_async for each in inner):
                result.kind = OPAQUE
            return result, states
        pending = [each for each in given if each.kind == PROMISE and each.run is not None]
        result.run = lambda states, out: self._performed(called, pending, states, out)
        if called.whole:
            states = self.doubted(states, called.mark)
        return result, states

    def _called(self, node: n.Invoke, function: Value, given: list[Value], room: Room, receiver: Value | None) -> Called:
        found = self.called.get(id(node))
        start = receiver if receiver is not None and receiver.kind == OPAQUE else function
        before = start.call if start.kind == OPAQUE else None
        all_given = [*(before.all_given if before is not None else []), *given]
        chain = function.chain or ("?", *((node.callee.name,) if isinstance(node.callee, n.Member) else ()))
        called = found or Called(self.mark(node, room), node, chain, given, all_given)
        called.chain, called.given, called.all_given = chain, given, all_given
        related = [each for each in all_given if each.related]
        called.related = called.related or bool(related) or (receiver is not None and receiver.related)
        called.whole = called.whole or any(map(holds_message, given))
        keys = [each.key for each in related if each.kind == LIST and each.key is not None]
        called.boxes = tuple(keys) if len(keys) == len(related) else ()
        text = [before.text] if before is not None else [function.text]
        called.text = "\n".join([*text, *(each.text for each in given if each.text)])
        called.on_env = chain[0] == "env" and len(chain) > 1
        called.loops = tuple(self.loops)
        called.within = tuple([each.name for each in room.calls[1:] if id(each) not in self.handed])
        for each, value in zip(node.given, given, strict=False):
            if isinstance(each, n.Keyword):
                called.named[each.name] = value
            elif value.kind == OBJECT and value.fields:
                called.named |= value.fields
        if found is None:
            called.order = len(self.called)
            self.called[id(node)] = called
        called.through |= dict.fromkeys(self.through)
        called.effect = effect_of(called)
        for one in given:
            if one.call is not None and one.kind in {RESPONSE, STATUS, BOOLEAN, RESULT}:
                if one.kind == RESULT and called.effect in {TELL, WORK}:
                    continue  # it is told, or written
                self.looked_at(one.call)
        return called

    def _parsed(self, called: Called, given: list[Value], states: States, out: Flow) -> tuple[Value, States]:
        """What is made of a text or a body: it may turn out to be none, and then never is one."""
        made = unknown(called.all_given)
        made.is_body = any(each.is_body for each in given)
        made.text = ""
        is_of_body = made.kind in {DATA, OPAQUE} or (made.call is not None and made.call.effect == READ)
        kind = INVALID if is_of_body else FAILURE
        if called.name.startswith(("safe", "try")):
            made.guard = None
            made.fields = None
            return made, states
        if made.related or made.kind == RESULT:
            out.throw(states, kind, called.mark)
        return made, states

    def _inline(self, called: Called, functions: list[Value], states: States, out: Flow) -> tuple[Value, States]:
        """Functions written into a call, such as a transaction's: they run once."""
        value = Value(OPAQUE)
        for each in functions:
            arguments = [Value(OPAQUE, chain=("tx",))]
            value, states = self.run_function(each, arguments, states, out)
            value, states = self.settled(value, states, out)
        out.throw(states, FAILURE, called.mark)
        return value, states

    def _performed(self, called: Called, pending: list[Value], states: States, out: Flow) -> tuple[Value, States]:
        """What a call does that is handed work which goes on: that is waited for as well."""
        for each in pending:
            _, states = self.settled(each, states, out)
        return self.performed(called, states, out, is_awaited=True)

    def performed(self, called: Called, states: States, out: Flow, *, is_awaited: bool) -> tuple[Value, States]:
        """What a call does when somebody waits for it, and what it gives."""
        called.is_awaited = called.is_awaited or is_awaited
        effect = called.effect
        if effect == TELL:
            return Value(OPAQUE), states
        after = {self.worked(state, called) for state in states}
        if self.loops:
            self.in_loop.add(called.mark)
        if is_awaited or effect == WORK:
            out.throw(
                [state._replace(risked=state.risked or called.mark) if state.failed else state for state in states],
                FAILURE,
                called.mark,
            )
        kind = RESPONSE if called.name == "fetch" else RESULT
        result = Value(kind, related=called.related, call=called, text="")
        result.fresh = ""
        if any(each.kind == ERROR for each in called.given):
            result.guard = (OF_ERROR, True, None)
        return result, after

    def worked(self, state: State, called: Called) -> State:
        """A way on which a call was done."""
        effect, at = called.effect, called.mark
        if state.failed is not None and not state.settled and called.is_awaited:
            state = state._replace(risked=state.risked or at)
        if not (effect in {WORK, PERHAPS} and called.related) and not (effect == WORK and called.loops):
            return state
        if called.boxes and not state.knows(WIDENED) and not any(state.flag(("in", key)) for key in called.boxes):
            return state  # what is written was collected, and this message is not in it
        if state.settled in ACKS:
            return state if state.after is not None else state._replace(after=at)
        if state.settled:
            return state
        if state.failed is not None:
            if effect == PERHAPS and not called.loops and state.failed.at in self.in_loop:
                return state  # somebody is told of what failed in the loop
            return state._replace(failed=None, noted=state.noted or state.failed)
        if len(state.done) < DONE_MAX and at not in state.done:
            state = state._replace(done=(*state.done, at))
        return state

    # --- what settles

    def settle(self, node: n.Invoke, name: str, given: list[Value], states: States, room: Room) -> tuple[Value, States]:
        """A message, or the batch, is acknowledged or given back; the first call counts."""
        how, at = SETTLING[name.replace("_", "").lower()], self.mark(node, room)
        seen = self.settling.setdefault(at, Settled(how, at, node, given, room, loops=tuple(self.loops)))
        seen.states |= states
        return Value(OPAQUE), {state if state.settled else state._replace(settled=how, settled_at=at) for state in states}

    def discarded(self, value: Value, node: n.Node, states: States, room: Room, out: Flow) -> States:
        """The ways after a statement whose value nobody takes."""
        if value.run is None:
            return states
        at = self.mark(node, room)
        called = value.call if value.kind == OPAQUE else None
        if called is not None:
            if starts_work(called) and not self._is_batched(called):
                return self._lost(called, states)
            if called.effect in {WORK, PERHAPS} and called.related:
                return self.performed(called, states, out, is_awaited=False)[1]
            return states
        if value.kind == OPAQUE:
            return self.settled(value, states, out)[1]
        return self.left_alone(value, states, at, out, is_held=False)

    def _is_batched(self, called: Called) -> bool:
        return called.name == "batch"

    def _lost(self, called: Called, states: States) -> States:
        called.is_lost = True
        return {state._replace(lost=state.lost or called.mark) if called.related else state for state in states}
