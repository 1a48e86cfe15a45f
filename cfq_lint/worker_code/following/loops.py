"""Loops: of the batch's messages one comes by once, of other lists perhaps some."""

from __future__ import annotations

from cfq_lint.worker_code.following.lists import Lists, is_of_messages
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.tree import statements as s
from cfq_lint.worker_code.tree.asking import walk
from cfq_lint.worker_code.ways.state import (
    Flow,
)
from cfq_lint.worker_code.ways.values import (
    DATA,
    LIST,
    OPAQUE,
    Room,
    Value,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.following.conditions import States


class Loops(Lists):
    """Runs loops."""

    def statement(self, node: n.Node, states: States, room: Room) -> Flow:
        """The ways through one statement."""
        raise NotImplementedError

    def each(self, node: s.Each, states: States, room: Room) -> Flow:
        """A loop over elements: of the batch's messages this one comes by once, of others perhaps one."""
        flow = Flow()
        over, states = self.value(node.over, states, room, flow)
        over, states = self.settled(over, states, flow) if over.run is not None and over.kind != OPAQUE else (over, states)
        if over.kind in {DATA, "result"}:
            over = Value(LIST, related=over.related, element=over, name="unknown", call=over.call)
        is_list = over.kind == LIST
        element = (over.element if is_list else None) or unknown([over])
        self._take(node.target, over, element, room)
        inside, outside = self.held(over, states) if is_list else (states, set())
        part = self._turn(node, node.body, inside, room, is_over_messages=is_list and is_of_messages(over))
        flow.leave(part)
        flow.returned = part.returned
        flow.normal = part.normal | outside
        if not over.related or over.name in {"unknown", ""}:
            flow.normal = flow.normal | inside
        orelse = self.statement(node.orelse, flow.normal, room)
        flow.leave(orelse)
        flow.normal = orelse.normal
        return flow

    def _turn(self, node: n.Node, body: n.Node, states: States, room: Room, *, is_over_messages: bool) -> Flow:
        at = self.mark(node, room)
        if is_over_messages:
            nested = bool(self.loops)
            room.loops.append(at)
            self.loops = [*self.loops, at]
        part = self.statement(body, states, room) if states else Flow()
        if is_over_messages:
            room.loops.pop()
            self.loops = self.loops[:-1]
            if nested:
                part.normal = {state.flagged(("rest",), True) for state in part.normal}
        part.normal = part.normal | part.continued | part.broken
        part.continued, part.broken = set(), set()
        return part

    def _take(self, target: n.Node, over: Value, element: Value, room: Room) -> None:
        """What the names of a loop stand for."""
        if isinstance(target, n.Name):
            room.names[target.id] = element
        elif isinstance(target, n.Pattern):
            is_pairs = over.name == "entries" or (
                over.name in {"map", "unknown"} and all(isinstance(k, int) for k in target.keys)
            )
            for name, key in zip(target.names, target.keys, strict=True):
                if is_pairs and isinstance(key, int):
                    value = (
                        element
                        if key == len(target.names) - 1
                        else Value(DATA if over.related else OPAQUE, related=over.related)
                    )
                elif isinstance(key, int) and element.fields:
                    value = element.fields.get(str(key)) or unknown([element])
                else:
                    value = self.member(element, str(key)) if isinstance(key, str) else unknown([element])
                room.names[name.id] = value

    def repeated(self, node: s.Repeat, states: States, room: Room) -> Flow:
        """A loop with a condition: of a counted one over a list each element comes by."""
        flow = Flow()
        for each in node.counter[:1]:
            flow.leave(self.statement(each, states, room))
        lists = [each for each in walk(node.test) if node.is_counted and isinstance(each, n.Member) and each.name == "length"]
        if lists:
            over, states = self.value(lists[0].of, states, room, flow)
            if over.kind == LIST:
                inside, outside = self.held(over, states)
                part = self._turn(node, node.body, inside, room, is_over_messages=is_of_messages(over))
                flow.leave(part)
                flow.normal = part.normal | outside | (set() if over.related else inside)
                return flow
        holds, fails = self.condition(node.test, states, room, flow)
        part = self._turn(node, node.body, holds, room, is_over_messages=False)
        flow.leave(part)
        flow.normal = self.merged(part.normal, fails, states)
        return flow

    def comprehension(self, node: n.Comprehension, states: States, room: Room, out: Flow) -> tuple[Value, States]:
        """`made for target in over`."""
        over, states = self.value(node.over, states, room, out)
        element = (over.element if over.kind == LIST else None) or unknown([over])
        inner = Room(room.module, room)
        inner.calls, inner.loops = room.calls, []
        self._take(node.target, over, element, inner)
        at = self.mark(node, room)
        is_over = is_of_messages(over)
        self.loops = [*self.loops, at] if is_over else self.loops
        for condition in node.conditions:
            _, states = self.value(condition, states, inner, out)
        made, after = self.value(node.made, states, inner, out)
        self.loops = self.loops[:-1] if is_over else self.loops
        result = Value(LIST, related=over.related or made.related, element=made, key=over.key, call=over.call)
        result.name = over.name if made is element else "promises"
        result.bound = over.bound
        return result, after
