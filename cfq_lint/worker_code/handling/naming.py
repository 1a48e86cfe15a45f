"""What the names in a handler stand for: the batch, its messages, what was made of them."""

from __future__ import annotations

from cfq_lint.facts.record import record
from cfq_lint.worker_code.lowering.steps import ANY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.worker_code.lowering.steps import Assign, Function
    from cfq_lint.worker_code.modules.module import Module

BATCH, MESSAGES, MESSAGE, DATA, QUEUE, ACKS, RETRIES = "batch", "messages", "message", "data", "queue", "acks", "retries"
OF_QUEUE = "of queue"
"""What is made of the queue's name, and so may tell one queue from another."""
NAMING = frozenset({QUEUE, OF_QUEUE})
_WHOLE = frozenset({BATCH, MESSAGE, MESSAGES})
SETTLING = _WHOLE | {ACKS, RETRIES}
FIELDS_OF_BATCH = {"messages": MESSAGES, "queue": QUEUE}
FIELDS_OF_MESSAGE = {"ack": ACKS, "retry": RETRIES, "body": DATA, "id": DATA, "timestamp": DATA, "attempts": DATA}


@record
class Room:
    """Where steps run: the module, what names stand for, which parameters are functions, whether messages are looped over.

    `owner` is the class or object whose method it is.
    """

    module: Module
    names: dict[str, str]
    functions: dict[str, tuple[Function, Room]]
    fresh: set[str]
    depth: int
    in_loop: bool
    owner: str = ""

    def kind(self, chain: tuple[str, ...]) -> str:
        """What a plain path stands for; "" for what has nothing to do with the messages."""
        kind = self.names.get(chain[0], "") if chain else ""
        for part in chain[1:]:
            if kind == BATCH:
                kind = FIELDS_OF_BATCH.get(part, DATA)
            elif kind == MESSAGES:
                kind = MESSAGE if part == ANY else DATA
            elif kind == MESSAGE:
                kind = FIELDS_OF_MESSAGE.get(part, DATA)
            elif kind in NAMING:
                kind = OF_QUEUE
            elif kind:
                kind = DATA
        return kind

    def related(self, mentions: frozenset[str]) -> bool:
        """Whether one of some names stands for a message, or for what was made of one."""
        return any(self.names.get(name, QUEUE) not in NAMING for name in mentions)

    def holds(self, names: frozenset[str]) -> bool:
        """Whether a message or the batch itself is among some names."""
        return any(self.names.get(name) in _WHOLE for name in names)

    def bind(self, step: Assign) -> None:
        """Note what names stand for from here on."""
        kind = self.kind(step.chain)
        if not kind and (about := {self.kind(chain) for chain in step.about} - {"", BATCH}) and about <= NAMING:
            kind = OF_QUEUE
        for name in step.names:
            if step.is_pattern and kind == BATCH:
                self.names[name] = FIELDS_OF_BATCH.get(name, DATA)
            elif step.is_pattern and kind == MESSAGE:
                self.names[name] = FIELDS_OF_MESSAGE.get(name, DATA)
            elif kind:
                self.names[name] = kind
            elif self.related(step.mentions):
                self.names[name] = DATA
            is_fresh = step.fresh or not self.fresh.isdisjoint(step.mentions)
            (self.fresh.add if is_fresh else self.fresh.discard)(name)
