"""Emulator: the face for tests. Time stands still until a test moves it; everything due then happens in order.

>>> emu = Emulator()
>>> jobs = emu.create_queue("jobs")
>>> handler = emu.consume("jobs", lambda batch: print(batch.messages[0].body), max_batch_timeout=0)
>>> reply = jobs.send({"id": 1})
>>> emu.run_until_idle()
{'id': 1}
"""

from __future__ import annotations

from contextlib import contextmanager
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, overload

from emulator import history
from emulator.bindings import Binding, Environment
from emulator.broker import Broker
from emulator.clock import VirtualClock, moment, moment_us, span_us
from emulator.core import commands, machine
from emulator.core.decide.consume import waiting
from emulator.core.decide.manage import find
from emulator.core.events import Delivered, Event
from emulator.core.limits import Limits, limits_of
from emulator.core.model import Consumer, QueueState
from emulator.faults import CALM, WINDOW_BATCHES, Dice, Faults
from emulator.ids import Ids
from emulator.journal import Journal, JournalError
from emulator.journal.memory import MemoryJournal
from emulator.journal.sqlite import SQLiteJournal
from emulator.queue import Queue
from emulator.report import Report
from emulator.workers import Runner, handler_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import datetime, timedelta

    from emulator.history import Delivery, Fate, Trace

START = "2026-01-01T00:00:00Z"
"""When a new emulator's clock starts."""

_BATCHES_MIN, _BATCHES_PER_MESSAGE = 100_000, 200
"""So many batches, and so many for each message there is, may leave at one moment; then queues are taken to feed each other."""


class Emulator:
    """One account's Cloudflare Queues, in process, on a virtual clock.

    `plan` is "paid" or "free". `seed` makes ids and faults the same in every run; None draws them. `start` is when the clock
    starts (ISO text or datetime). `limits` is "strict", "relaxed" or a `Limits` value. `journal` is a path (SQLite) or a
    Journal; without it everything is kept in memory. `faults` asks for chaos. `flags` are compatibility flags. With `strict`,
    a handler's error is raised again in the test, after its batch has been settled.
    """

    def __init__(
        self,
        plan: str = "paid",
        seed: int | None = 0,
        start: datetime | str = START,
        *,
        limits: str | Limits = "strict",
        journal: str | PathLike[str] | Journal | None = None,
        faults: Faults = CALM,
        flags: Iterable[str] = (),
        strict: bool = False,
    ) -> None:
        if plan not in {"paid", "free"}:
            message = f"plan must be 'paid' or 'free', not {plan!r}"
            raise ValueError(message)
        self.plan, self.seed, self.strict = plan, seed, strict
        self.flags = frozenset(flags)
        if journal is None:
            journal = MemoryJournal()
        elif isinstance(journal, str | PathLike):
            journal = SQLiteJournal(journal)
        self._clock = VirtualClock(moment_us(start))
        try:
            self._broker = Broker(journal, self._clock, limits_of(limits), plan)
        except JournalError:
            journal.close()
            raise
        sequence = self._broker.sequence
        if self._broker.state.now_us > self._clock.now_us():
            self._clock.move_to(self._broker.state.now_us)
        # What follows a restart must not repeat the ids that came before it.
        stream: int | str | None = seed if seed is None or not sequence else f"{seed}:{sequence}"
        self._ids = Ids(stream)
        self._dice = Dice(faults, stream)
        self.env = Environment(self.queue, lambda: self._broker.state.queues)
        self._runner = Runner(self._broker, self._dice, self.env, self.flags)
        self._queues: dict[str, Queue] = {}
        self._content_type = "json"
        self._claimed: set[str] = set()
        self._moving = self._closed = False
        self._batches_here = 0
        self._moment_us = -1
        self._rest_us = 0.0
        self._broker.recover()

    @classmethod
    def from_wrangler(cls, path: str | PathLike[str], *, env: str | None = None, plan: str = "paid", **options: Any) -> Self:
        """An emulator with the queues, consumers and bindings of a wrangler file, for one environment.

        Consumers wait for their handlers: `attach`. The other options are Emulator's. Raises Refused (ConfigRefused, with
        `findings`) for a file with lint errors or without that environment.
        """
        from emulator.wrangler import load

        config = load(path, env, plan)
        flags = config.flags | frozenset(options.pop("flags", ()))
        emulator = cls(plan, flags=flags, **options)
        emulator._content_type = config.content_type
        state = emulator._broker.state
        for name in dict.fromkeys([*config.bindings.values(), *config.consumers]):
            if name not in state.queues:
                emulator.create_queue(name)
        for name, consumer in config.consumers.items():
            emulator._set_consumer(name, consumer, attached=False)
        for variable, value in config.variables.items():
            emulator.env.bind(variable, value)
        for binding, name in config.bindings.items():
            emulator.env.bind(binding, Binding(emulator.queue(name), exposes_codes=config.exposes_codes))
        emulator.env.declare()
        return emulator

    # --- queues and consumers

    def create_queue(
        self,
        name: str,
        *,
        delivery_delay: int | None = None,
        message_retention_period: int | None = None,
        jurisdiction: str | None = None,
    ) -> Queue:
        """Create a queue (seconds). Raises Refused: 11003 for a bad name, 11009 for a taken one, 100128 for bad settings."""
        self._broker.execute(commands.CreateQueue(name, delivery_delay, message_retention_period, jurisdiction))
        return self.queue(name)

    def queue(self, name: str) -> Queue:
        """The queue of that name. Raises Refused (11000) when there is none."""
        find(self._broker.state, name)
        if name not in self._queues:
            self._queues[name] = Queue(name, self._broker, self._ids, self._dice, self._content_type)
        return self._queues[name]

    @property
    def queues(self) -> list[str]:
        """The names of all queues, sorted."""
        return sorted(self._broker.state.queues)

    def update_queue(
        self, name: str, *, delivery_delay: int | None = None, message_retention_period: int | None = None
    ) -> Queue:
        """Change a queue's settings (seconds). Raises Refused: 11000 or 100128."""
        self._broker.execute(commands.ChangeQueue(name, delivery_delay, message_retention_period))
        return self.queue(name)

    def delete_queue(self, name: str) -> None:
        """Delete a queue with its messages. Raises Refused (11000) when there is none."""
        self._broker.execute(commands.DeleteQueue(name))
        self._queues.pop(name, None)
        self._runner.calls.pop(name, None)
        self._claimed.discard(name)

    @overload
    def consume(self, queue: str, handler: None = None, *, type: str = "worker", **settings: Any) -> Callable[[Any], Any]: ...
    @overload
    def consume(self, queue: str, handler: Any, *, type: str = "worker", **settings: Any) -> Any: ...
    def consume(self, queue: str, handler: Any = None, *, type: str = "worker", **settings: Any) -> Any:
        """Give a queue its consumer, in Wrangler's names: `max_batch_size`, `max_batch_timeout`, `max_retries`,
        `dead_letter_queue`, `retry_delay`, `max_concurrency`, `visibility_timeout_ms`.

        A function, a class or an object with `queue()`; left out, this is a decorator. `type="http_pull"` takes no handler.
        A dead-letter queue that is missing is created. Raises Refused: 11000, 11004 for a second consumer, 100127.
        """  # noqa: D205 - the first sentence needs two lines
        unknown = settings.keys() - _SETTINGS
        if unknown:
            message = f"unknown setting {min(unknown)!r}: there are {', '.join(sorted(_SETTINGS))}"
            raise TypeError(message)
        if settings.get("dead_letter_queue") == "":
            settings["dead_letter_queue"] = None
        consumer = Consumer(type, **settings)
        if type == "http_pull":
            if handler is not None:
                raise TypeError("an http_pull consumer takes no handler: messages are fetched with pull()")
            self._set_consumer(queue, consumer, attached=False)
            return None
        if handler is None:
            return lambda given: self.consume(queue, given, type=type, **settings)
        call = handler_call(handler)
        self._set_consumer(queue, consumer, attached=True)
        self._runner.calls[queue] = call
        return handler

    def _set_consumer(self, queue: str, consumer: Consumer, *, attached: bool) -> None:
        """A consumer may be set anew if a journal remembers it or while it waits for its handler; else it is the second."""
        known = self._broker.state.queues.get(queue)
        waits = known is not None and _lacks_handler(known) and attached
        self._broker.execute(commands.SetConsumer(queue, consumer, attached, replace=waits or queue not in self._claimed))
        self._claimed.add(queue)

    def attach(self, handler: Any, queue: str | None = None) -> Any:
        """Give a configured consumer its handler; without a queue, every consumer that has none. Returns the handler."""
        call = handler_call(handler)
        state = self._broker.state
        names = [queue] if queue is not None else [n for n, q in sorted(state.queues.items()) if _lacks_handler(q)]
        if not names:
            raise ValueError("no consumer waits for a handler")
        for name in names:
            known = find(state, name)
            if known.consumer is None or known.consumer.type != "worker":
                message = f"queue {name!r} has no push consumer to attach a handler to: use consume()"
                raise ValueError(message)
            self._runner.calls[name] = call
            self._claimed.add(name)
            self._broker.execute(commands.Attach(name))
        return handler

    def remove_consumer(self, queue: str) -> None:
        """Take a queue's consumer away; the queue goes on storing. Raises Refused (11000)."""
        self._broker.execute(commands.RemoveConsumer(queue))
        self._runner.calls.pop(queue, None)

    # --- time

    @property
    def now(self) -> datetime:
        """The virtual time: an aware datetime in UTC."""
        return moment(self._clock.now_us())

    def advance(self, span: float | timedelta = 0) -> None:
        """Let time pass (seconds or timedelta). Everything due up to the new moment happens, in order, each at its own moment.

        Raises ValueError for a negative span, RuntimeError inside a handler; with `strict`, a handler's error.
        """
        with self._moving_time():
            target_us, rest_us = span_us(span, self._rest_us)
            target_us += self._clock.now_us()
            self._work_until(target_us)
            self._clock.move_to(target_us)
            self._rest_us = rest_us

    def advance_to(self, when: datetime | str) -> None:
        """Let time pass up to a moment (datetime or ISO text), as `advance` does. Raises ValueError for one that is over."""
        span = moment(moment_us(when)) - self.now
        self.advance(span)

    def run_until_idle(self) -> None:
        """Let time pass until no batch is due and no handler runs. Leases and retention alone do not move the clock."""
        with self._moving_time():
            budget = self._budget()
            while True:
                wake_us = self._runner.next_wake_us() if self._runner.busy else None
                moment_us = _earliest(machine.next_departure_us(self._broker.state), wake_us)
                if moment_us is None:
                    return
                budget -= self._work_until(max(moment_us, self._clock.now_us())) + 1
                if budget < 0:
                    raise RuntimeError(self._endless("run_until_idle() finds no end"))

    @contextmanager
    def _moving_time(self) -> Iterator[None]:
        """One hand at the clock: a handler, or a second call, may not move it."""
        if self._closed:
            raise RuntimeError("the emulator is closed")
        if self._moving or self._runner.handling:
            raise RuntimeError("time is moved by the test: advance() and run_until_idle() may not be called inside a handler")
        self._moving = True
        try:
            yield
        finally:
            self._moving = False

    def _work_until(self, target_us: int) -> int:
        """Everything due up to a moment; how many batches left."""
        broker, runner, clock, left = self._broker, self._runner, self._clock, 0
        while True:
            moment_us = _earliest(machine.next_wake(broker.state), runner.next_wake_us())
            if moment_us is None or moment_us > target_us:
                return left
            now_us = max(moment_us, clock.now_us())
            clock.move_to(now_us)
            broker.run_passive(now_us)
            runner.wake(now_us)
            self._raise_if_strict()
            left += self._depart(now_us)
            broker.tidy()

    def _depart(self, now_us: int) -> int:
        """Let every batch leave that is due, queue by queue in order of name."""
        broker, runner, state, left = self._broker, self._runner, self._broker.state, 0
        if now_us != self._moment_us:
            self._moment_us, self._batches_here = now_us, self._budget()
        name = ""
        while (following := machine.next_to_depart(state, now_us, name)) is not None:
            name = following
            delivered = broker.execute(commands.Deliver(name, self._reordered(name, now_us)))
            event = delivered[0]
            assert isinstance(event, Delivered), "a wake-up that yields nothing is a bug"
            runner.start(event)
            left += 1
            self._batches_here -= 1
            if self._batches_here < 0:
                self._batches_here = self._budget()
                raise RuntimeError(self._endless("batches leave without end at one moment"))
            self._raise_if_strict()
        return left

    def _reordered(self, name: str, now_us: int) -> tuple[str, ...]:
        if self._dice.calm or not self._dice.faults.reorder:
            return ()
        queue = self._broker.state.queues[name]
        size = queue.consumer.max_batch_size if queue.consumer is not None else 1
        return self._dice.order(waiting(queue, now_us, size * WINDOW_BATCHES), size)

    def _budget(self) -> int:
        living = sum(len(queue.messages) for queue in self._broker.state.queues.values())
        return _BATCHES_MIN + _BATCHES_PER_MESSAGE * living

    def _endless(self, what: str) -> str:
        names = [name for name, queue in sorted(self._broker.state.queues.items()) if queue.messages]
        return f"{what} at {self.now.isoformat()}: queues that feed each other or themselves? Not empty: {', '.join(names)}"

    def _raise_if_strict(self) -> None:
        if self.strict and self._runner.failures and not self._runner.failures[-1].raised:
            failure = self._runner.failures[-1]
            for earlier in self._runner.failures:
                earlier.raised = True
            raise failure.error

    # --- what has happened

    @property
    def events(self) -> list[Event]:
        """Everything that has happened, in order."""
        return list(self._broker.journal.read())

    @property
    def deliveries(self) -> list[Delivery]:
        """Every batch that a push consumer received: (at, queue, messages, outcome, error)."""
        return history.deliveries(self._broker.journal.read())

    @property
    def fates(self) -> list[Fate]:
        """What became of each message in each queue that it entered, in order of entry."""
        return history.fates(self._broker.journal.read())

    @property
    def errors(self) -> list[BaseException]:
        """The errors of handlers, oldest first."""
        return [failure.error for failure in self._runner.failures]

    def trace(self, message_id: str | None = None) -> Trace:
        """The timeline of a message, or of all: lines (at, queue, id, attempt, what); prints as a table."""
        return history.trace(self._broker.journal.read(), message_id)

    def report(self) -> Report:
        """Counts for each queue, warnings and handler errors; prints as a table."""
        return Report(self._broker, self._runner, self.now)

    # --- the end

    def close(self) -> None:
        """End running handlers, remember the time, let go of the journal. Closing twice does nothing."""
        if self._closed:
            return
        if self._runner.handling:
            raise RuntimeError("close() was called by a handler: an emulator is closed by the test")
        self._closed = True
        self._runner.close()
        self._broker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Emulator plan={self.plan} now={self.now.isoformat()} queues={len(self._broker.state.queues)}>"


_SETTINGS = frozenset(Consumer._fields) - {"type"}


def _lacks_handler(queue: QueueState) -> bool:
    return queue.consumer is not None and queue.consumer.type == "worker" and not queue.attached


def _earliest(one_us: int | None, other_us: int | None) -> int | None:
    if one_us is None or other_us is None:
        return other_us if one_us is None else one_us
    return min(one_us, other_us)
