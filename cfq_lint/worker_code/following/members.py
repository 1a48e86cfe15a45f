"""What names and members stand for."""

from __future__ import annotations

from cfq_lint.worker_code.following.joining import Joining
from cfq_lint.worker_code.tree import nodes as n
from cfq_lint.worker_code.ways.state import HTTP, OF_ERROR, REJECTED
from cfq_lint.worker_code.ways.values import (
    ATTEMPTS,
    BATCH,
    BOOLEAN,
    DATA,
    ERROR,
    FLAG,
    FUNCTION,
    INSTANCE,
    LIST,
    LITERAL,
    MESSAGE,
    METHOD,
    OBJECT,
    OPAQUE,
    RESULT,
    STATUS,
    Room,
    Value,
    literal,
    unknown,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.modules.module import Module

_OF_MESSAGE = {"body": DATA, "id": DATA, "timestamp": DATA, "attempts": ATTEMPTS, "ack": METHOD, "retry": METHOD}
_OF_BATCH = frozenset({"ackAll", "retryAll", "ack_all", "retry_all"})
_FINE = frozenset({"ok", "is_success", "isOk", "is_ok", "isSuccess"})
_FAILED = frozenset({"isErr", "is_err", "isError", "isLeft", "is_error"})


class Members(Joining):
    """Knows names, fields and elements."""

    queue = ""

    def named(self, module: Module, name: str) -> Value | None:
        """What a name of a module stands for, wherever it is bound."""
        raise NotImplementedError

    def method_of(self, value: Value, name: str) -> Value | None:
        """A method of an instance of a class of the Worker's own."""
        raise NotImplementedError

    def name(self, node: n.Name, room: Room) -> Value:
        """What a name stands for: here, in the module, or in another one."""
        if isinstance(node, n.This):
            return room.find("this") or Value(OPAQUE, chain=("this",))
        found = room.find(node.id) or self.named(room.module, node.id)
        return found if found is not None else Value(OPAQUE, chain=(node.id,), name=node.id)

    def member(self, value: Value, name: str) -> Value:
        """`value.name`."""
        match value.kind:
            case "message":
                kind = _OF_MESSAGE.get(name, DATA)
                return Value(kind, related=True, name=name, is_body=name == "body")
            case "batch":
                if name == "messages":
                    return Value(LIST, related=True, element=Value(MESSAGE, related=True), name="messages", bound=100)
                if name == "queue":
                    self.looks_at_queue = True
                    return Value(LITERAL, literal=self.queue, is_queue=True)
                return Value(METHOD, related=True, name=name) if name in _OF_BATCH else Value(DATA)
            case "response":
                return self._of_response(value, name)
            case "object" | "instance":
                return self._of_object(value, name)
            case "list":
                if name == "length" and value.key is not None:
                    return Value(FLAG, key=("in", value.key), related=value.related)
                return Value(DATA, related=value.related)
            case "literal" if value.is_queue:
                return Value(OPAQUE, is_queue=True)
            case "data":
                return Value(DATA, related=True, is_body=value.is_body, fresh=value.fresh)
            case "result":
                return self._of_result(value, name)
            case "error" | "attempts" | "status":
                return Value(value.kind, related=True, call=value.call)
            case "opaque":
                if name == "env" and len(value.chain) == 1:
                    return Value(OPAQUE, chain=("env",))
                chain = (*value.chain, name) if value.chain else ()
                made = Value(OPAQUE, related=value.related)
                made.chain, made.call, made.fresh, made.text, made.whole = (
                    chain,
                    value.call,
                    value.fresh,
                    value.text,
                    value.whole,
                )
                return made
            case _:
                return Value(DATA if value.related else OPAQUE, related=value.related, call=value.call)

    def _of_response(self, value: Value, name: str) -> Value:
        if name in _FINE:
            return Value(BOOLEAN, related=True, call=value.call, guard=(HTTP, False, value.call))
        if name in {"status", "status_code"}:
            return Value(STATUS, related=True, call=value.call)
        return Value(RESULT, related=value.related, call=value.call)

    def _of_object(self, value: Value, name: str) -> Value:
        fields = value.fields or {}
        if name in fields:
            return fields[name]
        if value.kind == INSTANCE:
            found = self.method_of(value, name)
            if found is not None:
                return found
            if name in {"env", "ctx"}:
                return Value(OPAQUE, chain=(name,))
            return Value(OPAQUE, chain=("this", name))
        if value.related:
            return Value(DATA, related=True, fresh=value.fresh)
        return Value(OPAQUE)

    def _of_result(self, value: Value, name: str) -> Value:
        call = value.call
        if name in _FAILED and call is not None:
            return Value(BOOLEAN, related=True, call=call, guard=(REJECTED, True, call))
        if name in {"isOk", "is_ok"} and call is not None:
            return Value(BOOLEAN, related=True, call=call, guard=(REJECTED, False, call))
        if name == "error" and call is not None and call.effect not in {"parse", "read"}:
            return Value(ERROR, related=True, call=call, guard=(REJECTED, True, call))
        made = Value(RESULT, related=value.related, call=call, fresh=value.fresh, grown=value.grown)
        made.guard = value.guard if value.guard is not None and value.guard[0] == OF_ERROR else None
        made.name = name
        return made

    def indexed(self, value: Value, index: Value, node: n.Node, room: Room) -> Value:
        """`value[index]`."""
        if value.kind == LIST:
            return value.element or Value(OPAQUE)
        if value.kind == BATCH:
            return Value(DATA, related=True)
        if value.kind == OBJECT and value.fields is not None:
            return self._looked_up(value, index, node, room)
        if index.kind == LITERAL and isinstance(index.literal, str):
            return self.member(value, index.literal)
        if value.kind == OPAQUE and value.chain == ("env",):
            return Value(OPAQUE, chain=("env", "[]"))
        if index.is_queue and value.kind == OPAQUE:
            return Value(OPAQUE, is_queue=True)
        return unknown((value, index)) if value.kind != ERROR else value

    def _looked_up(self, value: Value, index: Value, node: n.Node, room: Room) -> Value:
        """A map that is written out, asked for a queue, a type or anything."""
        fields = value.fields or {}
        if index.kind == LITERAL:
            found = fields.get(str(index.literal))
            if index.is_queue and value.name != "open":
                self.asked_of_queue(self.mark(node, room), is_it=found is not None)
                return found if found is not None else literal(None)
            return found if found is not None else Value(OPAQUE, related=value.related)
        functions = [each for each in fields.values() if each.kind in {FUNCTION, INSTANCE}]
        if index.kind == DATA and functions:
            return Value("handlers", related=True, fields=fields, guard=("type", False, None))
        if index.related:
            return unknown((value, index))
        return next(iter(fields.values())) if len(fields) == 1 else unknown(list(fields.values()))

    def template(self, text: str, values: list[Value]) -> Value:
        """A text with holes."""
        if not values:
            return Value(LITERAL, literal=text, text=text)
        if all(each.kind == LITERAL for each in values) and any(each.is_queue for each in values):
            return Value(OPAQUE, is_queue=True)
        made = unknown(values)
        made = Value(DATA if made.kind == OPAQUE else made.kind, related=made.related, fresh=made.fresh, call=made.call)
        made.text = text + "\n" + "\n".join(each.text for each in values if each.text)
        return made
