"""Service: an emulator, its directory, who may do what, and the engine that moves time. Everything over HTTP works on one.

The others of the package ask it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.core.commands import Attach, SetConsumer
from emulator.core.model import Consumer
from emulator.engine.faults import CALM
from emulator.engine.ids import Ids
from emulator.server.access import Access
from emulator.server.directory import Directory
from emulator.server.observe.logs import EventLog
from emulator.server.observe.watch import Watch
from emulator.server.time import RunningTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from emulator.core.events import Event
    from emulator.core.model import State
    from emulator.engine.account import Account
    from emulator.engine.delivery import Target
    from emulator.engine.timeline import Timeline
    from emulator.server.directory import Store
    from emulator.server.workers import Workers
    from emulator.testing.emulator import Emulator

_ERRORS_MAX = 100
"""So many errors of handlers are kept with their batches; the journal has the text of all."""


class Forgotten(NamedTuple):
    """How many deliveries, fates and lines of the ledger are from before the last reset."""

    deliveries: int = 0
    fates: int = 0
    lines: int = 0


class Service:
    """One account over HTTP.

    `time` is "virtual", "real" or a speed such as "60x". `tokens` are `TOKEN` or `TOKEN:read`; none at all lets everybody in.
    `account_id` None answers for every account. `control` opens `/emulator/…`. `store` is where ids and dates
    are kept. `targets` are the consumers that it runs itself, by queue; `workers` the Workers. `running` makes what runs time.
    `watch` has watched the account so far. `role` says whether this node leads, of several.
    """

    def __init__(
        self,
        emulator: Emulator,
        *,
        time: str = "virtual",
        tokens: Iterable[str] = (),
        account_id: str | None = None,
        control: bool = False,
        store: Store | None = None,
        targets: Mapping[str, Target] | None = None,
        workers: Workers | None = None,
        running: Callable[[Timeline, str], RunningTime] = RunningTime,
        watch: Watch | None = None,
    ) -> None:
        self.emulator, self.account_id, self.control = emulator, account_id, control
        self.access = Access(tokens)
        self.account: Account = emulator.account
        self.targets = dict(targets or {})
        self.workers = workers
        self.forgotten = Forgotten()
        seeded = emulator.seed is not None and store is None
        self.directory = Directory(Ids(f"rest:{emulator.seed}" if seeded else None), store)
        self.directory.reconcile(self.state)
        if workers is not None:
            workers.introduce(self.directory, self.now_us)
        self.account.listeners.append(self.directory.hear)
        self.time = running(emulator.timeline, time)
        emulator.timeline.deliveries.public = self.directory.public
        emulator.timeline.deliveries.remember(_ERRORS_MAX)
        for name, target in self.targets.items():
            emulator.timeline.deliveries.attach(name, target)
        goes_on = watch is not None and watch.go_on(self.account, self.directory)
        self.watch = watch if watch is not None and goes_on else Watch(self.account, self.directory)
        if not self.account.journal.follows:  # else who leads tells of it
            self.watch.tell(EventLog(self.directory.public).tell)
        self.stopping = False
        self.role = ""

    @property
    def state(self) -> State:
        """The core's state; for reading only."""
        return self.account.state

    @property
    def now_us(self) -> int:
        """The present moment."""
        return self.account.now_us

    def execute(self, command: Any) -> tuple[Event, ...]:
        """Do what a command asks for. Raises Refused."""
        return self.account.execute(command)

    def handles(self, core: str) -> bool:
        """Whether a push consumer of that queue has somebody who runs it."""
        return core in self.emulator.timeline.deliveries.targets

    def attach_targets(self) -> None:
        """Give the targets their queues; a queue that has no consumer gets one with the defaults."""
        for name in self.targets:
            consumer = self.state.queues[name].consumer
            if consumer is None:
                self.execute(SetConsumer(name, Consumer(), attached=True))
                row = self.directory.by_core[name]
                self.directory.save(row, consumer=self.directory.new_consumer(self.now_us, name))
            elif consumer.type == "worker":
                self.execute(Attach(name))

    def reset(self) -> None:
        """Begin anew: no queue, no subscription, no fault, Workers as they were loaded first. Time goes on."""
        if self.workers is not None:
            self.workers.close()
        self.emulator.forget()
        self.account.use_faults(CALM)
        records = self.account.ledger.records
        self.forgotten = Forgotten(len(records.deliveries()), len(records.fates()), len(records.lines()))
        if self.workers is not None:
            self.workers.load()
            self.workers.introduce(self.directory, self.now_us)

    def close(self) -> None:
        """Let go of everything."""
        if self.workers is not None:
            self.workers.close()
        self.watch.save()
        self.emulator.close()
        self.directory.close()
