"""The report of a run: for each queue what went in and what became of it, and everything that was ignored or went wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from cfq_lint import limits as cloudflare
from emulator.core import events as happened
from emulator.history import table

if TYPE_CHECKING:
    from datetime import datetime

    from emulator.broker import Broker
    from emulator.workers.invocation import Failure
    from emulator.workers.runner import Runner


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
    """Counts, warnings and errors of a run up to a moment. `str()` gives a table.

    `queues` maps names to QueueCounts; `warnings` are Cloudflare's, on calls that had no effect, and the emulator's own;
    `errors` are the failures of handlers: (at, queue, batch, error).
    """

    def __init__(self, broker: Broker, runner: Runner, at: datetime) -> None:
        self.at = at
        self.queues: dict[str, QueueCounts] = {}
        for name, queue in sorted(broker.state.queues.items()):
            c = queue.counts
            self.queues[name] = QueueCounts(
                name, c.sent, c.received, c.delivered, c.acked, c.retried + c.repeated, c.dead_lettered, c.dropped, c.expired,
                c.purged, len(queue.messages),
            )  # fmt: skip
        self.warnings: list[str] = [*_warnings(broker), *runner.late_warnings]
        self.errors: list[Failure] = list(runner.failures)

    def __getitem__(self, queue: str) -> QueueCounts:
        return self.queues[queue]

    @property
    def total(self) -> QueueCounts:
        """The counts of all queues together."""
        columns = zip(*(counts[1:] for counts in self.queues.values()), strict=True)
        sums = [sum(column) for column in columns] or [0] * (len(QueueCounts._fields) - 1)
        return QueueCounts("all", *sums)

    def raise_first(self) -> None:
        """Raise the first error of a handler, if there was one."""
        if self.errors:
            raise self.errors[0].error

    def __str__(self) -> str:
        head = [name.replace("_", " ") for name in QueueCounts._fields]
        rows: list[Any] = [[str(cell) for cell in counts] for counts in self.queues.values()]
        parts = [f"Queues at {self.at.isoformat()}", table(head, rows)]
        if self.warnings:
            parts += ["Warnings", *(f"  {text}" for text in self.warnings)]
        if self.errors:
            parts += ["Handler errors", *(f"  {e.at.isoformat()} {e.queue} batch {e.batch}: {e.error!r}" for e in self.errors)]
        return "\n".join(parts)

    __repr__ = __str__


def _warnings(broker: Broker) -> list[str]:
    """What calls of handlers and pull consumers were warned of, and messages that their metadata may push over the limit."""
    found: list[str] = []
    near_bytes = cloudflare.MESSAGE_SIZE_BYTES - cloudflare.MESSAGE_METADATA_BYTES
    for event in broker.journal.read():
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
