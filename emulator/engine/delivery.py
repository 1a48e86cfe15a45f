"""Deliveries: batches that are out, who has them, what faults do to them, and how they end. The same for every target.

An invocation begins when a batch leaves and ends when its target says so; it has 15 minutes:
https://developers.cloudflare.com/queues/platform/limits/.
"""

from __future__ import annotations

import heapq
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from msgspec.structs import replace

from cfq_lint.facts import limits as cloudflare
from emulator.core.commands import Settle
from emulator.engine.clock import SECOND_US, moment
from emulator.engine.error_text import error_repr
from emulator.engine.faults import DIED, LIMIT, WorkerCrashed
from emulator.engine.journal import JournalUnwritable
from emulator.engine.metrics import Metrics
from emulator.engine.targets.batch import MessageBatch

if TYPE_CHECKING:
    from collections.abc import Callable, MutableSequence

    from emulator.core.events import Delivered
    from emulator.core.messages import Message
    from emulator.core.model import Flight
    from emulator.engine.account import Account

WALL_US = cloudflare.CONSUMER_WALL_SECONDS * SECOND_US
CRASHED = f"WorkerCrashed: {DIED}"
OVERLAPPED = "a fault gave the batch out again while its handler worked"

_TRACEBACKS_MAX = 1_000
"""Later errors are kept without their tracebacks, because these hold on to every message of their batch."""


class Target(Protocol):
    """Where the batches of a queue go."""

    name: str
    """Which of the faults' `targets` it is."""

    @property
    def runtime(self) -> Runtime:
        """What runs its handler."""

    def deliver(self, delivery: Delivery) -> Settle | None:
        """Give a batch to its handler. The settlement; None when it ends later, by `delivery.end`."""

    def cut(self, delivery: Delivery, error: BaseException) -> Settle:
        """End a delivery whose time is over, whatever its handler does."""


class Runtime(Protocol):
    """What runs handlers; several targets may share one."""

    def listen(self, on_end: Callable[[], None]) -> None:
        """Call something, on any thread, when a delivery has ended in real time."""

    def next_wake_us(self) -> int | None:
        """When a handler has something to do next, on the account's clock; None when none has."""

    def wake(self, now_us: int) -> None:
        """Run what handlers have to do at this moment."""

    @property
    def at_rest(self) -> bool:
        """Whether none of its code runs or waits for anything. False also where that cannot be seen."""

    @property
    def busy(self) -> bool:
        """Whether something that was promised beyond its batch has not ended."""

    @property
    def outside(self) -> int:
        """How many deliveries end in real time, those that have ended and were not taken among them."""

    @property
    def working(self) -> int:
        """How many of those have not ended."""

    def take(self) -> list[tuple[Delivery, Settle]]:
        """What has ended in real time since the last look."""

    def wait(self, seconds: float) -> None:
        """Wait so long, in real time, for something to end."""

    def close(self) -> None:
        """End everything."""


class Delivery:
    """One batch in the hands of its target."""

    __slots__ = (
        "_batch", "crashed", "cut_off", "deliveries", "ended", "error", "event", "flight", "metrics", "pointed", "target",
        "wall_us",
    )  # fmt: skip

    def __init__(self, deliveries: Deliveries, event: Delivered, target: Target) -> None:
        queue = deliveries.account.state.queues[event.queue]
        self.deliveries, self.event, self.target = deliveries, event, target
        self.flight: Flight = queue.flights[event.batch]
        self.metrics = Metrics(queue, remaining=True)
        self.wall_us = event.at_us + WALL_US
        self.crashed = self.cut_off = self.ended = self.pointed = False
        self.error: BaseException | None = None
        self._batch: MessageBatch | None = None

    @property
    def queue(self) -> str:
        """What the queue is called by those who consume it."""
        return self.deliveries.public(self.event.queue)

    @property
    def batch(self) -> MessageBatch:
        """The batch as a handler sees it."""
        if self._batch is None:
            account, late = self.deliveries.account, self.deliveries.late_warnings.append
            self._batch = MessageBatch(self.queue, self.flight.columns, self.metrics, account.limits, late)
        return self._batch

    @property
    def dead(self) -> bool:
        """Whether a fault has ended its handler."""
        return self.crashed or self.cut_off

    @property
    def active(self) -> bool:
        """Whether chance may have anything to say."""
        return self.deliveries.account.chance.active

    def messages(self) -> list[Message]:
        """Its messages one by one; none where its queue is gone meanwhile."""
        queue = self.deliveries.account.state.queues.get(self.event.queue)
        if self.flight.messages is None and queue is not None and self.event.batch in queue.flights:
            return queue.messages_of(self.flight)
        return self.flight.messages or []

    def choose(self, n: int, label: str, where: Any = None) -> int:
        """What chance says of this delivery; 0 where the fault does not act on its target."""
        account = self.deliveries.account
        chance = account.chance
        if not chance.active:
            return 0
        with account.lock:  # a handler may ask on a thread of its own
            return chance.choose(n, label, (self, where))

    def seconds(self, label: str, where: Any = None) -> int:
        """How much longer something takes."""
        chance = self.deliveries.account.chance
        return chance.seconds(label, (self, where)) if chance.active else 0

    def crash(self) -> None:
        """End the handler's process here. Raises WorkerCrashed."""
        self.crashed = True
        raise WorkerCrashed(DIED)

    def may_be_cut(self, where: Any = None) -> None:
        """Let a limit end the handler here, if it has acknowledged anything: else that is a crash. Raises WorkerCrashed."""
        if self.batch.acknowledges and self.choose(2, "cut_off", where):
            self.cut_off = True
            self.batch.hear_no_more()
            raise WorkerCrashed(LIMIT)

    def fail(self, error: BaseException) -> None:
        """Remember the first error; it decides the outcome."""
        if self.error is None:
            self.error = error

    def settlement(self, outcome: str, error: str | None = None) -> Settle:
        """What the handler's calls and its end ask for; nothing that it said where its process is dead."""
        event = self.event
        if self.crashed:
            self.batch.settlement(event.batch, outcome, error)  # what is said from now on is too late
            return Settle(event.queue, event.batch, "exception", CRASHED)
        settle = self.batch.settlement(event.batch, "exceededCpu" if self.cut_off else outcome, error)
        return settle if settle.queue == event.queue else replace(settle, queue=event.queue)

    def end(self, settle: Settle) -> None:
        """The target has come to an end, after `deliver` returned None."""
        self.deliveries.end(self, settle)


class Failure:
    """A handler's error: when, on which queue and batch (0: it was no batch's), and the exception itself."""

    __slots__ = ("at", "batch", "error", "queue", "raised")

    def __init__(self, at_us: int, queue: str, batch: int, error: BaseException) -> None:
        self.at, self.queue, self.batch, self.error = moment(at_us), queue, batch, error
        self.raised = issubclass(type(error), WorkerCrashed)  # a fault is no mistake of the handler for a strict test to raise

    @property
    def where(self) -> str:
        """The queue and the batch, for people."""
        return f"{self.queue} batch {self.batch}" if self.batch else self.queue

    def __repr__(self) -> str:
        return f"Failure(at={self.at.isoformat()}, queue={self.queue!r}, batch={self.batch}, error={error_repr(self.error)})"


class Deliveries:
    """Gives batches to targets and settles them. `public` tells what a queue is called by those who consume it.

    `on_end` is called, on any thread, when something has ended in real time. `failures` are the errors of handlers, oldest
    first; `late_warnings` those of calls after the end of their batch.
    """

    def __init__(self, account: Account) -> None:
        self.account = account
        self.public: Callable[[str], str] = str
        self.on_end: Callable[[], None] = lambda: None
        self.targets: dict[str, Target] = {}
        self.runtimes: list[Runtime] = []
        self.failures: MutableSequence[Failure] = []
        self.late_warnings: MutableSequence[str] = []
        self.interrupt: BaseException | None = None
        """Ctrl-C in a handler: it stops the test, after the batch has been settled."""
        self.out: dict[int, Delivery] = {}
        self._walls: list[tuple[int, int, Delivery]] = []
        self._held: list[tuple[int, int, Delivery, Settle]] = []
        self._unkept: list[tuple[Delivery, Settle]] = []

    def remember(self, most: int) -> None:
        """Keep the last errors and warnings alone, so many of each: for who runs for weeks and reads them elsewhere."""
        self.failures, self.late_warnings = deque(self.failures, most), deque(self.late_warnings, most)

    def attach(self, queue: str, target: Target) -> None:
        """Give a queue its target."""
        self.targets[queue] = target
        self.add(target.runtime)

    def add(self, runtime: Runtime) -> None:
        """Let what runs there go on as time moves."""
        if not any(known is runtime for known in self.runtimes):
            self.runtimes.append(runtime)
            runtime.listen(self._on_end)

    def remove(self, runtime: Runtime) -> None:
        """End what runs there; it goes on no more."""
        if runtime in self.runtimes:
            self.runtimes.remove(runtime)
            runtime.close()

    def _on_end(self) -> None:
        self.on_end()

    def detach(self, queue: str) -> None:
        """Take a queue's target away; what is out may still end."""
        self.targets.pop(queue, None)

    def start(self, event: Delivered) -> None:
        """Give a batch to its target; it may have ended when this returns."""
        target = self.targets[event.queue]
        delivery = Delivery(self, event, target)
        if self.account.chance.active and delivery.choose(2, "overlaps"):
            again = Settle(event.queue, event.batch, "canceled", OVERLAPPED, retry_all=True, retry_all_delay_seconds=0)
            self.account.execute(again)
        settle = target.deliver(delivery)
        if settle is not None:
            self.end(delivery, settle)
        elif not delivery.ended:
            self.out[event.batch] = delivery
            heapq.heappush(self._walls, (delivery.wall_us, event.batch, delivery))

    def end(self, delivery: Delivery, settle: Settle) -> None:
        """A target has come to an end: settle, or hold it up if a fault makes it slow."""
        delivery.ended = True
        if self.account.chance.active and settle.outcome != "exceededWallTime":
            if not delivery.dead and delivery.choose(2, "crashes_at_end"):
                delivery.crashed = True
                delivery.error = WorkerCrashed(DIED)
                settle = Settle(settle.queue, settle.batch, "exception", CRASHED)
            extra_seconds = delivery.seconds("slow")
            if extra_seconds:
                until_us = self.account.now_us + extra_seconds * SECOND_US
                self.out[settle.batch] = delivery
                heapq.heappush(self._held, (min(until_us, delivery.wall_us), settle.batch, delivery, settle))
                return
        self._settle(delivery, settle)

    def _settle(self, delivery: Delivery, settle: Settle) -> None:
        chance, error = self.account.chance, delivery.error
        if chance.active:
            settle = self._with_losses(delivery, settle)
        self.account.execute(settle)
        self.out.pop(settle.batch, None)
        if error is not None:
            if issubclass(type(error), KeyboardInterrupt):  # asked of the type: a hostile error may answer anything
                self.interrupt = error
            self.failures.append(Failure(self.account.state.now_us, settle.queue, settle.batch, error))
            if len(self.failures) > _TRACEBACKS_MAX:
                for name in ("__traceback__", "__context__"):
                    BaseException.__setattr__(error, name, None)

    def _with_losses(self, delivery: Delivery, settle: Settle) -> Settle:
        """By a fault: acknowledgements that get lost, so that a message comes again, at once or later."""
        chance, lost, later = self.account.chance, set[str](), list[tuple[str, int | None]]()
        retried = {id for id, _ in settle.retries}
        everything = settle.ack_all or (settle.outcome == "ok" and not settle.retry_all)
        with self.account.lock:
            for message in delivery.messages():
                if message.id in retried or not (everything or message.id in settle.acks):
                    continue
                seconds = chance.again_seconds(message, delivery.flight.consumer)
                if seconds:
                    later.append((message.id, seconds))
                elif seconds is not None:
                    lost.add(message.id)
        return replace(settle, lost=frozenset(lost), retries=(*settle.retries, *later))

    # --- time

    @property
    def busy(self) -> bool:
        """Whether a delivery, or a promise that outlives its batch, has not ended. What floats beyond that does not count."""
        return bool(self.out) or any(runtime.busy for runtime in self.runtimes)

    @property
    def at_rest(self) -> bool:
        """Whether nothing runs, floats or waits for a timer, as far as that can be seen."""
        return not self.out and all(runtime.at_rest for runtime in self.runtimes)

    @property
    def outside(self) -> int:
        """How many deliveries end in real time."""
        count = len(self._unkept)
        for runtime in self.runtimes:
            count += runtime.outside
        return count

    @property
    def working(self) -> int:
        """How many of those have not ended."""
        return sum(runtime.working for runtime in self.runtimes)

    def next_wake_us(self) -> int | None:
        """When something has to be done next on the account's clock; None when nothing has."""
        earliest_us: int | None = None
        while self._walls and self._walls[0][2].ended:
            heapq.heappop(self._walls)
        if self._walls:
            earliest_us = self._walls[0][0]
        if self._held and (earliest_us is None or self._held[0][0] < earliest_us):
            earliest_us = self._held[0][0]
        for runtime in self.runtimes:
            wake_us = runtime.next_wake_us()
            if wake_us is not None and (earliest_us is None or wake_us < earliest_us):
                earliest_us = wake_us
        return earliest_us

    def wake(self, now_us: int) -> None:
        """Do what is due: let handlers go on, settle what was held up, end what has had its time."""
        for runtime in self.runtimes:
            runtime.wake(now_us)
        while self._held and self._held[0][0] <= now_us:
            _, _, delivery, settle = heapq.heappop(self._held)
            self._settle(delivery, replace(settle, outcome="exceededWallTime") if now_us >= delivery.wall_us else settle)
        while self._walls and self._walls[0][0] <= now_us:
            delivery = heapq.heappop(self._walls)[2]
            if not delivery.ended:
                seconds = cloudflare.CONSUMER_WALL_SECONDS
                error = TimeoutError(f"the handler did not end within {seconds} seconds")
                delivery.fail(error)
                delivery.ended = True  # what it still does is no end
                self.end(delivery, delivery.target.cut(delivery, error))

    def take(self) -> None:
        """Settle what has ended in real time since the last look. Raises JournalUnwritable; what is left is taken again."""
        self._unkept += [each for runtime in self.runtimes for each in runtime.take()]
        while self._unkept:
            delivery, settle = self._unkept[0]
            try:
                if not delivery.ended:
                    self.end(delivery, settle)
            except JournalUnwritable:  # until it can be kept, the batch is out
                delivery.ended = False
                raise
            del self._unkept[0]

    def wait(self, seconds: float) -> None:
        """Wait so long, in real time, for something outside to end."""
        for runtime in self.runtimes:
            if runtime.working:
                runtime.wait(seconds)

    def close(self) -> None:
        """End everything; what was out has no outcome."""
        for delivery in self.out.values():
            delivery.ended = True
            delivery.batch.let_go()
        for runtime in self.runtimes:
            runtime.close()
