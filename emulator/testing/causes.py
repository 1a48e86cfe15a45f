"""Why a test may have failed, the likeliest cause first: what failed first and where, what waits and for what, what was lost.

The two mistakes that everybody makes once are named: time was never moved, and a consumer has no handler.
"""

from __future__ import annotations

import linecache
import sysconfig
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from emulator.core.limits import SECOND_US
from emulator.core.messages import DELAYED
from emulator.engine.error_text import error_text
from emulator.engine.ledger.steps import Kind
from emulator.testing.handler_shown import OURS, consumer_shown, path_shown
from emulator.testing.timeline_rows import Course, Row, likeness, span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.core.model import QueueState
    from emulator.engine.delivery import Failure
    from emulator.testing.emulator import Emulator

_SHOWN = 3
"""Of errors, warnings and losses so many are told."""
LINES_MAX = 3
"""And of a long text so many lines."""
_MOVE = "Move time: emu.run_until_idle(), or emu.advance(seconds)"
_INSTALLED = tuple({sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")})
RED, YELLOW, BOLD = "\x1b[31m", "\x1b[33m", "\x1b[1m"


class Line(NamedTuple):
    """A line of the story; one that `wraps` goes on in the next, further to the right, where it is too long."""

    text: str
    style: str = ""
    wraps: bool = True


def causes(emulator: Emulator, course: Course) -> Iterator[Line]:
    """The likeliest causes first."""
    strong, weak = _waiting(emulator, course)
    found = [*_failures(emulator, course), *strong, *_losses(emulator, course), *_warnings(emulator, course)]
    yield from found or weak
    if not found and not weak:
        acked = sum(tally.counts(name).acked for name, tally in course.tallies.items())
        yield Line(f"No handler failed, and nothing is lost or waiting: {_messages(acked)} acknowledged.")


# --- what failed


def _failures(emulator: Emulator, course: Course) -> Iterator[Line]:
    failures = list(emulator.timeline.deliveries.failures)
    if not failures:
        return
    first = failures[0]
    what = f"batch {first.batch} of {first.queue}" if first.batch else first.queue
    yield Line(f"What failed first: {what}, at {_at(emulator, first)}", BOLD)
    text = error_text(first.error).splitlines() or [""]
    yield from (Line(f"  {line}", RED) for line in text[:LINES_MAX])
    yield from _where(first.error)
    held = [row for row in course.rows if row.batches == (first.batch, first.batch)] if first.batch else []
    yield from (Line(f"  its messages: {course.bodies_of(row)}, attempt {row.attempts}") for row in held[:_SHOWN])
    alike: dict[tuple[str, str], list[str]] = {}
    for each in failures[1:]:
        error = error_text(each.error).partition("\n")[0]
        alike.setdefault((each.queue, likeness(error)), []).append(error)
    for (queue, kind), errors in list(alike.items())[:_SHOWN]:
        what = f"batch{'es' if len(errors) > 1 else ''} of {queue}" if queue in course.tallies else f"of {queue}"
        batches = f"{len(errors)} more {what}"
        same = (queue, kind) == (first.queue, likeness(text[0]))
        yield Line(f"  then {batches} failed {'likewise' if same else f'with {errors[0]}'}")


def _at(emulator: Emulator, failure: Failure) -> str:
    return f"{failure.at:%H:%M:%S}" if failure.at.date() == emulator.now.date() else f"{failure.at:%Y-%m-%d %H:%M:%S}"


def _where(error: BaseException) -> Iterator[Line]:
    """The line of the user's own code that raised it, or called what did."""
    place, traceback = None, error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith((OURS, *_INSTALLED, "<")):
            place = (code, traceback.tb_lineno)
        traceback = traceback.tb_next
    if place is not None:
        code, number = place
        yield Line(f"  {path_shown(code.co_filename)}:{number} in {code.co_name}", BOLD)
        source = linecache.getline(code.co_filename, number).strip()
        if source:
            yield Line(f"    {source}", wraps=False)


# --- what waits


def _waiting(emulator: Emulator, course: Course) -> tuple[list[Line], list[Line]]:
    """Why messages wait: time was never moved, a handler is missing, and what else keeps them. And what waits as it should."""
    strong: list[Line] = []
    weak: list[Line] = []
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


def _told(what: str, fix: str = "") -> list[Line]:
    return [Line(what, YELLOW), *([Line(f"  {fix}", BOLD)] if fix else [])]


def _due(emulator: Emulator, queue: QueueState, many: str, sent_at: int) -> list[Line]:
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


def _losses(emulator: Emulator, course: Course) -> Iterator[Line]:
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
        yield Line(f"{text}: {course.bodies_of(rows[0])}" if count == 1 else f"{text}.", YELLOW)
        if kind is not Kind.EXPIRED and name not in failing and (consumer := consumer_shown(emulator, name)) != "none":
            yield Line(f"  the consumer of {name}: {consumer}", BOLD)


def _warnings(emulator: Emulator, course: Course) -> Iterator[Line]:
    counts = Counter([*course.warnings, *emulator.timeline.deliveries.late_warnings])
    for text, count in list(counts.items())[:_SHOWN]:
        yield Line(f"Warning{f' ({count} times)' if count > 1 else ''}: {course.named(text)}", YELLOW)
    if len(counts) > _SHOWN:
        yield Line(f"… and {len(counts) - _SHOWN} more warnings: print(emu.report())", YELLOW)


def _messages(count: int) -> str:
    return f"{count} message{'' if count == 1 else 's'}"
