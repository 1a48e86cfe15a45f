"""The exact run: the emulator itself on virtual time, one message after the other, with a modelled handler.

The journal counts what it is given and forgets it, so that a long run needs no more memory than its backlog.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from heapq import merge
from typing import TYPE_CHECKING, Any

from emulator.core import events as happened
from emulator.core.limits import SECOND_US, STRICT
from emulator.core.refusals import QueueOverloaded
from emulator.engine.clock import moment_us
from emulator.engine.ledger.ledger import Ledger
from emulator.engine.ledger.steps import ENDS, ENTRIES, Kind
from emulator.simulate.failure_pattern import draws
from emulator.simulate.scenario import BATCH, Scenario, Setting, in_outage
from emulator.simulate.tally import Tally, Watcher, edges
from emulator.testing.emulator import START, Emulator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emulator.core.model import State
    from emulator.engine.ledger.steps import Step
    from emulator.engine.ledger.tally import QueueCounts
    from emulator.simulate.sources import Source

ORIGIN_US = moment_us(START)


class Failing(Exception):  # noqa: N818 - what the modelled handler is
    """The modelled consumer has failed."""


class _Plan:
    """What the modelled consumer will make of a batch that has just left."""

    __slots__ = ("attempts", "failing", "out", "over", "took_us")

    def __init__(self, took_us: int, out: bool, over: bool, failing: frozenset[int], attempts: tuple[int, ...]) -> None:
        self.took_us, self.out, self.over, self.failing, self.attempts = took_us, out, over, failing, attempts


class _Desk:
    """What is seen of one queue beside its counts; it also tells the handler how the next batch ends."""

    def __init__(self, scenario: Scenario, setting: Setting, counts: Callable[[str], QueueCounts]) -> None:
        self.scenario, self.load, self.setting, self.counts = scenario, scenario.load, setting, counts
        self.outages = scenario.outages(setting)
        self.draws = draws(scenario.share(setting), scenario.load.seed, setting.name)
        self.tally = Tally(setting.name)
        self.size = setting.consumer.max_batch_size if setting.consumer is not None else 1
        self.retries_max = setting.consumer.max_retries if setting.consumer is not None else 0
        self.watcher = Watcher(self.outages, self.size if setting.consumer is not None else 10)
        self.living: dict[str, int] = {}
        self.out: dict[int, _Plan] = {}
        self.next: _Plan | None = None
        self.ordinal = 0

    def take(self, at_us: int, step: Step) -> None:
        """A step of messages: they arrive, are delivered, or leave."""
        if step.kind in ENTRIES:
            self.living.update(dict.fromkeys(step.ids, at_us))
        elif step.kind is Kind.DELIVERED:
            self._delivered(at_us, step)
        elif step.kind in ENDS:
            for id in step.ids:
                self.tally.oldest_peak_us = max(self.tally.oldest_peak_us, at_us - self.living.pop(id))

    def _delivered(self, at_us: int, step: Step) -> None:
        tally, count = self.tally, len(step.ids)
        tally.batches += 1
        for attempts in step.values:
            tally.by_attempt[attempts] = tally.by_attempt.get(attempts, 0) + 1
        took_us, over = self.scenario.invocation_us(self.setting, count)
        out = in_outage(self.outages, at_us)
        failing = frozenset(range(count) if out or over else self.draws.failing(self.ordinal, count))
        self.ordinal += count
        tally.outage_delivered += count if out else 0
        assert step.batch is not None, "a delivery is of a batch"
        self.next = self.out[step.batch] = _Plan(took_us, out, over, failing, step.values)
        tally.busy_max = max(tally.busy_max, len(self.out))

    def settled(self, event: happened.Settled) -> None:
        """A batch ends; its messages are where they were."""
        tally, plan = self.tally, self.out.pop(event.batch)
        tally.backlog_peak = max(tally.backlog_peak, len(self.living))
        tally.failed_batches += event.outcome != "ok"
        if event.outcome != "ok" and not plan.out and not plan.over:
            again = [k for k, attempts in enumerate(plan.attempts) if attempts <= self.retries_max]
            tally.duplicates += sum(1 for k in again if k not in plan.failing)
        if plan.out:
            tally.outage_lost += len(event.dead) + len(event.dropped)
        if event.scale is not None:
            tally.slots_max = max(tally.slots_max, event.scale[0])

    def row(self, at_us: int) -> None:
        """Keep a row of what is counted now."""
        self.count()
        oldest_us = at_us - next(iter(self.living.values()), at_us)
        self.tally.keep(at_us, len(self.living), oldest_us)
        self.watcher.edge(at_us, len(self.living))
        self.watcher.see(at_us, len(self.living))

    def count(self) -> None:
        """Take over what the ledger has counted."""
        counts = self.counts(self.setting.name)
        self.tally.sent = counts.sent + counts.received
        for flow in ("delivered", "acked", "retried", "dead_lettered", "dropped", "expired"):
            setattr(self.tally, flow, getattr(counts, flow))


class Counting:
    """A journal that counts and forgets."""

    follows = False

    def __init__(self, scenario: Scenario) -> None:
        self.ledger, self._length = Ledger(keeps=False), 0
        self.desks = {setting.name: _Desk(scenario, setting, self._counts) for setting in scenario.queues}

    def _counts(self, queue: str) -> QueueCounts:
        return self.ledger.tally(queue).counts(queue)

    def length(self) -> int:
        """How many events there were."""
        return self._length

    def append(self, expected: int, events: Iterable[happened.Event]) -> None:
        """Count events."""
        for event in events:
            at_us = event.at_us - ORIGIN_US
            if isinstance(event, happened.Settled):
                self.desks[event.queue].settled(event)
            for step in self.ledger.take(event):
                self.desks[step.queue].take(at_us, step)
            if isinstance(event, happened.Settled | happened.Expired):
                desk = self.desks[event.queue]
                if desk.watcher.waiting:
                    desk.watcher.see(at_us, len(desk.living))
            expected += 1
        self._length = expected

    def read(self, after: int = 0) -> Iterator[happened.Event]:
        """Nothing: it is forgotten."""
        del after
        return iter(())

    def snapshot(self) -> None:
        """There is none."""

    def keep_snapshot(self, state: State) -> None:
        """Nothing is kept."""

    def close(self) -> None:
        """Nothing to let go of."""


def _handler(desk: _Desk) -> Callable[[Any], Any]:
    """The modelled consumer of a queue: takes its time, then fails or not, as the desk has planned."""
    whole = desk.load.mode == BATCH

    async def handle(batch: Any) -> None:
        plan = desk.next
        assert plan is not None, "a handler runs after its batch has left"
        await asyncio.sleep((plan.took_us + plan.over) / SECOND_US)
        if plan.failing and whole:
            raise Failing("a message has failed, and with it the batch")
        for k in plan.failing:
            batch.messages[k].retry()

    return handle


def run(scenario: Scenario, progress: Callable[[int], None] | None = None) -> list[Tally]:
    """Run a scenario on the emulator; a tally for each queue. `progress` hears of the moment reached."""
    load = scenario.load
    journal = Counting(scenario)
    desks = journal.desks
    limits = STRICT._replace(backlog_size_bytes=None)
    with Emulator(load.plan, load.seed, journal=journal, limits=limits) as emulator:
        for setting in scenario.queues:
            emulator.create_queue(
                setting.name, delivery_delay=setting.delivery_delay, message_retention_period=setting.message_retention_period
            )
        for setting in scenario.queues:
            if setting.consumer is not None:
                fields = {name: value for name, value in setting.consumer._asdict().items() if name != "type"}
                emulator.consume(setting.name, _handler(desks[setting.name]), **fields)
        _drive(scenario, emulator, desks, progress)
        end_us = moment_us(emulator.now) - ORIGIN_US
        for desk in desks.values():
            if desk.tally.rows[-1].at_us < end_us:
                desk.row(end_us)
            desk.count()
            desk.tally.end_us = end_us
            desk.tally.watches = desk.watcher.close()
    return [desk.tally for desk in desks.values()]


def _moments(source: Source, number: int) -> Iterator[tuple[int, int]]:
    """When a source's messages come, each with the source's number."""
    return ((source.time_us(each), number) for each in range(source.total))


def _drive(scenario: Scenario, emulator: Emulator, desks: dict[str, _Desk], progress: Callable[[int], None] | None) -> None:
    """Send what is sent, and let time pass."""
    load = scenario.load
    loaded = [setting for setting in scenario.queues if setting.loaded]
    doors = [(emulator.queue(setting.name), desks[setting.name]) for setting in loaded]
    moments = merge(*(_moments(scenario.source(setting), k) for k, setting in enumerate(loaded)))
    looks = edges(scenario)
    look = now_us = 0

    def until(at_us: int) -> None:
        nonlocal look, now_us
        while look < len(looks) and looks[look] <= at_us:
            emulator.advance(timedelta(microseconds=looks[look] - now_us))
            now_us = looks[look]
            look += 1
            for desk in desks.values():
                desk.row(now_us)
            if progress is not None:
                progress(now_us)
        emulator.advance(timedelta(microseconds=at_us - now_us))
        now_us = at_us

    for at_us, k in moments:
        until(at_us)
        queue, desk = doors[k]
        try:
            queue.send("", content_type="text")
        except QueueOverloaded:
            desk.tally.refused += 1
    until(load.duration_us)
    if load.drain:
        emulator.run_until_idle()
