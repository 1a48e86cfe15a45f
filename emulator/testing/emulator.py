"""Emulator: the face for tests. Time stands still until a test moves it; everything due then happens in order.

>>> emu = Emulator()
>>> jobs = emu.create_queue("jobs")
>>> handler = emu.consume("jobs", lambda batch: print(batch.messages[0].body), max_batch_timeout=0)
>>> reply = jobs.send({"id": 1})
>>> emu.run_until_idle()
{'id': 1}
"""

from __future__ import annotations

from functools import partial
from itertools import count
from os import PathLike
from typing import TYPE_CHECKING, Any, Self, overload
from weakref import WeakValueDictionary

from emulator.core import commands
from emulator.core.decide.manage import find
from emulator.core.limits import Limits, limits_of
from emulator.core.model import Consumer
from emulator.engine.account import Account
from emulator.engine.alarms import Alarm
from emulator.engine.clock import VirtualClock, moment, moment_us
from emulator.engine.dead_letters import Redriven, redrive
from emulator.engine.delivery import Failure
from emulator.engine.driving import Driving
from emulator.engine.faults import CALM, Faults
from emulator.engine.journal import Journal, JournalError
from emulator.engine.journal.memory import MemoryJournal
from emulator.engine.journal.opening import open_journal
from emulator.engine.ledger.trace import Trace
from emulator.engine.options import unknown
from emulator.engine.targets.python import NO_WAIT_FLAG, PythonRuntime, PythonTarget
from emulator.engine.timeline import Timeline
from emulator.testing.queue import Queue
from emulator.testing.report import Report
from emulator.workers.bindings import Environment
from emulator.workers.host import Attachable, Host
from emulator.workers.setup import bindings_of, install, lacks_handler

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping
    from datetime import datetime, timedelta

    from emulator.core.events import Event
    from emulator.engine.delivery import Target
    from emulator.engine.ledger.records import Delivery, Fate
    from emulator.engine.targets.real_time import RealTime
    from emulator.workers.cron import Cron
    from emulator.workers.stores.shared import Stores


START = "2026-01-01T00:00:00Z"
"""When a new emulator's clock starts."""


ALIVE: WeakValueDictionary[int, Emulator] = WeakValueDictionary()
"""Every emulator that somebody holds, in order: a failing test tells of those that it used."""
_numbers = count()


class Emulator:
    """One account's Cloudflare Queues, in process, on a virtual clock.

    `plan` is "paid" or "free". `seed` makes ids and faults the same in every run; None draws them. `start` is when the clock
    starts (ISO text or datetime). `limits` is "strict", "relaxed" or a `Limits` value. `journal` is a path (SQLite), a
    URL (PostgreSQL) or a Journal; without it everything is kept in memory.
    `faults` are chances of what goes wrong. `flags` are compatibility flags.
    With `strict`, a handler's error is raised again in the test, after its batch has been settled.
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
        ALIVE[next(_numbers)] = self
        self.plan, self.seed = plan, seed
        self.flags = frozenset(flags)
        bounds, clock = limits_of(limits), VirtualClock(moment_us(start))
        if journal is None:
            journal = MemoryJournal()
        elif isinstance(journal, str | PathLike):
            journal = open_journal(journal)
        try:
            self.account = Account(journal, clock, plan=plan, limits=bounds, seed=seed, faults=faults)
        except JournalError:
            journal.close()
            raise
        self.timeline = Timeline(self.account, strict=strict)
        self.env = Environment(self.queue, lambda: self.account.state.queues)
        self.runtime = PythonRuntime(lambda: self.account.now_us)
        self.timeline.deliveries.add(self.runtime)
        self._real_time: RealTime | None = None
        self._queues: dict[str, Queue] = {}
        self.default_content_type = "json"
        self._claimed: set[str] = set()
        self.stores: Stores | None = None
        """The namespaces, databases and buckets of the account; None before the first is made."""
        self._driving = Driving(self.timeline, self.runtime)
        self._closed = False
        self.workers: list[Any] = []
        """The Workers that were loaded, in order."""
        if not journal.follows:
            self.account.recover()

    @classmethod
    def from_wrangler(
        cls,
        path: str | PathLike[str] | Iterable[str | PathLike[str]],
        *,
        env: str | None = None,
        plan: str = "paid",
        **options: Any,
    ) -> Self:
        """An emulator with the queues, consumers and bindings of a wrangler file, or of several, for one environment.

        Consumers wait for their handlers: `attach`. The other options are Emulator's. Raises Refused (ConfigRefused, with
        `findings`) for a file with lint errors or without that environment.
        """
        from emulator.workers.config import load_all

        configs = load_all(path, env, plan)
        emulator = cls(plan, flags=frozenset(options.pop("flags", ())).union(*(each.flags for each in configs)), **options)
        emulator.default_content_type = configs[0].content_type if configs else "json"
        for config in configs:
            install(emulator.account, config, emulator._claimed)
            warn = emulator.timeline.deliveries.late_warnings.append
            for name, value in bindings_of(config, emulator.queue, emulator._shared_stores, warn).items():
                emulator.env.bind(name, value)
            emulator._schedule(config.owner, config.crons, None)
        emulator.env.declare()
        return emulator

    def worker(self, path: str | PathLike[str], env: str | Mapping[str, Any] | None = None, **options: Any) -> Any:
        """A Worker's own source, Python, JavaScript or TypeScript: of a wrangler file, with its queues, consumers and bindings;
        or a file of code, for the consumers that wait for a handler.

        `env` names an environment of the file, or gives bindings: values, and objects of the test for what is not emulated.
        `fetch` answers its outgoing requests, which are refused without it. `secrets` go into the Worker's `env`; of a Python
        Worker, so does a store for each name in `kv` and `d1`. Raises Refused (ConfigRefused), and what the module raises.
        """  # noqa: D205 - the first sentence needs two lines
        from emulator.workers.loading import load

        host = Host(
            self.account, self.env, self._shared_stores(), self._claimed, self.timeline.deliveries,
            self.timeline.alarms, self.flags,
            self.default_content_type, self.account.clock.now_us, self.queue, self.attach, self._driving.run,
            self._driving.keep, self.timeline.deliveries.late_warnings.append, self._schedule,
        )  # fmt: skip
        found = load(host, path, env, **options)
        self.workers.append(found)
        return found

    def _schedule(self, owner: str, crons: Iterable[Cron], run: Callable[[str, datetime], Awaitable[Any]] | None) -> None:
        """Let a Worker's crons go off as time passes; where there is no Worker, the report tells of each that would have."""
        deliveries, idle = self.timeline.deliveries, set[str]()

        async def work(cron: Cron, at_us: int) -> None:
            assert run is not None, "asked below"
            try:
                await run(cron.text, moment(at_us))
            except Exception as error:  # noqa: BLE001 - whatever a handler raises is its outcome
                deliveries.failures.append(Failure(self.account.now_us, f"cron {cron.text!r} of {owner}", 0, error))

        def ring(cron: Cron, at_us: int) -> None:
            if run is not None:
                self._driving.keep(work(cron, at_us))
            elif cron.text not in idle:
                idle.add(cron.text)
                deliveries.late_warnings.append(
                    f"cron {cron.text!r} of {owner} went off, and there is no code to run: load the Worker with emu.worker()"
                )

        self.timeline.alarms.set(
            owner, [Alarm(owner, each.next_after_us, partial(ring, each)) for each in crons], self.account.now_us
        )

    def _shared_stores(self) -> Stores:
        """The KV namespaces and databases of the account, made when they are first asked for."""
        from emulator.workers.stores.shared import Stores

        if self.stores is None:
            self.stores = Stores(self.account.clock.now_us)
        return self.stores

    def forget(self) -> None:
        """Delete every queue, and everything in stores. Time goes on, and what has happened has happened."""
        for name in self.queues:
            self.delete_queue(name)
        if self.stores is not None:
            self.stores.clear()
        self.workers.clear()

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
        self.account.execute(commands.CreateQueue(name, delivery_delay, message_retention_period, jurisdiction))
        return self.queue(name)

    def queue(self, name: str) -> Queue:
        """The queue of that name. Raises Refused (11000) when there is none."""
        find(self.account.state, name)
        if name not in self._queues:
            self._queues[name] = Queue(name, self.account, self.default_content_type)
        return self._queues[name]

    @property
    def queues(self) -> list[str]:
        """The names of all queues, sorted."""
        return sorted(self.account.state.queues)

    def update_queue(
        self, name: str, *, delivery_delay: int | None = None, message_retention_period: int | None = None
    ) -> Queue:
        """Change a queue's settings (seconds). Raises Refused: 11000 or 100128."""
        self.account.execute(commands.ChangeQueue(name, delivery_delay, message_retention_period))
        return self.queue(name)

    def delete_queue(self, name: str) -> None:
        """Delete a queue with its messages. Raises Refused (11000) when there is none."""
        self.account.execute(commands.DeleteQueue(name))
        self._queues.pop(name, None)
        self.timeline.deliveries.detach(name)
        self._claimed.discard(name)

    @overload
    def consume(self, queue: str, handler: None = None, *, type: str = "worker", **settings: Any) -> Callable[[Any], Any]: ...
    @overload
    def consume(self, queue: str, handler: Any, *, type: str = "worker", **settings: Any) -> Any: ...
    def consume(self, queue: str, handler: Any = None, *, type: str = "worker", **settings: Any) -> Any:
        """Give a queue its consumer, in Wrangler's names: `max_batch_size`, `max_batch_timeout`, `max_retries`,
        `dead_letter_queue`, `retry_delay`, `max_concurrency`, `visibility_timeout_ms`.

        A function, a class or an object with `queue()`, or an endpoint's URL; left out, this is a decorator. `type="http_pull"`
        takes no handler.
        A dead-letter queue that is missing is created. Raises Refused: 11000, 11004 for a second consumer, 100127.
        """  # noqa: D205 - the first sentence needs two lines
        consumer = _changed(Consumer(type), settings)
        if type == "http_pull":
            if handler is not None:
                raise TypeError("an http_pull consumer takes no handler: messages are fetched with pull()")
            self._set_consumer(queue, consumer, attached=False)
            return None
        if handler is None:
            return lambda given: self.consume(queue, given, type=type, **settings)
        target = self._target(handler)
        self._set_consumer(queue, consumer, attached=True)
        self.timeline.deliveries.attach(queue, target)
        return handler

    def _target(self, handler: Any) -> Target:
        """Where batches go: to a Python handler on virtual time, or to the endpoint of a URL. Raises TypeError, ValueError."""
        if isinstance(handler, Attachable):
            return handler.target()
        if not (isinstance(handler, str) and "://" in handler):
            return PythonTarget(self.runtime, handler, self.env, waits=NO_WAIT_FLAG not in self.flags)
        from emulator.engine.targets.real_time import RealTime
        from emulator.engine.targets.url import URLTarget  # loads httpx

        if self._real_time is None:
            self._real_time = RealTime()
        return URLTarget(self._real_time, handler)

    def update_consumer(self, queue: str, **settings: Any) -> None:
        """Change some settings of a queue's consumer, in Wrangler's names; the others and the handler stay.

        A batch that is out ends under the settings with which it left. Raises Refused: 11000, 100127; ValueError where there is
        no consumer, TypeError for an unknown setting.
        """
        known = find(self.account.state, queue)
        if known.consumer is None:
            message = f"queue {queue!r} has no consumer to change: give it one with consume()"
            raise ValueError(message)
        consumer = _changed(known.consumer, settings)
        self.account.execute(commands.SetConsumer(queue, consumer, known.attached, replace=True))

    def _set_consumer(self, queue: str, consumer: Consumer, *, attached: bool) -> None:
        """A consumer may be set anew if a journal remembers it or while it waits for its handler; else it is the second."""
        known = self.account.state.queues.get(queue)
        waits = known is not None and lacks_handler(known) and attached
        self.account.execute(commands.SetConsumer(queue, consumer, attached, replace=waits or queue not in self._claimed))
        self._claimed.add(queue)

    def attach(self, handler: Any, queue: str | None = None) -> Any:
        """Give a configured consumer its handler; without a queue, every consumer that has none. Returns the handler."""
        target = self._target(handler)
        state = self.account.state
        names = [queue] if queue is not None else [n for n, q in sorted(state.queues.items()) if lacks_handler(q)]
        if not names:
            raise ValueError("no consumer waits for a handler")
        for name in names:
            known = find(state, name)
            if known.consumer is None or known.consumer.type != "worker":
                message = f"queue {name!r} has no push consumer to attach a handler to: use consume()"
                raise ValueError(message)
            self.timeline.deliveries.attach(name, target)
            self._claimed.add(name)
            self.account.execute(commands.Attach(name))
        return handler

    def remove_consumer(self, queue: str) -> None:
        """Take a queue's consumer away; the queue goes on storing. Raises Refused (11000)."""
        self.account.execute(commands.RemoveConsumer(queue))
        self.timeline.deliveries.detach(queue)

    def redrive(self, queue: str, to: str | None = None, *, limit: int | None = None) -> Redriven:
        """Send dead letters again, each to the queue that it came from, or all that waits there to `to`; attempts start anew.

        Gives `.moved` and `.left`: what a consumer has in hand stays, and what came from nowhere that is known. Raises Refused:
        11000, and what a sendBatch() to the target raises (10250 after 5,000 messages in a second); what was moved, is moved.
        """
        if to == queue:
            message = f"the messages of {queue!r} are there already: redrive() takes another queue"
            raise ValueError(message)
        done = redrive(self.account, queue, self.account.ledger.origins, to, limit)
        if done.error is not None:
            raise done.error
        return done

    # --- time

    @property
    def now(self) -> datetime:
        """The virtual time: an aware datetime in UTC."""
        return moment(self.account.now_us)

    def advance(self, span: float | timedelta = 0) -> None:
        """Let time pass (seconds or timedelta). Everything due up to the new moment happens, in order, each at its own moment.

        Raises ValueError for a negative span, RuntimeError inside a handler; with `strict`, a handler's error.
        """
        if self._closed:
            raise RuntimeError(_CLOSED)
        self.timeline.advance(span)

    def advance_to(self, when: datetime | str) -> None:
        """Let time pass up to a moment (datetime or ISO text), as `advance` does. Raises ValueError for one that is over."""
        self.advance(moment(moment_us(when)) - self.now)

    def run_until_idle(self) -> None:
        """Let time pass until no batch is due and no handler runs. Leases and retention alone do not move the clock.

        Raises RuntimeError inside a handler, and when there is no end: queues that feed each other, a message sent by its own
        handler; with `strict`, a handler's error.
        """
        if self._closed:
            raise RuntimeError(_CLOSED)
        self.timeline.run_until_idle()

    # --- what has happened

    @property
    def events(self) -> list[Event]:
        """Everything that has happened, in order."""
        return list(self.account.events())

    @property
    def deliveries(self) -> list[Delivery]:
        """Every batch that a push consumer received: (at, queue, messages, outcome, error).

        A list of your own; bodies are decoded once and shared by all deliveries and fates that are told.
        """
        return self.account.ledger.records.deliveries()

    @property
    def fates(self) -> list[Fate]:
        """What became of each message in each queue that it entered, in order of entry; bodies are shared as in deliveries."""
        return self.account.ledger.records.fates()

    @property
    def errors(self) -> list[BaseException]:
        """The errors of handlers, oldest first."""
        return [failure.error for failure in self.timeline.deliveries.failures]

    def trace(self, message_id: str | None = None) -> Trace:
        """The timeline of a message (its id, or the start of it), or of all: lines (at, queue, id, attempt, what); `to_json()`.

        `ends` (and `end`, of the one message) tell the state that it reached, who owns it there, and the four layers.
        """
        return Trace(self.account.ledger, message_id)

    def report(self) -> Report:
        """Counts for each queue, each message's state and owner, warnings, errors; prints as tables; `to_json()`."""
        consoles = {f"{each!r} ({number})" if number else repr(each): each.console for number, each in enumerate(self.workers)}
        return Report(self.account, self.timeline.deliveries, self.now, consoles)

    # --- the end

    def close(self) -> None:
        """End running handlers, remember the time, let go of the journal. Closing twice does nothing."""
        if self._closed:
            return
        if self.timeline.inside_handler:
            raise RuntimeError("close() was called by a handler: an emulator is closed by the test")
        self._closed = True
        self.timeline.deliveries.close()
        self.account.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Emulator plan={self.plan} now={self.now.isoformat()} queues={len(self.account.state.queues)}>"


def _changed(consumer: Consumer, settings: dict[str, Any]) -> Consumer:
    """A consumer with other settings. Raises TypeError for one that no consumer has."""
    for name in settings:
        if name not in _SETTINGS:
            raise TypeError(unknown("unknown setting", name, _SETTINGS))
    if settings.get("dead_letter_queue") == "":
        settings["dead_letter_queue"] = None
    return consumer._replace(**settings)


_CLOSED = "the emulator is closed"
_SETTINGS = frozenset(Consumer._fields) - {"type"}
