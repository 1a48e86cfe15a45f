"""Service: an emulator, its directory, who may do what, and the engine that moves time. Everything over HTTP works on one.

The only module of the package that reaches into an Emulator; the others ask it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from emulator.core.commands import Attach, SetConsumer
from emulator.core.model import Consumer
from emulator.engine.ids import Ids
from emulator.server.access import Access
from emulator.server.directory import Directory
from emulator.server.engine import Engine
from emulator.server.observe.logs import EventLog
from emulator.server.observe.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emulator import Emulator
    from emulator.core.events import Event
    from emulator.core.model import State
    from emulator.engine.account import Broker
    from emulator.engine.targets.outside import Outside
    from emulator.testing.queue import Queue


class Service:
    """One account over HTTP.

    `time` is "virtual", "real" or a speed such as "60x". `tokens` are `TOKEN` or `TOKEN:read`; none at all lets everybody in.
    `account_id` None answers for every account. `control` opens `/emulator/…`. `directory_path` is the SQLite file in which ids
    and dates are kept. `outside` are the consumers that run outside the core, by queue.
    """

    def __init__(
        self,
        emulator: Emulator,
        *,
        time: str = "virtual",
        tokens: Iterable[str] = (),
        account_id: str | None = None,
        control: bool = False,
        directory_path: str | None = None,
        outside: dict[str, Outside] | None = None,
    ) -> None:
        self.emulator, self.account_id, self.control = emulator, account_id, control
        self.access = Access(tokens)
        self.broker: Broker = emulator._broker  # noqa: SLF001 - the emulator's other face
        self.dice = emulator._dice  # noqa: SLF001 - as above
        seeded = emulator.seed is not None and directory_path is None
        self.directory = Directory(Ids(f"rest:{emulator.seed}" if seeded else None), directory_path)
        self.directory.reconcile(self.state)
        self.broker.listeners.append(self.directory.hear)
        self.engine = Engine(emulator, time, outside or {})
        for each in self.engine.outside.values():
            each.public = self.directory.public
        self.watch = Watch(self.broker)
        self.watch.tell(EventLog(self.directory.public).tell)
        self.stopping = False

    @property
    def state(self) -> State:
        """The core's state; for reading only."""
        return self.broker.state

    @property
    def now_us(self) -> int:
        """The present moment."""
        return self.broker.clock.now_us()

    def queue(self, core: str) -> Queue:
        """The face of a queue, by its core name."""
        return self.emulator.queue(core)

    def execute(self, command: Any) -> tuple[Event, ...]:
        """Do what a command asks for. Raises Refused."""
        return self.broker.execute(command)

    def attach_outside(self) -> None:
        """Give the consumers outside their queues; a queue that has none gets a consumer with the defaults."""
        for name in self.engine.outside:
            consumer = self.state.queues[name].consumer
            if consumer is None:
                self.execute(SetConsumer(name, Consumer(), attached=True))
                row = self.directory.by_core[name]
                self.directory.save(row, consumer=self.directory.new_consumer(self.now_us, name))
            elif consumer.type == "worker":
                self.execute(Attach(name))

    def close(self) -> None:
        """Let go of everything."""
        self.emulator.close()
        self.directory.close()
