"""What a failing test is told: why it may have failed, then what became of messages, then each queue's counts.

The cause stands in the first lines; whatever is long is folded or cut, so that 50,000 messages are a page as well.
"""

from __future__ import annotations

from contextlib import closing
from textwrap import wrap
from typing import TYPE_CHECKING

from emulator.engine.journal.sqlite import SQLiteJournal
from emulator.engine.ledger.table import table
from emulator.engine.ledger.tally import QueueCounts
from emulator.testing.causes import LINES_MAX, Line, causes
from emulator.testing.handler_shown import consumer_shown
from emulator.testing.timeline_rows import ROWS_MAX, Course, clock, folded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.testing.emulator import Emulator

_WORDS_MIN, _OTHERS_WIDTH = 24, 60
"""What happened has at least so many characters, and what a line has beyond that for the other columns."""
_COUNTS = QueueCounts._fields[1:]
_ALWAYS = frozenset({"sent", "delivered", "acked", "waiting"})
CONSOLE_MAX = 20
"""So many lines of a Worker's console are shown."""
_PLAIN = "\x1b[0m"


def story(emulator: Emulator, width: int = 80, *, colour: bool = False) -> str:
    """All of it as text, no line longer than `width`."""
    course = _course(emulator)
    lines = [*causes(emulator, course), Line(""), *_timeline(course, width), Line(""), *_queues(emulator, course)]
    lines += _consoles(emulator)
    return "\n".join(drawn for line in lines for drawn in _drawn(line, width, colour))


def _consoles(emulator: Emulator) -> list[Line]:
    """The last that each Worker wrote."""
    lines: list[Line] = []
    for worker in emulator.workers:
        written = worker.console[-CONSOLE_MAX:]
        if written:
            more = f", the last {len(written)} of {len(worker.console)} lines" if len(worker.console) > len(written) else ""
            lines += [Line(""), Line(f"Console of {worker!r}{more}")]
            lines += [
                Line(f"  {each.level:5}  {part}") for each in written for part in each.text.splitlines()[:LINES_MAX] or [""]
            ]
    return lines


def _course(emulator: Emulator) -> Course:
    """What has happened; a journal that was closed already is opened once more."""
    journal = emulator.account.journal
    if not (isinstance(journal, SQLiteJournal) and journal.closed):
        return Course(emulator.account.events())
    with closing(SQLiteJournal(journal.path)) as again:
        return Course(again.read())


def _drawn(line: Line, width: int, colour: bool) -> Iterator[str]:
    parts = [line.text]
    if line.wraps and len(line.text) > width:
        margin = " " * (len(line.text) - len(line.text.lstrip()))
        parts = wrap(line.text, width, initial_indent="", subsequent_indent=f"{margin}  ")[:LINES_MAX]
    for part in parts:
        text = part if len(part) <= width else part[: width - 1] + "…"
        yield f"{line.style}{text}{_PLAIN}" if colour and line.style and text else text


def _timeline(course: Course, width: int) -> list[Line]:
    rows, words_max = folded(course.rows), max(_WORDS_MIN, width - _OTHERS_WIDTH)
    days = len({row.at_us // 86_400_000_000 for row in rows} | {row.until_us // 86_400_000_000 for row in rows}) > 1
    cells = []
    for row in rows:
        batch = "" if row.batches is None else str(row.batches[0]) if len({*row.batches}) == 1 else "{}-{}".format(*row.batches)
        until = f" to {clock(row.until_us, days)}" if row.times > 1 and row.until_us > row.at_us else ""
        attempt = "" if row.attempts is None else str(row.attempts)
        what = row.what if len(row.what) <= words_max else row.what[: words_max - 1] + "…"
        cells.append((clock(row.at_us, days) + until, row.queue, batch, attempt, what, course.bodies_of(row)))
    if len(cells) > ROWS_MAX:
        half = ROWS_MAX // 2
        cells[half:-half] = [(f"… {len(cells) - ROWS_MAX} rows …", "", "", "", "", "")]
    if not cells:
        return [Line("No message was sent.")]
    lines = table(("when", "queue", "batch", "attempt", "what happened", "messages"), cells).splitlines()
    return [Line(line, wraps=False) for line in lines]


def _queues(emulator: Emulator, course: Course) -> list[Line]:
    """The counts of each queue, without columns that are 0 everywhere, and who consumes it."""
    counts = [tally.counts(name) for name, tally in sorted(course.tallies.items())]
    columns = [name for name in _COUNTS if name in _ALWAYS or any(getattr(row, name) for row in counts)]
    rows = [[row.queue, *(str(getattr(row, name)) for name in columns), consumer_shown(emulator, row.queue)] for row in counts]
    if not rows:
        return [Line("There is no queue.")]
    head = ("queue", *(name.replace("_", " ") for name in columns), "consumer")
    return [Line(line, wraps=False) for line in table(head, rows).splitlines()]
