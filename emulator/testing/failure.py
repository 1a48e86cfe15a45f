"""What a failing test is told: what failed first and where, the mistakes that everybody makes, then what became of messages.

The cause stands in the first lines; whatever is long is folded or cut, so that 50,000 messages are a page as well.
"""

from __future__ import annotations

import inspect
import linecache
import sysconfig
from collections import Counter
from contextlib import closing
from pathlib import Path
from textwrap import wrap
from types import CodeType
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.core.limits import SECOND_US
from emulator.core.messages import DELAYED
from emulator.engine.error_text import error_text
from emulator.engine.journal.sqlite import SQLiteJournal
from emulator.engine.ledger.steps import Kind
from emulator.engine.ledger.table import table
from emulator.engine.ledger.tally import QueueCounts
from emulator.testing.timeline_rows import ROWS_MAX, Course, Row, clock, folded, likeness, span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.core.model import QueueState
    from emulator.engine.delivery import Failure
    from emulator.testing.emulator import Emulator

_SHOWN, _LINES_MAX = 3, 3
"""Of errors, warnings and losses so many are told, and of a long text so many lines."""
_MOVE = "Move time: emu.run_until_idle(), or emu.advance(seconds)"
_WORDS_MIN, _OTHERS_WIDTH = 24, 60
"""What happened has at least so many characters, and what a line has beyond that for the other columns."""
_OURS = str(Path(__file__).parents[1])
_INSTALLED = tuple({sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_COUNTS = QueueCounts._fields[1:]
_ALWAYS = frozenset({"sent", "delivered", "acked", "waiting"})
_HANDLER_CHARACTERS_MAX = 60
_RED, _YELLOW, _BOLD, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[1m", "\x1b[0m"


class _Line(NamedTuple):
    """A line of the story; one that `wraps` goes on in the next, further to the right, where it is too long."""

    text: str
    style: str = ""
    wraps: bool = True


def story(emulator: Emulator, width: int = 80, *, colour: bool = False) -> str:
    """All of it as text, no line longer than `width`."""
    course = _course(emulator)
    lines = [*_causes(emulator, course), _Line(""), *_timeline(course, width), _Line(""), *_queues(emulator, course)]
    return "\n".join(drawn for line in lines for drawn in _drawn(line, width, colour))


def _course(emulator: Emulator) -> Course:
    """What has happened; a journal that was closed already is opened once more."""
    journal = emulator.account.journal
    if not (isinstance(journal, SQLiteJournal) and journal.closed):
        return Course(emulator.account.events())
    with closing(SQLiteJournal(journal.path)) as again:
        return Course(again.read())


def _drawn(line: _Line, width: int, colour: bool) -> Iterator[str]:
    parts = [line.text]
    if line.wraps and len(line.text) > width:
        margin = " " * (len(line.text) - len(line.text.lstrip()))
        parts = wrap(line.text, width, initial_indent="", subsequent_indent=f"{margin}  ")[:_LINES_MAX]
    for part in parts:
        text = part if len(part) <= width else part[: width - 1] + "…"
        yield f"{line.style}{text}{_PLAIN}" if colour and line.style and text else text


def _causes(emulator: Emulator, course: Course) -> Iterator[_Line]:
    """The likeliest causes first."""
    strong, weak = _waiting(emulator, course)
    found = [*_failures(emulator, course), *strong, *_losses(emulator, course), *_warnings(emulator, course)]
    yield from found or weak
    if not found and not weak:
        acked = sum(tally.counts(name).acked for name, tally in course.tallies.items())
        yield _Line(f"No handler failed, and nothing is lost or waiting: {_messages(acked)} acknowledged.")


# --- what failed


def _failures(emulator: Emulator, course: Course) -> Iterator[_Line]:
    failures = list(emulator.timeline.deliveries.failures)
    if not failures:
        return
    first = failures[0]
    what = f"batch {first.batch} of {first.queue}" if first.batch else first.queue
    yield _Line(f"What failed first: {what}, at {_at(emulator, first)}", _BOLD)
    text = error_text(first.error).splitlines() or [""]
    yield from (_Line(f"  {line}", _RED) for line in text[:_LINES_MAX])
    yield from _where(first.error)
    held = [row for row in course.rows if row.batches == (first.batch, first.batch)] if first.batch else []
    yield from (_Line(f"  its messages: {course.bodies_of(row)}, attempt {row.attempts}") for row in held[:_SHOWN])
    alike: dict[tuple[str, str], list[str]] = {}
    for each in failures[1:]:
        error = error_text(each.error).partition("\n")[0]
        alike.setdefault((each.queue, likeness(error)), []).append(error)
    for (queue, kind), errors in list(alike.items())[:_SHOWN]:
        what = f"batch{'es' if len(errors) > 1 else ''} of {queue}" if queue in course.tallies else f"of {queue}"
        batches = f"{len(errors)} more {what}"
        same = (queue, kind) == (first.queue, likeness(text[0]))
        yield _Line(f"  then {batches} failed {'likewise' if same else f'with {errors[0]}'}")


def _at(emulator: Emulator, failure: Failure) -> str:
    return f"{failure.at:%H:%M:%S}" if failure.at.date() == emulator.now.date() else f"{failure.at:%Y-%m-%d %H:%M:%S}"


def _where(error: BaseException) -> Iterator[_Line]:
    """The line of the user's own code that raised it, or called what did."""
    place, traceback = None, error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith((_OURS, *_INSTALLED, "<")):
            place = (code, traceback.tb_lineno)
        traceback = traceback.tb_next
    if place is not None:
        code, number = place
        yield _Line(f"  {_path(code.co_filename)}:{number} in {code.co_name}", _BOLD)
        source = linecache.getline(code.co_filename, number).strip()
        if source:
            yield _Line(f"    {source}", wraps=False)


def _path(file: str) -> str:
    """A path from where the tests were started, if it lies below."""
    try:
        return Path(file).resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return file


# --- what waits


def _waiting(emulator: Emulator, course: Course) -> tuple[list[_Line], list[_Line]]:
    """Why messages wait: time was never moved, a handler is missing, and what else keeps them. And what waits as it should."""
    strong: list[_Line] = []
    weak: list[_Line] = []
    queues = emulator.account.state.queues
    dead = {queue.consumer.dead_letter_queue for queue in queues.values() if queue.consumer is not None}
    for name, queue in sorted(queues.items()):
        consumer, count = queue.consumer, queue.count
        many = f"{_messages(count)} wait{'s' if count == 1 else ''} in {name}"
        if not count or (consumer is None and name in dead):
            continue
        if consumer is None:
            weak += _told(f"{many}, which has no consumer.", f'Give it one: emu.consume("{name}", handler)')
        elif consumer.type != "worker":
            leased = sum(bool(message.lease) for message in queue.messages.values())
            weak += _told(f"{many} for a pull{f'; {leased} of them leased and not acknowledged' if leased else ''}.")
        elif not queue.attached:
            fix = f'Give it one: emu.attach(handler, queue="{name}")'
            strong += _told(f"The consumer of {name} has no handler: {many}.", fix)
        elif queue.config.delivery_paused:
            strong += _told(f"Delivery of {name} is paused: {many}.", f'Let them go: emu.queue("{name}").resume()')
        else:
            strong += _due(emulator, queue, many, course.sent_at.get(name, 0))
    return strong, weak


def _told(what: str, fix: str = "") -> list[_Line]:
    return [_Line(what, _YELLOW), *([_Line(f"  {fix}", _BOLD)] if fix else [])]


def _due(emulator: Emulator, queue: QueueState, many: str, sent_at: int) -> list[_Line]:
    """What a queue with its consumer waits for: time."""
    now_us, moved_at, fix = emulator.account.now_us, emulator.timeline.moved_at, _MOVE
    waiting = [message.ready_us for message in queue.messages.values() if message.place <= DELAYED]
    if queue.flights:
        batches = ", ".join(map(str, list(queue.flights)[:_SHOWN]))
        return _told(f"{many}: batch {batches} is out, and its handler has not ended.", fix)
    if moved_at < 0:
        return _told(f"Time was never moved, and nothing is delivered before that: {many}.", fix)
    if waiting and min(waiting) > now_us:
        return _told(f"{many}, delayed: the first is ready in {span(min(waiting) - now_us)}.", fix)
    if sent_at > moved_at:
        return _told(f"Time was not moved after the last message was sent: {many}.", fix)
    return _told(f"{many} until the batch is full or max_batch_timeout is over.", fix)


# --- what was lost, and what was told


def _losses(emulator: Emulator, course: Course) -> Iterator[_Line]:
    """Messages that came to a bad end, and why."""
    lost: dict[tuple[str, Kind], list[Row]] = {}
    for row in course.rows:
        for kind in (Kind.DROPPED, Kind.DEAD_LETTERED, Kind.EXPIRED):
            if row.what.startswith(kind):
                lost.setdefault((row.queue, kind), []).append(row)
    failing = {failure.queue for failure in emulator.timeline.deliveries.failures}
    for (name, kind), rows in list(lost.items())[:_SHOWN]:
        count, attempts = sum(row.many for row in rows), rows[0].attempts
        if kind is Kind.EXPIRED:
            queue = emulator.account.state.queues.get(name)
            kept = f" of {span(queue.config.message_retention_period * SECOND_US)}" if queue is not None else ""
            text = f"{_messages(count)} of {name} expired: the retention{kept} was over"
        else:
            text = f"{_messages(count)} of {name} {'was' if count == 1 else 'were'} {kind} after {attempts} attempt"
            text += "" if attempts == 1 else "s"
            text += "" if name in failing else ", of which none raised: the handler asked for a retry, or a lease lapsed"
            text += "; there is no dead_letter_queue" if kind is Kind.DROPPED else ""
        yield _Line(f"{text}: {course.bodies_of(rows[0])}" if count == 1 else f"{text}.", _YELLOW)
        if kind is not Kind.EXPIRED and name not in failing and (consumer := _consumer(emulator, name)) != "none":
            yield _Line(f"  the consumer of {name}: {consumer}", _BOLD)


def _warnings(emulator: Emulator, course: Course) -> Iterator[_Line]:
    counts = Counter([*course.warnings, *emulator.timeline.deliveries.late_warnings])
    for text, count in list(counts.items())[:_SHOWN]:
        yield _Line(f"Warning{f' ({count} times)' if count > 1 else ''}: {course.named(text)}", _YELLOW)
    if len(counts) > _SHOWN:
        yield _Line(f"… and {len(counts) - _SHOWN} more warnings: print(emu.report())", _YELLOW)


# --- the tables


def _timeline(course: Course, width: int) -> list[_Line]:
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
        return [_Line("No message was sent.")]
    lines = table(("when", "queue", "batch", "attempt", "what happened", "messages"), cells).splitlines()
    return [_Line(line, wraps=False) for line in lines]


def _queues(emulator: Emulator, course: Course) -> list[_Line]:
    """The counts of each queue, without columns that are 0 everywhere, and who consumes it."""
    counts = [tally.counts(name) for name, tally in sorted(course.tallies.items())]
    columns = [name for name in _COUNTS if name in _ALWAYS or any(getattr(row, name) for row in counts)]
    rows = [[row.queue, *(str(getattr(row, name)) for name in columns), _consumer(emulator, row.queue)] for row in counts]
    if not rows:
        return [_Line("There is no queue.")]
    head = ("queue", *(name.replace("_", " ") for name in columns), "consumer")
    return [_Line(line, wraps=False) for line in table(head, rows).splitlines()]


def _consumer(emulator: Emulator, name: str) -> str:
    queue = emulator.account.state.queues.get(name)
    if queue is None or queue.consumer is None:
        return "deleted" if queue is None else "none"
    if queue.consumer.type != "worker":
        return queue.consumer.type
    target = emulator.timeline.deliveries.targets.get(name)
    if target is None or not queue.attached:
        return "no handler yet"
    handler = getattr(target, "handler", None)
    code = _code_of(handler)
    if code is None or code.co_filename.startswith(_OURS):
        return getattr(target, "url", None) or repr(handler)[:_HANDLER_CHARACTERS_MAX]
    return f"{code.co_qualname.rpartition('.<locals>.')[2]} ({_path(code.co_filename)}:{code.co_firstlineno})"


def _code_of(handler: Any) -> CodeType | None:
    """The code of a handler, of a class's or an object's queue(), of what a wrapper wraps; None where it has none."""
    found = handler if hasattr(handler, "__code__") else getattr(handler, "queue", None) or getattr(handler, "func", handler)
    found = inspect.unwrap(found) if callable(found) else found
    code = getattr(getattr(found, "__func__", found), "__code__", None)
    return code if isinstance(code, CodeType) else None


def _messages(count: int) -> str:
    return f"{count} message{'' if count == 1 else 's'}"
