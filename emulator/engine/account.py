"""Account: the queues of one account behind one lock. The port that every face talks to; nobody reaches past it.

Store first, answer second. Whatever chance has to say of sends, pulls and acknowledgements is asked here, so that every face
has it: a test, the REST API, a Worker's binding.
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from emulator.core import commands, machine, refusals
from emulator.core.apply import apply
from emulator.core.decide.consume import waiting
from emulator.core.decide.manage import find
from emulator.core.decide.pull import holder
from emulator.core.events import LeasesExtended, LeasesSettled, Pulled
from emulator.core.limits import STRICT, Limits, fixed_retention_seconds, subrequests
from emulator.core.model import DEFAULT_CONSUMER, QueueState
from emulator.engine.allowance import Day, Second, writes
from emulator.engine.chance import Chance, FaultCount, Seeded, searched
from emulator.engine.faults import CALM, WINDOW_BATCHES, Faults
from emulator.engine.ids import Ids
from emulator.engine.journal import restore
from emulator.engine.ledger.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulator.core.events import Event
    from emulator.core.messages import Message
    from emulator.core.model import State
    from emulator.engine.clock import VirtualClock
    from emulator.engine.journal import Journal

_PATIENT = frozenset({commands.Send, commands.Deliver, commands.Settle})
"""Commands after which nothing can expire or lapse at once, so that the agenda can wait until somebody asks for it."""

_SNAPSHOT_EVENTS = 20_000
"""A snapshot is kept when so many events have followed the last one, or as many as messages are held, whichever is more:
so a restart replays no more, and writing snapshots costs no more than the events did."""


class Settled(NamedTuple):
    """What an acknowledgement of leases did. `warnings` tell, by lease id, what was ignored and why."""

    ack_count: int
    retry_count: int
    warnings: dict[str, str]


class Account:
    """One account: `state` is for reading, `execute` and what follows it for acting. All of it acts at the present moment.

    `clock` tells that moment and is moved by a timeline alone. `chance` decides what the world leaves open. `listeners` are
    told the events of each command. Raises JournalError for a journal that cannot be used.
    """

    def __init__(
        self,
        journal: Journal,
        clock: VirtualClock,
        *,
        plan: str = "paid",
        limits: Limits = STRICT,
        seed: int | None = None,
        faults: Faults = CALM,
    ) -> None:
        self.journal, self.clock, self.limits, self.plan, self.seed = journal, clock, limits, plan, seed
        self.state: State = restore(journal, plan)
        self.sequence = journal.length()
        if self.state.now_us > clock.now_us():
            clock.move_to(self.state.now_us)
        # What follows a restart must not repeat the ids that came before it.
        stream: int | str | None = seed if seed is None or not self.sequence else f"{seed}:{self.sequence}"
        self.ids = Ids(stream)
        self.chance: Chance = searched.get() or Seeded(faults, stream)
        self.listeners: list[Callable[[tuple[Event, ...]], None]] = []
        self.empty_pulls: dict[str, int] = {}
        """How many pulls found nothing, by queue: they are billed, and leave no event."""
        self.lock = RLock()
        per_day = limits.free_operations_per_day if plan == "free" else None
        self._day = None if per_day is None else Day(journal.read, per_day)
        self._pulls, self._acks = Second(), Second()
        self.calls_max = subrequests(plan, limits)
        """How many calls of bindings and other servers an invocation may make; None without a limit."""
        self._snapshot_at = self.sequence + _SNAPSHOT_EVENTS
        self._ledger: Ledger | None = None

    # --- reading

    @property
    def now_us(self) -> int:
        """The present moment, in microseconds since 1970."""
        return self.clock.now_us()

    def queue(self, name: str) -> QueueState:
        """A queue's state, for reading. Raises Refused (11000) when there is none."""
        return find(self.state, name)

    def events(self, after: int = 0) -> Iterator[Event]:
        """What has happened behind event number `after`, in order."""
        return self.journal.read(after)

    @property
    def ledger(self) -> Ledger:
        """What the journal tells of messages, up to now. Nothing is folded before somebody asks, and nothing twice."""
        with self.lock:
            if self._ledger is None:
                self._ledger = Ledger()
            if self._ledger.sequence < self.sequence:
                self._ledger.follow(self.journal.read(self._ledger.sequence))
            return self._ledger

    # --- acting

    def execute(self, command: commands.Command) -> tuple[Event, ...]:
        """Do what a command asks for, now, after everything that time has brought about by itself. Raises Refused."""
        with self.lock:
            state, now_us = self.state, self.clock.now_us()
            now_us = max(now_us, state.now_us)
            passive = state.passive
            if passive and passive[0][0] <= now_us:
                machine.run_passive(state, now_us, self._record)
            events = machine.decide(state, now_us, command, self.limits)
            if events:
                self._record(events)
                for event in events:
                    apply(state, event)
                if type(command) not in _PATIENT:
                    machine.refresh(state)  # what they write may be due at this very moment
                for listener in self.listeners:
                    listener(events)
            return events

    def run_passive(self, now_us: int) -> None:
        """Let messages expire and leases lapse, up to a moment."""
        with self.lock:
            machine.refresh(self.state)
            passive = self.state.passive
            if passive and passive[0][0] <= now_us:
                machine.run_passive(self.state, now_us, self._record)

    def _record(self, events: tuple[Event, ...]) -> None:
        self.journal.append(self.sequence, events)
        self.sequence += len(events)

    def send(
        self,
        queue: str,
        bodies: tuple[bytes, ...],
        content_types: tuple[str, ...],
        delays_seconds: tuple[int | None, ...],
        batch_delay_seconds: int | None = None,
        *,
        many: bool,
    ) -> tuple[str, ...]:
        """Store messages, all or none; their ids. `many`: it was sendBatch.

        Raises Refused: 10104, 10202 to 10206, 10250, 10251, 10253; by a fault 10250, or 15000 although they are stored.
        """
        chance = self.chance
        if self._day is not None:
            self._day.check(self.now_us, writes(bodies))
        if chance.active and chance.choose(2, "refused_sends"):
            raise refusals.QueueOverloaded
        ids = self.ids.take(len(bodies))
        command = commands.Send(queue, ids, bodies, content_types, delays_seconds, batch_delay_seconds, many)
        kept = chance.stored(command) if chance.searches else command
        if kept is not None:
            self.execute(kept)
        if chance.active and chance.choose(2, "lost_replies"):
            raise refusals.UnknownInternalError
        return ids

    def lease(self, queue: str, batch_size: int, visibility_timeout_ms: int | None = None) -> list[tuple[Message, str]]:
        """Lease up to `batch_size` messages that are ready: each as it is stored, with its lease id.

        Raises Refused: 11000, 409 where delivery is paused, 10206, 10207, 10250, 10253, and code 0 where there is no http_pull
        consumer.
        """
        messages, chance, now_us = self.queue(queue).messages, self.chance, self.now_us
        if self._day is not None:
            self._day.check(now_us, 1)
        if not self._pulls.fits(queue, now_us, batch_size, self.limits.throughput_per_second):
            self._check_pull(queue, now_us, batch_size)
        chosen: tuple[str, ...] = ()
        nonces = self.ids.take(min(batch_size, len(messages))) if batch_size > 0 else ()
        if nonces and chance.active:
            chosen = self._reordered(queue, batch_size)
            if chance.choose(2, "short_leases"):
                visibility_timeout_ms = 0
        events = self.execute(commands.Pull(queue, batch_size, nonces, visibility_timeout_ms, chosen))
        if not events:
            self.empty_pulls[queue] = self.empty_pulls.get(queue, 0) + 1
            if self._day is not None:
                self._day.used += 1
            return []
        (event,) = events
        assert isinstance(event, Pulled), "a pull yields what it pulled"
        self._pulls.count(queue, now_us, len(event.ids))
        return [(messages[id], lease) for id, lease in zip(event.ids, event.leases, strict=True)]

    def _check_pull(self, queue: str, now_us: int, batch_size: int) -> None:
        """Refuse a pull that would take more messages than may go through; an empty one takes none."""
        self.run_passive(now_us)
        ready = len(waiting(self.queue(queue), now_us, min(batch_size, len(self.queue(queue).messages))))
        if not self._pulls.fits(queue, now_us, ready, self.limits.throughput_per_second):
            raise refusals.QueueOverloaded

    def _reordered(self, queue: str, count: int) -> tuple[str, ...]:
        """By a fault: other messages than the first, or fewer. Empty for the ordinary course."""
        found = waiting(self.queue(queue), self.now_us, count * WINDOW_BATCHES)
        return tuple([message.id for message in self.chance.order(found, count)])

    def deliver(self, queue: str) -> tuple[Event, ...]:
        """Let the batch of a queue leave whose moment has come."""
        chosen: tuple[str, ...] = ()
        if self.chance.active:
            consumer = self.state.queues[queue].consumer
            chosen = self._reordered(queue, consumer.max_batch_size if consumer is not None else 1)
        return self.execute(commands.Deliver(queue, chosen))

    def ack(self, queue: str, acks: tuple[str, ...], retries: tuple[tuple[str, int | None], ...] = ()) -> Settled:
        """Settle leases: acknowledge some, retry others after a delay in seconds (None: the consumer's `retry_delay`).

        A late acknowledgement holds; a late retry is a warning, and so is a lease whose message is gone. Raises Refused:
        11000, 10203, 10250.
        """
        now_us, count = self.now_us, len(acks) + len(retries)
        if not self._acks.fits(queue, now_us, count, self.limits.throughput_per_second):
            raise refusals.QueueOverloaded
        self._acks.count(queue, now_us, count)
        lost = self._lost(queue, acks) if self.chance.active else frozenset()
        kept = tuple([lease for lease in acks if lease not in lost]) if lost else acks
        for event in self.execute(commands.Ack(queue, kept, retries)):
            if isinstance(event, LeasesSettled):
                failed = len(event.retried) + len(event.dead) + len(event.dropped) + len(event.expired)
                return Settled(len(event.acked) + len(lost), failed, dict(event.warnings))
        return Settled(len(lost), 0, {})

    def _lost(self, queue: str, leases: tuple[str, ...]) -> frozenset[str]:
        """By a fault: acknowledgements that are answered but not kept, so that the lease lapses and the message comes again."""
        state = self.queue(queue)
        consumer = state.consumer or DEFAULT_CONSUMER
        held = ((lease, holder(state, lease)) for lease in leases)
        living = [lease for lease, m in held if m is not None and m.attempts <= consumer.max_retries]
        return frozenset(lease for lease in living if self.chance.choose(2, "duplicates"))

    def extend(self, queue: str, leases: tuple[str, ...], visibility_timeout_ms: int | None = None) -> dict[str, str]:
        """Prolong leases from now on; attempts stay. The new lease id for each old one that still held."""
        command = commands.Extend(queue, leases, self.ids.take(len(leases)), visibility_timeout_ms)
        for event in self.execute(command):
            if isinstance(event, LeasesExtended):
                old = {lease.partition(".")[0]: lease for lease in leases}
                return {old[id]: lease for id, lease in zip(event.ids, event.leases, strict=True)}
        return {}

    def peek(self, queue: str, count: int) -> list[Message]:
        """The first messages that are ready, without a lease or an attempt."""
        return waiting(self.queue(queue), self.now_us, count)

    def use_faults(self, faults: Faults) -> None:
        """Other chances of faults from now on."""
        chance = self.chance
        if isinstance(chance, Seeded):
            chance.faults = faults
        elif not chance.searches:
            self.chance = Seeded(faults, self.seed)

    @property
    def faults(self) -> Faults:
        """The chances of faults."""
        return self.chance.faults if isinstance(self.chance, Seeded) else CALM

    @property
    def fault_counts(self) -> list[FaultCount]:
        """Which faults are switched on or have acted, and how often."""
        counts = [FaultCount(name, getattr(self.faults, name), acted) for name, acted in self.chance.drawn.items()]
        return [each for each in counts if each.chance or each.acted]

    # --- keeping

    def follow(self) -> tuple[Event, ...]:
        """Take over what another writer has appended meanwhile; where the journal follows."""
        with self.lock:
            events = tuple(self.journal.read(self.sequence))
            for event in events:
                apply(self.state, event)
            self.sequence += len(events)
            if self.state.now_us > self.clock.now_us():
                self.clock.move_to(self.state.now_us)
            if events:
                for listener in self.listeners:
                    listener(events)
            return events

    def tidy(self) -> None:
        """Keep a snapshot if many events have come since the last one. Between two steps only."""
        if self.sequence < self._snapshot_at:
            return
        with self.lock:
            if self.sequence >= self._snapshot_at:
                self.journal.keep_snapshot(self.state)
                held = sum(queue.count for queue in self.state.queues.values())
                self._snapshot_at = self.sequence + max(_SNAPSHOT_EVENTS, held)

    def recover(self) -> None:
        """After a restart: batches that were out have failed with the process that had them, and no handler is there yet.

        A plan that fixes the retention does so from now on, also for queues that were made under another plan.
        """
        fixed = fixed_retention_seconds(self.state.plan, self.limits)
        for name, queue in list(self.state.queues.items()):
            if fixed not in {None, queue.config.message_retention_period}:
                self.execute(commands.ChangeQueue(name, message_retention_period=fixed))
            if queue.attached:
                self.execute(commands.Attach(name, attached=False))
            for batch in list(queue.flights):
                text = "the emulator stopped while the batch was out"
                self.execute(commands.Settle(name, batch, outcome="daemonDown", error=text))

    def close(self) -> None:
        """Remember the time and the state, unless that is another's business, and let go of the journal."""
        with self.lock:
            try:
                if not self.journal.follows:
                    self.execute(commands.StopClock())
                if self.sequence and not self.journal.follows:
                    self.journal.keep_snapshot(self.state)
            finally:
                self.journal.close()
