"""Lists and promises: each element once, all at once, one after the other."""

from __future__ import annotations

from cfq_lint.worker_code.following.calls import Calls
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree.asking import walk
from cfq_lint.worker_code.ways.state import ACKS, READ, WIDENED, Failure, Flow, State, in_order
from cfq_lint.worker_code.ways.values import (
    ERROR,
    FLAG,
    FUNCTION,
    LIST,
    OBJECT,
    OPAQUE,
    PROMISE,
    Room,
    Value,
    holds_message,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.following.conditions import States
    from cfq_lint.worker_code.ways.marks import Mark

_ADDS = frozenset({"push", "append", "add", "unshift", "set", "extend"})
_SAME = frozenset(
    {
        "entries",
        "values",
        "keys",
        "slice",
        "splice",
        "concat",
        "reverse",
        "toReversed",
        "toSorted",
        "sort",
        "flat",
        "items",
        "copy",
        "toArray",
        "filter",
    }
)
_TESTS = frozenset({"filter", "find", "some", "every", "findIndex", "sort", "toSorted"})
_EACH = frozenset({"map", "forEach", "flatMap", "reduce", *_TESTS})


class Lists(Calls):
    """Follows what is done with lists and promises."""

    def __init__(self) -> None:
        super().__init__()
        self.nested: dict[tuple[Mark, int], bool] = {}

    # --- lists

    def on_list(
        self, node: n.Invoke, value: Value, name: str, given: list[Value], states: States, room: Room, out: Flow
    ) -> tuple[Value, States] | None:
        """A method of a list; None where it is none that matters."""
        if name in _ADDS and given:
            return self._added(value, given, states)
        function = next((each for each in given if each.kind == FUNCTION), None)
        if name in _EACH and function is not None:
            return self._each(node, value, name, function, states, room, out)
        if name in _EACH and given and given[0].kind in {OPAQUE, "handlers"}:
            return self._each_named(node, value, states, room)
        if name in _SAME:
            made = Value(
                LIST, related=value.related, element=value.element, key=value.key, call=value.call, fields=value.fields
            )
            made.bound = value.bound
            made.name = "entries" if name in {"entries", "items"} else "unknown" if name in {"slice", "splice"} else value.name
            return made, states
        if name in {"get", "at", "pop", "shift", "next"}:
            return (value.element or Value(OPAQUE)), states
        if name in {"has", "includes", "indexOf"}:
            return Value("boolean", related=True, guard=("read", True, None)), states
        if name == "join":
            return unknown([value.element] if value.element is not None else []), states
        return None

    def _added(self, value: Value, given: list[Value], states: States) -> tuple[Value, States]:
        """Something is put into a list: on these ways it holds the message, if that is in it."""
        item = given[-1]
        if value.key is None:
            value.key = object()
        held = value.element
        if held is None or held.kind == item.kind or not held.related:
            value.element = item if held is None or item.related or not held.related else held
        elif item.related and holds_message(item) and not holds_message(held):
            value.element = item
        value.related = value.related or item.related
        value.bound = None
        if item.related or item.run is not None:
            states = {state.flagged(("in", value.key), True) for state in states}
        return value, states

    def held(self, value: Value, states: States) -> tuple[States, States]:
        """The ways on which a list holds something of the message, and those on which it does not."""
        if value.key is None:
            return states, set()
        inside = {state for state in states if state.flag(("in", value.key)) or state.knows(WIDENED)}
        return inside, states - inside

    def _each(
        self, node: n.Invoke, value: Value, name: str, function: Value, states: States, room: Room, out: Flow
    ) -> tuple[Value, States]:
        inside, outside = self.held(value, states)
        lambda_ = function.function
        is_async = lambda_ is not None and lambda_.is_async
        element = value.element or Value(OPAQUE)
        given = [Value(OPAQUE), element] if name == "reduce" else [element]
        at = self.mark(node, room)

        def run(states: States, out: Flow) -> tuple[Value, States]:
            is_over_messages = is_of_messages(value)
            self.loops += [at] if is_over_messages else []
            made, after = self.run_function(function, given, states, out, around=room)  # type: ignore[call-arg]
            self.loops = self.loops[:-1] if is_over_messages else self.loops
            return made, after if value.related else after | states

        if is_async:
            each = Value(PROMISE, related=value.related, run=run, name="own", function=lambda_)
            made = Value(LIST, related=value.related, element=each, key=value.key, name="promises", call=value.call)
            made.bound = value.bound if name == "map" else None
            if name in {"forEach", "filter", "some", "every", "find"}:
                inside = self.left_alone(each, inside, at, out, is_held=False)
                return Value(OPAQUE), inside | outside
            if name == "reduce":
                return Value(PROMISE, related=value.related, run=run, name="own"), states
            return made, states
        result, inside = run(inside, out) if inside else (Value(OPAQUE), inside)
        if name == "reduce":
            return result, inside | outside
        kept = value.element if name in _TESTS else result
        made = Value(
            LIST, related=value.related or (result.related and name == "map"), element=kept, key=value.key, call=value.call
        )
        made.bound = value.bound if name in {"map", "filter", "sort", "toSorted"} else None
        made.name = value.name if name in {"filter", "sort", "toSorted"} else "unknown"
        if name in {"some", "every", "findIndex"}:
            return Value("boolean", related=True, guard=("body", True, None)), inside | outside
        if name == "find":
            return (value.element or Value(OPAQUE)), inside | outside
        made.fresh = result.fresh or value.fresh
        made.text = result.text
        return made, inside | outside

    def _each_named(self, node: n.Invoke, value: Value, states: States, room: Room) -> tuple[Value, States]:
        """A function that is only named, and not the Worker's own, gets each element."""
        if value.element is not None and holds_message(value.element):
            states = self.doubted(states, self.mark(node, room))
        element = unknown([value.element or Value(OPAQUE)])
        return Value(LIST, related=value.related, element=element, call=value.call, bound=value.bound, name="unknown"), states

    # --- promises

    def together(self, how: str, given: list[Value], node: n.Invoke, room: Room) -> Value:
        """`Promise.all(…)` and the like: all are waited for; of `allSettled()` none throws."""
        values = given
        if len(given) == 1 and given[0].kind == LIST and given[0].fields and given[0].key is None:
            values = list(given[0].fields.values())
        is_caught = how == "allSettled" or _returns_failures(node)
        at = self.mark(node, room)

        def run(states: States, out: Flow) -> tuple[Value, States]:
            results = []
            for each in values:
                if each.kind == LIST and each.element is not None:
                    inside, outside = self.held(each, states)
                    result, inside = self._one_settled(each.element, inside, out, at, is_caught=is_caught)
                    states = inside | outside
                    results.append(
                        Value(LIST, related=each.related, element=result, key=each.key, name=each.name, bound=each.bound)
                    )
                else:
                    result, states = self._one_settled(each, states, out, at, is_caught=is_caught)
                    results.append(result)
            if len(results) == 1 and results[0].kind == LIST:
                return results[0], states
            fields = {str(i): each for i, each in enumerate(results)}
            return Value(LIST, related=any(each.related for each in results), element=unknown(results), fields=fields), states

        if how in {"race", "any"}:
            return Value(
                PROMISE,
                related=any(each.related for each in given),
                run=lambda states, out: (unknown(given), run(states, out)[1]),
            )
        return Value(PROMISE, related=any(each.related for each in given), run=run, name="together")

    def _one_settled(self, value: Value, states: States, out: Flow, at: Mark, *, is_caught: bool) -> tuple[Value, States]:
        if value.kind == LIST and value.element is not None and value.element.run is not None:
            value = value.element
        if not is_caught:
            return self.settled(value, states, out)
        own = Flow()
        result, done = self.settled(value, states, own)
        key = ("settled", at)
        failed = {self.caught(state, at).flagged(key, "rejected").flagged(("rejected", key), True) for state in own.raised}
        fine = {state.flagged(key, "fulfilled").flagged(("rejected", key), False) for state in done}
        fields = {"status": Value(FLAG, key=key, related=True), "value": result}
        fields["reason"] = Value(ERROR, related=True)
        return Value(OBJECT, related=True, fields=fields, name="settled"), fine | failed

    def caught(self, state: State, at: Mark, body: n.Node | None = None) -> State:
        """What was thrown is caught: the first failure counts, unless that was caught in the same `body`, and went on."""
        assert state.error is not None, "it was thrown"
        kind, where = state.error
        bare = state._replace(error=None)
        if bare.failed is not None and not bare.settled and not where.is_call:  # thrown on, and caught here
            return bare._replace(failed=Failure(kind, bare.failed.at, at))
        if bare.settled or bare.failed is not None:
            is_older = bare.failed is not None and not bare.settled and body is not None and self._stands_in(bare.failed, body)
            return bare._replace(failed=Failure(kind, where, at), risked=None) if is_older else bare
        return bare._replace(failed=Failure(kind, where, at))

    def _stands_in(self, failure: Failure, body: n.Node) -> bool:
        """Whether a failure was caught within some statements."""
        key = (failure.caught, id(body))
        if key not in self.nested:
            self.nested[key] = any(each is failure.caught.node for each in walk(body))
        return self.nested[key]

    def on_promise(self, value: Value, name: str, given: list[Value], node: n.Invoke, room: Room) -> Value:
        """`then()`, `catch()` and `finally()`, as the statements that they stand for."""
        functions = [each if each.kind in {FUNCTION, "method"} else None for each in given]

        def applied(function: Value | None, argument: Value, states: States, out: Flow) -> tuple[Value, States]:
            if function is None or not states:
                return argument, states
            if function.kind == "method":
                return self.settle(node, function.name, [], states, room)
            made, after = self.run_function(function, [argument], states, out)
            return self.settled(made, after, out)

        def run(states: States, out: Flow) -> tuple[Value, States]:
            own = Flow()
            result, done = self.settled(value, states, own)
            handler = (
                functions[1]
                if name == "then" and len(functions) > 1
                else functions[0]
                if name == "catch" and functions
                else None
            )
            at = self.marks[id(node)]
            if name == "catch" or (name == "then" and len(functions) > 1):
                read = value.call is not None and value.call.effect == READ
                failed = {state._replace(error=None) if read else self.caught(state, at) for state in own.raised}
                instead, after = applied(handler, Value(ERROR, related=True), failed, out)
                if name == "then":
                    result, done = applied(functions[0], result, done, out)
                if handler is not None and done and after:
                    result, done = self.joined_values(node, [(result, done), (instead, after)])
                    return result, done
                return result, done | after
            if name == "then":
                out.raised |= own.raised
                return applied(functions[0] if functions else None, result, done, out)
            for state in in_order(own.raised):
                _, after = applied(functions[0] if functions else None, Value(OPAQUE), {state._replace(error=None)}, out)
                out.raised |= {each._replace(error=state.error) for each in after}
            _, done = applied(functions[0] if functions else None, Value(OPAQUE), done, out)
            return result, done

        self.mark(node, room)
        made = Value(PROMISE, related=value.related, run=run, name="caught" if name == "catch" else "chained", call=value.call)
        made.owner = value
        return made

    def left_alone(self, value: Value, states: States, at: Mark, out: Flow, *, is_held: bool) -> States:
        """Work was started that nobody waits for here: on the ways on which it was some, that is noted.

        Where the runtime waits for it and it settles the message itself, its own order counts.
        """
        if value.run is None and not (value.kind == LIST and value.element is not None and value.element.run is not None):
            return states
        own = Flow()
        after: set[State] = set()
        for state in in_order(states):
            flow = Flow()
            item = value.element if value.kind == LIST else value
            assert item is not None, "a list of promises holds one"
            _, ends = self.settled(item, {state}, flow)
            settles = any(end.settled != state.settled for end in ends | flow.raised)
            works = any(end.done != state.done or end.after != state.after or end.noted != state.noted for end in ends)
            if is_held and settles:
                after |= ends
                own.raised |= flow.raised
            elif is_held:
                after.add(self._held(state, at) if works else state)
            elif settles or (works and value.name != "caught"):
                after.add(state._replace(lost=state.lost or at))
            else:
                after.add(state)
        out.raised |= own.raised
        return after

    def _held(self, state: State, at: Mark) -> State:
        if state.failed is not None and not state.settled:
            return state._replace(failed=None, noted=state.noted or state.failed)
        if state.settled in ACKS and state.pending is None:
            return state._replace(pending=at)
        return state._replace(pending=state.pending or at)


def is_of_messages(value: Value) -> bool:
    """Whether a list is that of the batch's messages, or of what was made of each of them."""
    return (
        value.kind == LIST
        and value.related
        and value.element is not None
        and (holds_message(value.element) or value.name == "messages")
    )


def _returns_failures(call: n.Invoke) -> bool:
    """`gather(…, return_exceptions=True)`."""
    given = [each.value for each in call.given if isinstance(each, n.Keyword) and each.name == "return_exceptions"]
    return any(isinstance(each, n.Number) and each.value is True for each in given)
