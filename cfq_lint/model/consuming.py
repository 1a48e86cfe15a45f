"""What a Worker's source does with the messages of each queue that its configuration consumes."""

from __future__ import annotations

import re

from cfq_lint.facts import limits
from cfq_lint.facts.record import record, replace
from cfq_lint.model.sources import program_of
from cfq_lint.source.text import Lines, Place
from cfq_lint.worker_code.following.handling import Handled, handled
from cfq_lint.worker_code.ways.sends import Send, sends_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.wrangler import Consumer, Environment, Worker
    from cfq_lint.worker_code.modules.program import Program
    from cfq_lint.worker_code.ways.marks import Mark

_DEAD = re.compile(r"(?:^|[-_])(?:dlq|dead(?:[-_]?letters?)?)(?:$|[-_])", re.IGNORECASE)
"""What a queue of dead letters is called."""
_UNREAD_SHOWN = 5
_NO_WAIT = "queue_consumer_no_wait_for_wait_until"


@record
class Consuming:
    """A consumer, and what the Worker's handler does with its messages.

    The settings are those in force; `waits` says that the runtime waits for what is handed to `waitUntil()`.
    """

    consumer: Consumer
    handled: Handled
    batch_size: int
    max_retries: int
    retry_delay: int
    waits: bool
    is_dead_letters: bool

    @property
    def dead_letter_queue(self) -> str:
        """Where messages go whose attempts are spent, "" where nowhere."""
        field = self.consumer.dead_letter_queue
        return field.text or "" if field is not None else ""


class Code:
    """A Worker's source as its configuration uses it: `consuming` for each consumer, `sends` in all that was read."""

    def __init__(self, worker: Worker, program: Program, consuming: tuple[Consuming, ...]) -> None:
        self.worker = worker
        self.program = program
        self.consuming = consuming
        self.is_python = program.entry.endswith(".py")
        self._sends: tuple[Send, ...] | None = None
        self._lines: dict[str, Lines] = {}

    @property
    def sends(self) -> tuple[Send, ...]:
        """The calls that send to a queue that the configuration binds."""
        if self._sends is None:
            bindings = {each.binding.text or "" for each in self.worker.producers() if each.binding is not None}
            modules = self.program.modules.values()
            self._sends = tuple(send for module in modules for send in sends_of(module) if send.binding in bindings)
        return self._sends

    @property
    def unfollowed(self) -> tuple[str, ...]:
        """What was not followed, and why: one line for each."""
        problems = [each.handled.problem for each in self.consuming if each.handled.problem]
        doubts = [
            f"{self.spot(mark)} hands a message on to what was not followed"
            for each in self.consuming
            for mark in each.handled.doubts
        ]
        unread = [each for each in self.program.unread if each != self.program.entry]
        lines = [f"{each} was not read" for each in unread[:_UNREAD_SHOWN]]
        lines += [f"{len(unread) - _UNREAD_SHOWN} more modules were not read"] if len(unread) > _UNREAD_SHOWN else []
        return tuple(dict.fromkeys([*problems, *doubts, *lines]))

    def spot(self, mark: Mark) -> str:
        """A place as people write it."""
        place = self.place(mark)
        return f"{place.path}:{place.line}:{place.column}"

    def offset(self, mark: Mark) -> int:
        """Where a node starts in its text."""
        lines = self.lines(mark)
        row, column = mark.node.at
        start = lines.starts[row] if row < len(lines.starts) else len(lines.text)
        stop = lines.starts[row + 1] if row + 1 < len(lines.starts) else len(lines.text)
        written = lines.text[start:stop]
        return start + (
            column if written.isascii() else len(written.encode("utf-8", "replace")[:column].decode("utf-8", "replace"))
        )

    def lines(self, mark: Mark) -> Lines:
        """The text that a node stands in."""
        path = mark.module.path
        if path not in self._lines:
            self._lines[path] = Lines(mark.module.text)
        return self._lines[path]

    def place(self, mark: Mark, start: int | None = None, length: int = 1) -> Place:
        """The place of a node's first characters, or of some at another offset of its text."""
        start = self.offset(mark) if start is None else start
        return Place(mark.module.path, self.lines(mark), start, start + length)


def code_of(worker: Worker) -> Code | None:
    """The source of a Worker that consumes queues; None where there is none to read, or no queue that is consumed."""
    files = worker.document.files
    first = next((each for each in worker.environments if not each.is_previews and each.consumers), None)
    if files is None or first is None:
        return None
    program, entry = program_of(first, files), first.inherited("main")
    dead = {each.dead_letter_queue.text for each in worker.consumers() if each.dead_letter_queue is not None}
    consuming, programs = [], [program]
    for environment in worker.environments:
        main = environment.inherited("main")
        if environment.is_previews or (main and main.text) != (entry and entry.text):
            continue  # an environment with a source of its own is deployed as another Worker
        own = program_of(environment, files)  # its variables may name other queues
        programs += [own] if own not in programs else []
        for consumer in environment.consumers:
            if consumer.is_push and consumer.queue is not None:
                queue = consumer.queue_name
                is_dead = queue in dead or _DEAD.search(queue) is not None
                consuming.append(
                    consuming_of(
                        consumer, environment, handled_once(own, queue, _in_vain(programs, own)), is_dead_letters=is_dead
                    )
                )
    return Code(worker, program, tuple(consuming)) if consuming else None


def _in_vain(programs: list[Program], own: Program) -> int:
    """How long the handler was read for other environments without coming to its end: it is as long for this one."""
    return sum(each.steps for program in programs if program is not own for each in program.kept.values() if each.problem)


def handled_once(program: Program, queue: str, steps_before: int = 0) -> Handled:
    """What the handler does with a queue, read once; where it never looks at the queue's name, the same for all.

    What was read of it before, `steps_before` elsewhere, shortens the reading.
    """
    known: dict[str, Handled] = program.kept
    if queue not in known:
        other = next((each for each in known.values() if not each.looks_at_queue), None)
        steps = steps_before + sum(each.steps for each in known.values())
        known[queue] = replace(other, queue=queue) if other is not None else handled(program, queue, steps)
    return known[queue]


def consuming_of(consumer: Consumer, environment: Environment, what: Handled, *, is_dead_letters: bool) -> Consuming:
    """A consumer with the settings in force, and what is known of its code."""

    def number(key: str, default: int) -> int:
        field = consumer.field(key)
        value = field.integer if field is not None else None
        return default if value is None else value

    flags = environment.inherited("compatibility_flags")
    waits = flags is None or all(item.value != _NO_WAIT for item in flags.items)
    size, retries = number("max_batch_size", limits.BATCH_SIZE_DEFAULT), number("max_retries", limits.RETRIES_DEFAULT)
    return Consuming(consumer, what, size, retries, number("retry_delay", 0), waits, is_dead_letters)
