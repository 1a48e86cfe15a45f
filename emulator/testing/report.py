"""The report of a run: for each queue what went in and what became of it, and everything that was ignored or went wrong."""

from __future__ import annotations

import json
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

from emulator.engine.error_text import error_repr
from emulator.engine.ledger.message_states import MessageState, message_states, table_of_depths, table_of_states
from emulator.engine.ledger.table import table
from emulator.engine.ledger.tally import Operations, QueueCounts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from emulator.engine.account import Account
    from emulator.engine.delivery import Deliveries

SHOWN = 20
"""A printed report lists so many messages; `messages` has all."""


class Report:
    """Counts, messages, warnings and errors of a run up to a moment. `str()` gives tables, `to_json()` the same for machines.

    `queues` maps names to QueueCounts, of every queue that there was; `messages` are the states of all messages, in order of
    sending: state, owner, path and the four layers; `concurrency` is the most batches of each queue that were out at once,
    `operations` what it would be billed for; `faults` are those
    that were switched on or acted; `warnings` are Cloudflare's, on calls that had no effect, and the emulator's own; `errors`
    are the failures of handlers: (at, queue, batch, error); `consoles` are the lines that each Worker wrote.
    """

    def __init__(self, account: Account, deliveries: Deliveries, at: datetime, consoles: Mapping[str, Sequence[Any]]) -> None:
        ledger, empty = account.ledger, account.empty_pulls
        self.at, self._records = at, ledger.records
        self._end, self._consumed = len(ledger.records.rows), frozenset(ledger.consumed)
        tallies = sorted(ledger.tallies.items())
        self.queues = {name: tally.counts(name) for name, tally in tallies}
        self.concurrency = {name: tally.peak for name, tally in tallies if tally.peak}
        billed = {name: tally.billed(empty.get(name, 0)) for name, tally in tallies}
        self.operations = {name: done for name, done in billed.items() if done.total}
        self.faults = account.fault_counts
        self.warnings = [*ledger.records.warnings, *deliveries.late_warnings]
        self.errors = list(deliveries.failures)
        self.consoles = {name: list(lines) for name, lines in consoles.items() if lines}

    def __getitem__(self, queue: str) -> QueueCounts:
        return self.queues[queue]

    @property
    def total(self) -> QueueCounts:
        """The counts of all queues together."""
        columns = zip(*(counts[1:] for counts in self.queues.values()), strict=True)
        sums = [sum(column) for column in columns] or [0] * (len(QueueCounts._fields) - 1)
        return QueueCounts("all", *sums)

    @cached_property
    def messages(self) -> list[MessageState]:
        """Where each message is at the moment of the report, in order of sending."""
        return message_states(self._records, self._consumed, self._end)

    @property
    def states(self) -> dict[str, int]:
        """How many messages are in each state, in order of the first one."""
        return dict(Counter(each.state for each in self.messages))

    @property
    def retries(self) -> dict[int, int]:
        """How many messages were delivered again so many times: 0 for those that came once or not yet."""
        return dict(sorted(Counter(max(0, each.attempts - 1) for each in self.messages).items()))

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "at": self.at.isoformat(),
            "queues": {name: counts._asdict() for name, counts in self.queues.items()},
            "states": self.states,
            "retries": {str(count): messages for count, messages in self.retries.items()},
            "concurrency": self.concurrency,
            "operations": {name: {**done._asdict(), "total": done.total} for name, done in self.operations.items()},
            "faults": [fault._asdict() for fault in self.faults],
            "messages": [each.as_dict() for each in self.messages],
            "warnings": self.warnings,
            "consoles": {name: [[each.level, each.text] for each in lines] for name, lines in self.consoles.items()},
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
        parts = [f"Queues at {self.at.isoformat()}", table(head, ([str(cell) for cell in row] for row in self.queues.values()))]
        if self.messages:
            parts += ["Messages", table_of_states(self.messages[:SHOWN])]
            if len(self.messages) > SHOWN:
                parts.append(f"… and {len(self.messages) - SHOWN} more")
            parts += ["States", table(("state", "messages"), [(name, str(n)) for name, n in self.states.items()])]
            parts += ["Layers", table_of_depths(self.messages)]
            parts += ["Retries", table(("retries", "messages"), [(str(n), str(count)) for n, count in self.retries.items()])]
            batches = [(name, str(peak)) for name, peak in self.concurrency.items()]
            parts += ["Batches out at once", table(("queue", "most"), batches)] if batches else []
            rows = [[name, *map(str, done), str(done.total)] for name, done in self.operations.items()]
            parts += ["Operations", table(("queue", *Operations._fields, "total"), rows)]
        if self.faults:
            parts += [
                "Faults",
                table(("fault", "chance", "acted"), [(f.fault, f"{f.chance:g}", str(f.acted)) for f in self.faults]),
            ]
        if self.warnings:
            parts += ["Warnings", *(f"  {text}" for text in self.warnings)]
        if self.errors:
            lines = (f"  {e.at.isoformat()} {e.where}: {error_repr(e.error)}" for e in self.errors)
            parts += ["Handler errors", *lines]
        for name, written in self.consoles.items():
            parts += [f"Console of {name}", *(f"  {each.level:5}  {each.text}" for each in written[-SHOWN:])]
            if len(written) > SHOWN:
                parts.append(f"… after {len(written) - SHOWN} others")
        return "\n".join(parts)

    __repr__ = __str__
