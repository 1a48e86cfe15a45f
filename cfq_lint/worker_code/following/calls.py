"""Calls: what settles a message, what is work, what is a function of the Worker's own and followed."""

from __future__ import annotations

from cfq_lint.worker_code.following.foreign import PURE, SETTLING, Foreign
from cfq_lint.worker_code.following.naming import matches_name, of_the_name
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.ways.marks import Mark
from cfq_lint.worker_code.ways.state import (
    FAILURE,
    Flow,
    TooLong,
)
from cfq_lint.worker_code.ways.values import (
    BATCH,
    BOOLEAN,
    CLOCK,
    DATA,
    ERROR,
    FUNCTION,
    INSTANCE,
    LIST,
    MESSAGE,
    METHOD,
    OBJECT,
    OPAQUE,
    PROMISE,
    RESPONSE,
    RESULT,
    STATUS,
    Room,
    Value,
    holds_message,
    literal,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.following.conditions import States

_DEPTH_MAX = 10
_HELD = frozenset({"waitUntil", "wait_until"})
_TOGETHER = frozenset({"all", "allSettled", "any", "race"})
_MEMORIES = frozenset({"Map", "Set", "WeakMap", "WeakSet"})
_RESULTS = {"ok": True, "okAsync": True, "Ok": True, "err": False, "errAsync": False, "Err": False}


class Calls(Foreign):
    """Follows calls. Lists, promises and functions that are run are left to whoever knows them."""

    def on_list(
        self, node: n.Invoke, value: Value, name: str, given: list[Value], states: States, room: Room, out: Flow
    ) -> tuple[Value, States] | None:
        """A method of a list; None where it is none that matters."""
        raise NotImplementedError

    def on_promise(self, value: Value, name: str, given: list[Value], node: n.Invoke, room: Room) -> Value:
        """`then()`, `catch()` and `finally()`."""
        raise NotImplementedError

    def together(self, how: str, given: list[Value], node: n.Invoke, room: Room) -> Value:
        """`Promise.all(…)` and the like."""
        raise NotImplementedError

    # --- by what is called

    def call(self, node: n.Invoke, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """What a call gives, by what it is called on."""
        callee = node.callee
        if isinstance(node, n.New):
            return self.made(node, states, room, out)
        if isinstance(callee, n.Member):
            receiver, states = self.value(callee.of, states, room, out)
            given, states = self.values(node.given, states, room, out)
            return self.method(node, receiver, callee.name, given, states, room, out)
        function, states = self.value(callee, states, room, out)
        given, states = self.values(node.given, states, room, out)
        return self.applied(node, function, given, states, room, out)

    def applied(
        self, node: n.Invoke, function: Value, given: list[Value], states: States, room: Room, out: Flow
    ) -> tuple[Value, States]:
        """A call of a value."""
        match function.kind:
            case "function":
                return self.entered(node, function, given, states, room, out)
            case "method":
                return self.settle(node, function.name, given, states, room)
            case "handlers":
                return self._one_of(node, list((function.fields or {}).values()), given, states, room, out)
            case "opaque" if function.origin is not None and self.is_python:
                return self.constructed(node, function, given, states, room, out)
            case "opaque" if len(function.chain) == 1:
                return self._plain(node, function, given, states, room, out)
            case _:
                return self.foreign(node, function, given, states, room, out)

    def _one_of(
        self, node: n.Invoke, functions: list[Value], given: list[Value], states: States, room: Room, out: Flow
    ) -> tuple[Value, States]:
        """One of several handlers is called, nobody knows which."""
        parts = [self.applied(node, each, given, states, room, out) for each in functions if each.kind == FUNCTION]
        value, after = self.joined_values(node, [(value, part) for value, part in parts]) if parts else (Value(OPAQUE), states)
        return value, after

    def method(
        self, node: n.Invoke, receiver: Value, name: str, given: list[Value], states: States, room: Room, out: Flow
    ) -> tuple[Value, States]:
        """`receiver.name(…)`."""
        if receiver.kind in {MESSAGE, BATCH} and name.replace("_", "").lower() in SETTLING:
            return self.settle(node, name, given, states, room)
        if receiver.is_queue:
            return of_the_name(receiver, name, given), states
        if name == "test" and isinstance(receiver.literal, tuple) and given and given[0].is_queue:
            return matches_name(receiver, given[0]), states
        if receiver.name == "group" and name == "create_task" and given and given[0].run is not None:
            return self.settled(given[0], states, out)
        if receiver.kind == LIST:
            found = self.on_list(node, receiver, name, given, states, room, out)
            if found is not None:
                return found
        if name in {"then", "catch", "finally"} and (receiver.run is not None or receiver.kind in {OPAQUE, RESULT, RESPONSE}):
            return self.on_promise(receiver, name, given, node, room), states
        if receiver.name == "group" and name == "create_task" and given:
            return self.settled(given[0], states, out)  # the group waits for it
        if receiver.kind == OPAQUE:
            special = self._special(node, (*receiver.chain, name), given, states, room, out)
            if special is not None:
                return special
        if receiver.kind in {OBJECT, INSTANCE}:
            member = self.member(receiver, name)
            if member.kind in {FUNCTION, METHOD}:
                return self.applied(node, member, given, states, room, out)
        if receiver.kind == "handlers":
            held = [self.member(each, name) for each in (receiver.fields or {}).values() if each.kind == INSTANCE]
            return self._one_of(node, held, given, states, room, out)
        if receiver.kind == FUNCTION and name in {"call", "apply", "bind"}:
            return (receiver, states) if name == "bind" else self.applied(node, receiver, given[1:], states, room, out)
        if receiver.kind == RESPONSE and name in {"raise_for_status", "raiseForStatus"} and receiver.call is not None:
            receiver.call.is_checked = True
            out.throw(
                [self.failing(state, "http", receiver.call, self.mark(node, room)) for state in states],
                FAILURE,
                self.mark(node, room),
            )
            return Value(OPAQUE), states
        if receiver.kind in {DATA, RESULT, OPAQUE} and FUNCTION in [each.kind for each in given]:
            looped = self._over_unknown(node, receiver, name, given, states, room, out)
            if looped is not None:
                return looped
        function = self.member(receiver, name)
        if function.kind in {ERROR, STATUS, BOOLEAN} or receiver.kind in {ERROR, STATUS}:
            return self._checked_call(function, receiver), states
        if receiver.kind == RESPONSE:
            made = Value(RESULT, related=receiver.related, call=receiver.call)
            at = self.mark(node, room)
            pending = Value(PROMISE, related=receiver.related, call=receiver.call, name="read")
            pending.run = lambda states, out: (made, self._may_fail(states, out, at))
            return pending, states
        return self.foreign(node, function, given, states, room, out, receiver=receiver)

    def _may_fail(self, states: States, out: Flow, at: Mark) -> States:
        out.throw(states, FAILURE, at)
        return states

    def _checked_call(self, function: Value, receiver: Value) -> Value:
        """`result.isErr()` and the like tell what the member of that name does."""
        return Value(function.kind, related=True, call=function.call or receiver.call, guard=function.guard)

    def _over_unknown(
        self, node: n.Invoke, receiver: Value, name: str, given: list[Value], states: States, room: Room, out: Flow
    ) -> tuple[Value, States] | None:
        """A list that is not known is gone through: what is in it is of its kind."""
        if name not in {"map", "forEach", "filter", "flatMap", "some", "every", "find", "reduce", "sort"}:
            return None
        kind = RESULT if receiver.kind == RESULT else DATA if receiver.related else OPAQUE
        element = Value(kind, related=receiver.related, call=receiver.call, fresh=receiver.fresh)
        made = Value(LIST, related=receiver.related, element=element, call=receiver.call, name="unknown")
        return self.on_list(node, made, name, given, states, room, out)

    def _plain(
        self, node: n.Invoke, function: Value, given: list[Value], states: States, room: Room, out: Flow
    ) -> tuple[Value, States]:
        name = function.chain[0]
        special = self._special(node, (name,), given, states, room, out)
        if special is not None:
            return special
        if name in _RESULTS and self.named(room.module, name) is None:
            is_ok = _RESULTS[name]
            fields = {
                "isOk": literal(is_ok),
                "isErr": literal(not is_ok),
                "is_ok": literal(is_ok),
                "is_err": literal(not is_ok),
            }
            held = given[0] if given else Value(OPAQUE)
            return Value(OBJECT, fields={**fields, "value": held, "error": held}, name="result"), states
        return self.foreign(node, function, given, states, room, out)

    def _special(
        self, node: n.Invoke, chain: tuple[str, ...], given: list[Value], states: States, room: Room, out: Flow
    ) -> tuple[Value, States] | None:
        """What a language or the runtime has of its own."""
        at, name = self.mark(node, room), chain[-1] if chain else ""
        if name in _HELD and given:
            return Value(OPAQUE), self.left_alone(given[0], states, at, out, is_held=True)
        if (chain[:1] == ("Promise",) and name in _TOGETHER) or name == "gather":
            return self.together(name, given, node, room), states
        if name in {"create_task", "ensure_future", "wait_for", "shield", "timeout"} and given and given[0].run is not None:
            return given[0], states
        if (
            chain
            in {("Promise", "resolve"), ("Object", "freeze"), ("structuredClone",), ("list",), ("tuple",), ("Array", "from")}
            and given
        ):
            if chain[-1] == "from" and len(given) > 1 and given[0].kind == LIST:
                return self.on_list(node, given[0], "map", given[1:], states, room, out)
            return given[0], states
        if chain in {("sorted",), ("reversed",), ("enumerate",), ("iter",)} and given and given[0].kind == LIST:
            return Value(
                LIST,
                element=given[0].element,
                related=True,
                key=given[0].key,
                bound=given[0].bound,
                name="entries" if name == "enumerate" else "messages",
            ), states
        if chain == ("zip",) and given:
            fields = {str(i): each.element or unknown([each]) for i, each in enumerate(given) if each.kind == LIST}
            pair = Value(OBJECT, fields=fields, related=True)
            key = next((each.key for each in given if each.key is not None), None)
            return Value(LIST, element=pair, related=True, key=key, bound=given[0].bound, name="zip"), states
        if chain in {("Object", "entries"), ("Object", "values"), ("Object", "keys")} and given and given[0].kind == LIST:
            return Value(LIST, element=given[0].element, related=True, key=given[0].key, name="entries"), states
        if chain == ("getattr",) and len(given) > 1 and given[0].chain == ("env",) and isinstance(given[1].literal, str):
            return Value(OPAQUE, chain=("env", given[1].literal)), states
        if chain == ("isinstance",) and given:
            return self._is_instance(given[0]), states
        if chain == ("Array", "isArray") and given and given[0].kind == LIST:
            return literal(True), states
        return None

    def _is_instance(self, value: Value) -> Value:
        if value.kind == OBJECT and "status" in (value.fields or {}):
            return Value("flag", key=("rejected", value.fields["status"].key)) if value.fields else Value(BOOLEAN)
        kind = "error" if value.kind == ERROR else "body" if value.kind == DATA else "read"
        return Value(BOOLEAN, related=True, guard=(kind, True, None))

    def made(self, node: n.Invoke, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """`new Class(…)`."""
        given, states = self.values(node.given, states, room, out)
        name = node.callee.id if isinstance(node.callee, n.Name) else ""
        if name in _MEMORIES:
            source = given[0] if given else None
            if source is not None and source.kind in {LIST, DATA, RESULT}:
                return (
                    source if source.kind == LIST else Value(LIST, element=source, related=source.related, call=source.call)
                ), states
            return Value(LIST, key=object(), name="map", bound=0), states
        if name == "Date":
            return (Value(OPAQUE, fresh=CLOCK) if not given else unknown(given)), states
        made, states = self.value(node.callee, states, room, out)
        if made.origin is not None:
            return self.constructed(node, made, given, states, room, out)
        if name == "Promise" and given and given[0].kind == FUNCTION:
            return Value(OPAQUE, chain=("new Promise",)), states
        if name.endswith(("Error", "Exception")):
            return unknown(given), states
        if any(holds_message(each) for each in given) and name not in PURE:
            states = self.doubted(states, self.mark(node, room))
        made = Value(OPAQUE, chain=(f"new {name}",) if name else (), related=False)
        made.fields = None
        if name in PURE:
            made = unknown(given)
        return made, states

    def constructed(
        self, node: n.Invoke, made: Value, given: list[Value], states: States, room: Room, out: Flow
    ) -> tuple[Value, States]:
        """An object of a class of the Worker's own."""
        instance = self.class_named(made)
        if instance is None:
            return self.foreign(node, Value(OPAQUE, chain=made.chain), given, states, room, out)
        constructor = self.method_of(instance, "__init__" if self.is_python else "constructor")
        if constructor is not None:
            _, states = self.run_function(constructor, given, states, out)
            parameters = constructor.function.parameters if constructor.function is not None else ()
            for parameter, value in zip(parameters, given, strict=False):  # `constructor(private readonly jobs: Jobs)`
                if isinstance(parameter, n.Name) and instance.fields is not None:
                    instance.fields.setdefault(parameter.id, value)
        elif any(holds_message(each) for each in given):
            states = self.doubted(states, self.mark(node, room))
        return instance, states

    def only_tells(self, function: Value, given: list[Value]) -> bool:
        """Whether nothing is asked of what a function of the Worker's own does."""
        raise NotImplementedError

    def class_named(self, value: Value) -> Value | None:
        """An object of the class of the Worker's own that a value is."""
        raise NotImplementedError

    def entered(
        self, node: n.Invoke, function: Value, given: list[Value], states: States, room: Room, out: Flow
    ) -> tuple[Value, States]:
        """A function of the Worker's own is called: an asynchronous one runs when it is waited for."""
        lambda_ = function.function
        assert lambda_ is not None, "a function has a body"
        is_own = function.room is not None and (function.room.outer is not None or function.owner is not None)
        is_related = any(each.related or each.kind in {FUNCTION, MESSAGE, BATCH, LIST} for each in given)
        name = function.name or lambda_.name
        if lambda_ in room.calls or len(room.calls) >= _DEPTH_MAX or (lambda_.is_async and not is_own and not is_related):
            opaque = Value(OPAQUE, chain=(name or "?",))
            made = self.foreign(node, opaque, given, states, room, out, is_ours=not is_related)
            if function.module is not None and id(node) in self.called:
                self.called[id(node)].unfollowed = Mark(lambda_, function.module)
                lambda_.is_known = True
            return made
        function.name = name
        if node is self.unused and self.only_tells(function, given):
            return Value(OPAQUE), states

        def run(states: States, out: Flow) -> tuple[Value, States]:
            through = self.through
            self.through = [*through, self.mark(node, room)]
            try:
                return self._run_as_far(node, function, given, states, room, out)
            finally:
                self.through = through

        if not lambda_.is_async:
            return run(states, out)
        return Value(PROMISE, related=is_related, name="own", function=lambda_, run=run), states

    def _run_as_far(
        self, node: n.Invoke, function: Value, given: list[Value], states: States, room: Room, out: Flow
    ) -> tuple[Value, States]:
        """Run a function; one that no message is handed to, and that is long, counts as somebody else's from then on."""
        lambda_ = function.function
        assert lambda_ is not None, "a function has a body"
        is_handed = any(holds_message(each) for each in given) or function.room is None or function.room.calls
        if is_handed:
            self.handed.add(id(lambda_))
            return self.run_function(function, given, states, out, around=room)  # type: ignore[call-arg]
        if id(lambda_) not in self.too_long:
            most, loops, own = self.steps_most, self.loops, Flow()
            self.steps_most = min(most, self.steps + self.steps_a_function)
            try:
                value, after = self.run_function(function, given, states, own, around=room)  # type: ignore[call-arg]
            except TooLong:
                if self.steps > most:
                    raise
                self.too_long.add(id(lambda_))
                self.loops = loops
            else:
                out.raised |= own.raised
                return value, after
            finally:
                self.steps_most = most
        is_related = any(each.related for each in given)
        opaque = Value(OPAQUE, chain=(function.name or lambda_.name or "?",))
        made, states = self.foreign(node, opaque, given, states, room, out, is_ours=not is_related)
        return self.settled(made, states, out) if lambda_.is_async else (made, states)
