"""What happened to messages, as few rows as tell it: a row for what befell several together, and like rows folded into one.

For people who look for a cause: bodies instead of ids, batches by number, durations instead of moments. `Trace` has every line.
"""

from __future__ import annotations

import re
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.core import events as happened
from emulator.engine.bodies.on_a_line import on_a_line
from emulator.engine.clock import SECOND_US, moment
from emulator.engine.ledger.steps import DELIVERIES, Kind, steps
from emulator.engine.ledger.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from emulator.core.events import Event
    from emulator.engine.ledger.steps import Step

ROWS_MAX = 40
"""Where there are more rows than that, like ones are folded wherever they stand; and then the middle is left out."""
_BODIES_SHOWN = 3
_IDS = re.compile(r"[0-9a-f]{32}")
_PARTICULARS = re.compile(r"'[^']*'|\"[^\"]*\"|\d+")
_SILENT = frozenset({Kind.ARRIVED, Kind.REENTERED})
"""The other half of a step that has a row."""
_LEAVING = frozenset({Kind.DEAD_LETTERED, Kind.REDRIVEN})
"""With these the attempts start anew."""
_TELLING = frozenset({happened.QueueCreated, happened.QueueChanged, happened.Settled, happened.LeasesSettled})
_OUT = "delivered, and still out"


class Row(NamedTuple):
    """What befell `many` messages of a queue, from a moment to another: `ids` are the first of them, `batches` first and last.

    `attempts` is None before the first delivery.
    """

    at_us: int
    until_us: int
    queue: str
    batches: tuple[int, int] | None
    ids: tuple[str, ...]
    many: int
    attempts: int | None
    what: str
    times: int = 1

    def folded(self, others: Sequence[Row]) -> Row:
        """The row with those that follow it in one."""
        last, ids = others[-1], self.ids
        for other in others[:_BODIES_SHOWN]:
            ids += other.ids
        batches = (self.batches[0], last.batches[1]) if self.batches and last.batches else self.batches
        many, times = self.many + sum([other.many for other in others]), self.times + sum([other.times for other in others])
        return self._replace(until_us=last.until_us, batches=batches, ids=ids[:_BODIES_SHOWN], many=many, times=times)


_LIKE = attrgetter("queue", "attempts", "what")
"""What like rows share."""


class Course:
    """The course of an account's messages, read once from its events: `rows`, `warnings`, and `tallies` of each queue.

    `sent_at` has the number of the event with which a queue got its last message.
    """

    def __init__(self, events: Iterable[Event]) -> None:
        self.tallies: dict[str, Tally] = {}
        self.bodies: dict[str, tuple[bytes, str]] = {}
        self.warnings: list[str] = []
        self.sent_at: dict[str, int] = {}
        self._attempts: dict[str, int] = {}
        self._paused: set[str] = set()
        self._made: list[list[Row]] = []
        self._out: dict[int, list[Row]] = {}
        for number, event in enumerate(events, 1):
            for step in steps(event):
                self._count(step)
                if step.kind is Kind.SENT:
                    self.sent_at[step.queue] = number
                    self.bodies.update(zip(step.ids, zip(step.bodies, step.content_types, strict=True), strict=True))
                if step.kind not in _SILENT:
                    self._take(step, event)
            if type(event) in _TELLING:
                self._hear(event)
        self.rows = [row for rows in self._made for row in rows]

    def _count(self, step: Step) -> None:
        tally = self.tallies.get(step.queue)
        if tally is None:
            tally = self.tallies[step.queue] = Tally()
        tally.messages[step.kind] += len(step.ids)

    def _take(self, step: Step, event: Event) -> None:
        """Rows for a step: a batch stands where it left, with what became of it."""
        if step.kind in DELIVERIES:
            self._attempts.update(zip(step.ids, step.values, strict=True))
        left = None if step.batch is None else self._out.get(step.batch)
        if left is not None:
            at_us = left[0].at_us
            if left[0].what == _OUT:
                left.clear()
            left += self._rows(step, _what(step, event, at_us), at_us)
        elif step.kind is Kind.DELIVERED and step.batch is not None:
            self._out[step.batch] = rows = self._rows(step, _OUT, step.at_us)
            self._made.append(rows)
        else:
            self._made.append(self._rows(step, _what(step, event, None), step.at_us))
        if step.kind in _LEAVING:
            for id in step.ids:
                self._attempts.pop(id, None)

    def _rows(self, step: Step, what: str, at_us: int) -> list[Row]:
        """A row for each count of attempts that there is among the messages of a step."""
        batches = None if step.batch is None else (step.batch, step.batch)
        ids, known = step.ids, self._attempts
        counts = {None} if step.kind is Kind.SENT else {known.get(id) for id in ids}
        if len(counts) == 1:
            return [Row(at_us, step.at_us, step.queue, batches, ids[:_BODIES_SHOWN], len(ids), counts.pop(), what)]
        parted: dict[int | None, list[str]] = {}
        for id in ids:
            parted.setdefault(known.get(id), []).append(id)
        return [
            Row(at_us, step.at_us, step.queue, batches, tuple(those[:_BODIES_SHOWN]), len(those), attempts, what)
            for attempts, those in parted.items()
        ]

    def _hear(self, event: Any) -> None:
        """What events tell beside their steps: queues, warnings, and a queue that is paused or resumed, which explains much."""
        if isinstance(event, happened.QueueCreated):
            self.tallies.setdefault(event.queue, Tally())
        elif isinstance(event, happened.Settled):
            self.warnings += event.warnings
        elif isinstance(event, happened.LeasesSettled):
            self.warnings += [f"lease {lease[:8]}…: {text}" for lease, text in event.warnings]
        elif (event.queue in self._paused) is not event.delivery_paused:
            self._paused ^= {event.queue}
            word = "paused" if event.delivery_paused else "resumed"
            self._made.append([Row(event.at_us, event.at_us, event.queue, None, (), 0, None, word)])

    def body(self, id: str) -> str:
        """The body of a message on one short line."""
        return on_a_line(*self.bodies.get(id, (b"?", "text")))

    def named(self, text: str) -> str:
        """A text with the ids of messages shortened, each with its body."""
        return _IDS.sub(
            lambda found: f"{found[0][:8]} {self.body(found[0])}" if found[0] in self.bodies else found[0][:8], text
        )

    def bodies_of(self, row: Row) -> str:
        """Whose messages a row is about: the body of one with the start of its id, else how many and the first bodies."""
        if row.many == 1:
            return f"{row.ids[0][:8]} {self.body(row.ids[0])}"
        if not row.many:
            return ""
        shown = ", ".join(dict.fromkeys(self.body(id) for id in row.ids))
        return f"({row.many}) {shown}{', …' if row.many > len(row.ids) else ''}"


def folded(rows: Sequence[Row]) -> list[Row]:
    """Like rows that follow each other in one; where that leaves too many, all that differ in numbers and quoted words."""
    found = [_one(list(alike)) for _, alike in groupby(rows, _LIKE)]
    if len(found) <= ROWS_MAX:
        return found
    alike: dict[Hashable, list[Row]] = {}
    for row in found:
        alike.setdefault((row.queue, row.batches is None, row.attempts, likeness(row.what)), []).append(row)
    return [_one(those) for those in alike.values()]


def _one(rows: list[Row]) -> Row:
    return rows[0] if len(rows) == 1 else rows[0].folded(rows[1:])


def likeness(text: str) -> str:
    """What like texts share: errors name numbers, and users in quotation marks."""
    return _PARTICULARS.sub("…", text)


def clock(at_us: int, days: bool) -> str:
    """A moment for people: the time, and the day where there are several."""
    at = moment(at_us)
    text = f"{at:%m-%d %H:%M:%S}" if days else f"{at:%H:%M:%S}"
    return f"{text}.{at.microsecond // 1_000:03}" if at.microsecond else text


def span(length_us: int) -> str:
    """A duration for people."""
    seconds = length_us / SECOND_US
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size or (seconds >= size and seconds % size == 0):
            return f"{round(seconds / size, 1):g} {unit}"
    return f"{round(seconds, 3):g} s"


def _what(step: Step, event: Any, left_us: int | None) -> str:
    """What became of the messages, in words that like events share."""
    words = str(step.kind)
    if step.kind is Kind.SENT:
        delays = {ready_us - step.at_us for ready_us in event.ready_us} - {0}
        words += f", ready in {span(max(delays))}" if delays else ""
    elif step.kind in {Kind.DEAD_LETTERED, Kind.REDRIVEN}:
        words += f" to {step.other}"
    elif step.kind is Kind.LEASED:
        words += f" for {span(event.until_us - step.at_us)}"
    elif step.kind is Kind.EXTENDED:
        words += f" by {span(event.until_us - step.at_us)}"
    elif step.kind in {Kind.RETRIED, Kind.LAPSED} and (waits_us := max(step.values, default=0) - step.at_us) > 0:
        words += f", ready in {span(waits_us)}"
    if left_us is not None and step.at_us > left_us:
        words += f" after {span(step.at_us - left_us)}"
    return words if not step.error else f"{words}: {step.error.splitlines()[0]}"
