"""Where each message ended and who owns it there; and the four layers between "sent" and "done", with what each one proves.

A message ends acknowledged, deleted, in a dead-letter queue or expired, or it is being retried
(https://developers.cloudflare.com/queues/configuration/batching-retries/,
https://developers.cloudflare.com/queues/configuration/dead-letter-queues/). Before its first failure it waits; a purge is an
operator's deletion. Read from the events when somebody asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cfq_lint.facts import limits
from emulator.engine.clock import moment
from emulator.engine.ledger.history import Reading, table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from emulator.core.events import Event
    from emulator.core.model import QueueState
    from emulator.engine.ledger.history import Entry

WAITING, ACKNOWLEDGED, RETRYING, DELETED, IN_DLQ, EXPIRED, PURGED = (
    "waiting", "acknowledged", "retrying", "deleted", "in dead-letter queue", "expired", "purged",
)  # fmt: skip
"""The states. The four of the documentation are ACKNOWLEDGED, RETRYING, DELETED and IN_DLQ; EXPIRED is the fifth."""

LAYERS = (
    ("enqueued", "the queue has the message", "that it will be delivered, or processed"),
    ("delivered", "the queue handed the message to a consumer", "that the consumer's work succeeded"),
    ("processed", "the consumer acknowledged it, or returned", "that the side effect happened, or happened only once"),
    ("failure destination", "the message has come to a definite end", "that somebody looks there and repairs it"),
)
"""The four layers: name, what reaching it proves, what it does not prove."""


class Layer(NamedTuple):
    """One layer for one message: whether it was reached, by what evidence, and what that proves and does not prove."""

    name: str
    reached: bool
    evidence: str
    proves: str
    does_not_prove: str


class End(NamedTuple):
    """Where a message is: state, queue, since when, who owns it, after how many deliveries; `path` is every queue it was in."""

    id: str
    state: str
    queue: str
    at: datetime
    owner: str
    attempts: int
    path: tuple[str, ...]
    layers: tuple[Layer, ...]

    def text(self) -> str:
        """State, owner and layers for the terminal."""
        return f"State: {self.state}. Owner: {self.owner}.\n{table_of_layers(self)}"

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values, for JSON."""
        layers = [layer._asdict() for layer in self.layers]
        return {**self._asdict(), "at": self.at.isoformat(), "path": list(self.path), "layers": layers}


class _Life:
    """One message through all its queues, while the events are read."""

    __slots__ = ("acked", "delivered", "deliveries", "failed", "first", "last", "path", "retried", "sent")

    def __init__(self, entry: Entry, at_us: int) -> None:
        self.first = self.last = entry
        self.path = [entry.queue]
        self.deliveries = 0
        self.retried = False
        self.sent = f"sent to {entry.queue} at {_text(at_us)}"
        self.delivered = self.acked = self.failed = ""

    def hear(self, entry: Entry, at_us: int, what: str) -> None:
        """Take note of one line of the timeline."""
        if entry is not self.last:
            self.last = entry
            self.path.append(entry.queue)
            self.retried = False
        word = what.split(" ", 1)[0].rstrip(":")
        if word in {"delivered", "leased"}:
            self.deliveries += 1
            self.delivered = f"deliveries: {self.deliveries}, the last from {entry.queue} at {_text(at_us)}"
        elif word in {"retried", "lease"} or what.startswith("acked,"):
            self.retried = True
        elif word == "acked":
            self.acked = f"acknowledged in {entry.queue} at {_text(at_us)}"
        elif word in {"dead-lettered", "dropped", "expired", "purged"}:
            self.failed = f"{what.split(':', maxsplit=1)[0]} from {entry.queue} at {_text(at_us)}"
        elif word == "arrived":
            self.failed = f"in dead-letter queue {entry.queue} since {_text(at_us)}"

    @property
    def state(self) -> str:
        """The state that the last entry is in."""
        known = {"acked": ACKNOWLEDGED, "dropped": DELETED, "expired": EXPIRED, "purged": PURGED}
        if self.last.state != "waiting":
            return known[self.last.state]
        if len(self.path) > 1:
            return IN_DLQ
        return RETRYING if self.retried else WAITING


def ends(events: Iterable[Event], consumed: Collection[str], message_id: str | None = None) -> list[End]:
    """The end of each message, or of one, in order of sending. `consumed` names the queues that have a consumer now."""
    lives: dict[str, _Life] = {}

    def tell(event: Event, entry: Entry, what: str) -> None:
        if message_id is not None and not entry.id.startswith(message_id):
            return
        life = lives.get(entry.id)
        if life is None:
            life = lives[entry.id] = _Life(entry, event.at_us)
        life.hear(entry, event.at_us, what)

    Reading(tell).follow(events)
    return [_end(life, consumed) for life in lives.values()]


def _end(life: _Life, consumed: Collection[str]) -> End:
    last, state = life.last, life.state
    owner = owner_of(state, last.queue, consumed, moved=len(life.path) > 1)
    evidence = (life.sent, life.delivered, life.acked, life.failed)
    layers = tuple(
        Layer(name, bool(seen), seen, proves, open) for seen, (name, proves, open) in zip(evidence, LAYERS, strict=True)
    )
    return End(last.id, state, last.queue, moment(last.at_us), owner, life.deliveries, tuple(life.path), layers)


def consumed_of(queues: Mapping[str, QueueState]) -> frozenset[str]:
    """The names of the queues that have a consumer."""
    return frozenset(name for name, queue in queues.items() if queue.consumer is not None)


def owner_of(state: str, queue: str, consumed: Collection[str], *, moved: bool) -> str:
    """Who has to do something about a message in that state; `moved`: it was dead-lettered into its queue."""
    if state == ACKNOWLEDGED:
        return f"the consumer of {queue}: it took the dead letter over" if moved else "nobody: idempotency and reconciliation"
    if state == DELETED:
        return "nobody: lost for good, there was no dead-letter queue"
    if state == EXPIRED:
        return "nobody: lost for good, the retention was over"
    if state == PURGED:
        return "whoever purged or deleted the queue"
    if queue in consumed:
        return f"the consumer of {queue}"
    if state == IN_DLQ:
        days = limits.DEAD_LETTER_UNCONSUMED_SECONDS // 86_400
        return f"you: {queue} has no consumer, deleted after {days} days at most"
    return f"nobody: {queue} has no consumer"


def table_of_ends(found: Sequence[End]) -> str:
    """The ends as a table, a line for each message."""
    rows = [(end.id[:8], " > ".join(end.path), end.state, str(end.attempts), end.owner) for end in found]
    return table(("message", "path", "state", "deliveries", "owner"), rows)


def table_of_layers(end: End) -> str:
    """The four layers of one message as a table."""
    rows = [
        (f"{number} {layer.name}", layer.evidence or "not reached", layer.proves, layer.does_not_prove)
        for number, layer in enumerate(end.layers, 1)
    ]
    return table(("layer", "evidence", "proves", "does not prove"), rows)


def table_of_depths(found: Sequence[End]) -> str:
    """How many messages reached each layer, and what that proves."""
    rows = [
        (f"{number} {name}", str(sum(end.layers[number - 1].reached for end in found)), proves, open)
        for number, (name, proves, open) in enumerate(LAYERS, 1)
    ]
    return table(("layer", "messages", "proves", "does not prove"), rows)


def _text(at_us: int) -> str:
    return moment(at_us).isoformat()
