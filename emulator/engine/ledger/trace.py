"""The trace of a message, or of all: what happened, line by line, and where it ended."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from emulator.engine.bodies.on_a_line import on_a_line
from emulator.engine.ledger.message_states import MessageState, message_states
from emulator.engine.ledger.records import Line, Record
from emulator.engine.ledger.steps import DELIVERIES, ENTRIES, steps
from emulator.engine.ledger.table import table

if TYPE_CHECKING:
    from datetime import datetime

    from emulator.core.events import Event
    from emulator.engine.ledger.ledger import Ledger
    from emulator.engine.ledger.records import History
    from emulator.engine.ledger.steps import Step


class Trace(Sequence[Line]):
    """The timeline of a message, or of all: a sequence of lines that prints as a table. `ends` are the states they ended in.

    It is of the moment at which it was asked for. That of all begins with line number `first`.
    """

    def __init__(self, ledger: Ledger, message_id: str | None = None, first: int = 0) -> None:
        self._records, self._id = ledger.records, message_id
        self._histories: list[History] | None = None
        self._end, self._consumed = len(ledger.records.rows), frozenset(ledger.consumed)
        if message_id is None:
            self._lines = ledger.records.lines()[first:]
            return
        found = self._histories = ledger.records.histories_of(message_id)
        numbers = sorted(number for each in found for entry in each.entries for number in ledger.records.entries[entry])
        self._lines = [ledger.records.rows[number].line() for number in numbers]

    @cached_property
    def ends(self) -> list[MessageState]:
        """The state of each message, in order of sending."""
        return message_states(self._records, self._consumed, self._end, self._histories)

    @property
    def end(self) -> MessageState | None:
        """The state of the one message that was asked for; None when all were, or it is not known."""
        return self.ends[0] if self._id is not None and len(self.ends) == 1 else None

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, place: Any) -> Any:
        return self._lines[place]

    def __str__(self) -> str:
        known = self._records.histories
        bodies = {
            id: on_a_line(known[id].body, known[id].content_type) for id in {line.id for line in self._lines} & known.keys()
        }
        rows = [
            (_clock(line.at), line.queue, line.id[:8], bodies.get(line.id, "?"), str(line.attempt or "-"), line.what)
            for line in self._lines
        ]
        text = table(("when", "queue", "message", "body", "attempt", "what became of it"), rows)
        return text if self.end is None else f"{text}\n{self.end.text()}"

    def as_dict(self) -> dict[str, Any]:
        """Lines and states as plain values."""
        lines = [{**line._asdict(), "at": line.at.isoformat()} for line in self._lines]
        return {"lines": lines, "messages": [each.as_dict() for each in self.ends]}

    def to_json(self) -> str:
        """The same as JSON."""
        return json.dumps(self.as_dict(), indent=2)

    __repr__ = __str__


def timeline(events: Iterable[Event], id: str) -> tuple[list[Line], Step | None]:
    """The lines of one message, and the step that sent it; nothing and None where it is not known. Keeps nothing else.

    For a long journal of which nobody else has asked anything.
    """
    lines: list[Line] = []
    first: Step | None = None
    attempts: dict[str, int] = {}
    for event in events:
        for step in steps(event):
            if id in step.ids:
                place, first = step.ids.index(id), first or step
                if step.kind in DELIVERIES or step.kind in ENTRIES:
                    attempts[step.queue] = step.values[place] if step.values else 0
                lines.append(Record(0, step, place, attempts[step.queue]).line())
    return lines, first


def _clock(at: datetime) -> str:
    text = f"{at:%Y-%m-%d %H:%M:%S.%f}"
    return text.rstrip("0").rstrip(".")
