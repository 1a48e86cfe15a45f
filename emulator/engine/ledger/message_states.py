"""The state of each message and who owns it; and the four layers between "sent" and "done", with what each one proves.

A message ends acknowledged, deleted, in a dead-letter queue or expired, or it is being retried
(https://developers.cloudflare.com/queues/configuration/batching-retries/,
https://developers.cloudflare.com/queues/configuration/dead-letter-queues/). Before its first failure it waits; a purge is an
operator's deletion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cfq_lint.facts import limits
from emulator.engine.clock import moment
from emulator.engine.ledger.steps import DELIVERIES, ENDS, MOVES, RETURNS, Kind
from emulator.engine.ledger.table import table

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from emulator.engine.ledger.records import History, Records
    from emulator.engine.ledger.steps import Step

WAITING, ACKNOWLEDGED, RETRYING, DELETED, IN_DLQ, EXPIRED, PURGED = (
    "waiting", "acknowledged", "retrying", "deleted", "in dead-letter queue", "expired", "purged",
)  # fmt: skip
"""The states. The four of the documentation are ACKNOWLEDGED, RETRYING, DELETED and IN_DLQ; EXPIRED is the fifth."""
_ENDED = {Kind.ACKED: ACKNOWLEDGED, Kind.DROPPED: DELETED, Kind.EXPIRED: EXPIRED, Kind.PURGED: PURGED}

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


class MessageState(NamedTuple):
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


def message_states(
    records: Records, consumed: Collection[str], end: int, histories: Iterable[History] | None = None
) -> list[MessageState]:
    """The state of each message, or of those asked for, in order of sending: as it was when there were `end` rows.

    `consumed` names the queues that had a consumer then. What has not changed since somebody asked is not made anew.
    """
    found = []
    for history in records.histories.values() if histories is None else histories:
        newest = records.entries[history.entries[-1]]
        if records.entries[history.entries[0]][0] >= end:
            break
        if newest[-1] >= end:  # it has gone on since then
            found.append(_message_state(records, history, consumed, end))
            continue
        version = (newest[-1], records.rows[newest[0]].step.queue in consumed)
        if history.known is None or history.known[0] != version:
            history.known = (version, _message_state(records, history, consumed, end))
        found.append(history.known[1])
    return found


def _message_state(records: Records, history: History, consumed: Collection[str], end: int) -> MessageState:
    path: list[str] = []
    deliveries = 0
    delivered = acked = failed = None
    for entry in history.entries:
        steps = [records.rows[number].step for number in records.entries[entry] if number < end]
        if not steps:
            break
        path.append(steps[0].queue)
        for step in steps:
            if step.kind in DELIVERIES:
                deliveries, delivered = deliveries + 1, step
            elif step.kind is Kind.ACKED:
                acked = step
            elif step.kind is Kind.REDRIVEN:
                failed = None
            elif step.kind in ENDS or step.kind is Kind.ARRIVED:
                failed = step
        last = next(step for step in reversed(steps) if step.kind in MOVES)
        arrived, retried = steps[0].kind is Kind.ARRIVED, any(step.kind in RETURNS for step in steps)
    state = _ENDED.get(last.kind) or (IN_DLQ if arrived else RETRYING if retried else WAITING)
    sent = records.rows[records.entries[history.entries[0]][0]].step
    evidence = (
        f"sent to {sent.queue} at {_iso(sent)}",
        delivered and f"deliveries: {deliveries}, the last from {delivered.queue} at {_iso(delivered)}",
        acked and f"acknowledged in {acked.queue} at {_iso(acked)}",
        failed and _failure(failed),
    )
    layers = tuple(
        Layer(name, bool(seen), seen or "", proves, open) for seen, (name, proves, open) in zip(evidence, LAYERS, strict=True)
    )
    owner = owner_of(state, last.queue, consumed, moved=arrived)
    return MessageState(history.id, state, last.queue, moment(last.at_us), owner, deliveries, tuple(path), layers)


def _failure(step: Step) -> str:
    if step.kind is Kind.ARRIVED:
        return f"in dead-letter queue {step.queue} since {_iso(step)}"
    return f"{step.kind} from {step.queue} at {_iso(step)}"


def _iso(step: Step) -> str:
    return moment(step.at_us).isoformat()


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


def table_of_states(found: Sequence[MessageState]) -> str:
    """The states as a table, a line for each message."""
    rows = [(each.id[:8], " > ".join(each.path), each.state, str(each.attempts), each.owner) for each in found]
    return table(("message", "path", "state", "deliveries", "owner"), rows)


def table_of_layers(message: MessageState) -> str:
    """The four layers of one message as a table."""
    rows = [
        (f"{number} {layer.name}", layer.evidence or "not reached", layer.proves, layer.does_not_prove)
        for number, layer in enumerate(message.layers, 1)
    ]
    return table(("layer", "evidence", "proves", "does not prove"), rows)


def table_of_depths(found: Sequence[MessageState]) -> str:
    """How many messages reached each layer, and what that proves."""
    rows = [
        (f"{number} {name}", str(sum(each.layers[number - 1].reached for each in found)), proves, open)
        for number, (name, proves, open) in enumerate(LAYERS, 1)
    ]
    return table(("layer", "messages", "proves", "does not prove"), rows)
