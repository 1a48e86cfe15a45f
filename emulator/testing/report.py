"""The report of a run: for each queue what went in and what became of it, and everything that was ignored or went wrong."""

from __future__ import annotations

import json
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from cfq_lint.facts import limits as cloudflare
from emulator.core import events as happened
from emulator.engine.error_text import error_repr
from emulator.engine.ledger.billing import Operations, operations
from emulator.engine.ledger.ends import End, consumed_of, ends, table_of_depths, table_of_ends
from emulator.engine.ledger.history import table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from emulator.core.events import Event
    from emulator.engine.account import Broker
    from emulator.engine.targets.invocation import Failure
    from emulator.engine.targets.python import Runner

SHOWN = 20
"""A printed report lists so many messages; `messages` has all."""


class QueueCounts(NamedTuple):
    """How many messages went each way through one queue, and how many are in it now (`waiting`).

    sent + received = waiting + acked + dead_lettered + dropped + expired + purged. `delivered` counts deliveries, `retried`
    returns.
    """

    queue: str
    sent: int
    received: int
    delivered: int
    acked: int
    retried: int
    dead_lettered: int
    dropped: int
    expired: int
    purged: int
    waiting: int


class Report:
    """Counts, messages, warnings and errors of a run up to a moment. `str()` gives tables, `to_json()` the same for machines.

    `queues` maps names to QueueCounts; `messages` are the ends of all messages, in order of sending: state, owner, path and
    the four layers; `operations` are what each queue would be billed for; `warnings` are Cloudflare's, on calls that had no
    effect, and the emulator's own; `errors` are the failures of handlers: (at, queue, batch, error).
    """

    def __init__(self, broker: Broker, runner: Runner, at: datetime, empty_pulls: Mapping[str, int] | None = None) -> None:
        self.at = at
        self.queues: dict[str, QueueCounts] = {}
        for name, queue in sorted(broker.state.queues.items()):
            c = queue.counts
            self.queues[name] = QueueCounts(
                name, c.sent, c.received, c.delivered, c.acked, c.retried + c.repeated, c.dead_lettered, c.dropped, c.expired,
                c.purged, len(queue.messages),
            )  # fmt: skip
        self._events = list(broker.journal.read())
        self._consumed = consumed_of(broker.state.queues)
        self._empty_pulls = dict(empty_pulls or {})
        self.warnings: list[str] = [*_warnings(self._events), *runner.late_warnings]
        self.errors: list[Failure] = list(runner.failures)

    def __getitem__(self, queue: str) -> QueueCounts:
        return self.queues[queue]

    @property
    def total(self) -> QueueCounts:
        """The counts of all queues together."""
        columns = zip(*(counts[1:] for counts in self.queues.values()), strict=True)
        sums = [sum(column) for column in columns] or [0] * (len(QueueCounts._fields) - 1)
        return QueueCounts("all", *sums)

    @cached_property
    def messages(self) -> list[End]:
        """Where each message is at the moment of the report, in order of sending."""
        return ends(self._events, self._consumed)

    @cached_property
    def operations(self) -> dict[str, Operations]:
        """What each queue would be billed for."""
        return operations(self._events, self._empty_pulls)

    @property
    def states(self) -> dict[str, int]:
        """How many messages are in each state, in order of the first one."""
        return dict(Counter(end.state for end in self.messages))

    @property
    def retries(self) -> dict[int, int]:
        """How many messages were delivered again so many times: 0 for those that came once or not yet."""
        return dict(sorted(Counter(max(0, end.attempts - 1) for end in self.messages).items()))

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "at": self.at.isoformat(),
            "queues": {name: counts._asdict() for name, counts in self.queues.items()},
            "states": self.states,
            "retries": {str(count): messages for count, messages in self.retries.items()},
            "operations": {name: {**done._asdict(), "total": done.total} for name, done in self.operations.items()},
            "messages": [end.as_dict() for end in self.messages],
            "warnings": self.warnings,
            "errors": [
                {"at": e.at.isoformat(), "queue": e.queue, "batch": e.batch, "error": error_repr(e.error)} for e in self.errors
            ],
        }

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.as_dict(), indent=2)

    def raise_first(self) -> None:
        """Raise the first error of a handler, if there was one."""
        if self.errors:
            raise self.errors[0].error

    def __str__(self) -> str:
        head = [name.replace("_", " ") for name in QueueCounts._fields]
        counts: list[Any] = [[str(cell) for cell in counts] for counts in self.queues.values()]
        parts = [f"Queues at {self.at.isoformat()}", table(head, counts)]
        if self.messages:
            shown = self.messages[:SHOWN]
            parts += ["Messages", table_of_ends(shown)]
            if len(shown) < len(self.messages):
                parts.append(f"… and {len(self.messages) - len(shown)} more")
            parts += ["States", table(("state", "messages"), [(name, str(n)) for name, n in self.states.items()])]
            parts += ["Layers", table_of_depths(self.messages)]
            parts += ["Retries", table(("retries", "messages"), [(str(n), str(count)) for n, count in self.retries.items()])]
            rows = [[name, *map(str, done), str(done.total)] for name, done in self.operations.items()]
            parts += ["Operations", table(("queue", *Operations._fields, "total"), rows)]
        if self.warnings:
            parts += ["Warnings", *(f"  {text}" for text in self.warnings)]
        if self.errors:
            errors = [f"  {e.at.isoformat()} {e.queue} batch {e.batch}: {error_repr(e.error)}" for e in self.errors]
            parts += ["Handler errors", *errors]
        return "\n".join(parts)

    __repr__ = __str__


def _warnings(events: Iterable[Event]) -> list[str]:
    """What calls of handlers and pull consumers were warned of, and messages that their metadata may push over the limit."""
    found: list[str] = []
    near_bytes = cloudflare.MESSAGE_SIZE_BYTES - cloudflare.MESSAGE_METADATA_BYTES
    for event in events:
        if isinstance(event, happened.Settled):
            found += event.warnings
        elif isinstance(event, happened.LeasesSettled):
            found += [f"lease {lease}: {text}" for lease, text in event.warnings]
        elif isinstance(event, happened.Sent):
            for id, body in zip(event.ids, event.bodies, strict=True):
                if near_bytes < len(body) <= cloudflare.MESSAGE_SIZE_BYTES:
                    found.append(
                        f"message {id} has {len(body)} bytes: with about {cloudflare.MESSAGE_METADATA_BYTES} bytes of metadata "
                        f"Cloudflare may refuse it as over {cloudflare.MESSAGE_SIZE_BYTES}"
                    )
    return found
