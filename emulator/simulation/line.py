"""One queue, batch by batch, with counts instead of messages: what the core decides, decided for lots of equal messages.

Fresh messages are known by their number in the source. What came back is kept in lots `[ready_from_us, ready_to_us, count,
first, last, attempts, standing]`: so many messages with numbers from `first` to before `last`, evenly; exact as long as `count`
is `last - first`. Order is the core's: (moment ready, entry). At one moment: expiries, batches that end, batches that leave,
edges, and then arrivals, with the batches that they fill; `after` says that the arrivals of `now_us` are there.
Longer than most modules, because every way of a message through a queue meets here.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any

from emulator.core.decide.consume import scaled
from emulator.core.limits import SECOND_US
from emulator.core.model import Consumer
from emulator.simulation.draws import draws
from emulator.simulation.scenario import BATCH, Scenario, Setting, in_outage, invocation_us
from emulator.simulation.sources import NEVER_US, DeadLetters, Source
from emulator.simulation.tally import FLOWS, Row, Tally, Watcher, edges

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.simulation.draws import Draws

Lot = list[Any]
Flight = tuple[int, int, list[Lot], int, bool, bool]
READY_FROM, READY_TO, COUNT, FIRST, LAST, ATTEMPTS, STANDING = range(7)

NOBODY = Consumer()
_PARTS = 64
_QUANTA = 64
"""Messages that come back within so small a part of their delay may come back together, once leaps are allowed."""
"""A lot that is spread over time becomes ready in no more than so many parts."""


class Line:
    """A queue and its consumer. `run` goes on for so many batches; `dead` has the lots that left for the dead-letter queue."""

    def __init__(self, scenario: Scenario, setting: Setting, source: Source, lifetime_us: int) -> None:
        load = scenario.load
        self.load, self.setting, self.source = load, setting, source
        consumer = setting.consumer or NOBODY
        self.consumer, self.size, self.consumed = consumer, consumer.max_batch_size, setting.consumer is not None
        self.timeout_us = round(consumer.max_batch_timeout * SECOND_US)
        self.delay_us = setting.delivery_delay * SECOND_US
        self.early = bool(self.delay_us) or isinstance(source, DeadLetters)
        self.again_us = consumer.retry_delay * SECOND_US
        self.lifetime_us = lifetime_us
        self.outages = scenario.outages(setting)
        self.draws: Draws = draws(scenario.share(setting), load.seed, setting.name)
        self.whole = load.mode == BATCH
        self.tally = Tally(setting.name)
        self.edges = deque(edges(load))
        self.watcher = Watcher(self.outages, self.size)
        self.end_us = load.duration_us if not load.drain else NEVER_US
        self.mortal = load.drain or lifetime_us <= load.duration_us
        self.dead: list[tuple[int, int, int]] = []
        self.now_us, self.after = 0, False
        self.head = self.ordinal = self.entries = 0
        self.ready: deque[Lot] = deque()
        self.ready_count = 0
        self.delayed: list[tuple[int, int, Lot]] = []
        self.flights: list[Flight] = []
        self.flying = 0
        self.dying: list[tuple[int, int, Lot]] = []
        self.slots, self.seen, self.permille = consumer.max_concurrency or 1, -1, 0
        self.low, self.scaled = 0, False
        self.sizes = [0] * (self.size + 1)
        self.quantum_us = -1
        self.open: dict[int, Lot] = {}

    def coarsen(self) -> None:
        """From now on let messages that come back at about the same time come back together: see `joined`."""
        self.quantum_us = max(self.again_us // _QUANTA, invocation_us(self.load, self.size)[0])

    # --- what stands in line

    def visible(self, at_us: int, after: bool) -> int:
        """How many fresh messages have ever been ready."""
        if self.delay_us:
            return self.source.until(at_us - self.delay_us)
        return self.source.until(at_us) if after else self.source.before(at_us)

    def promote(self, at_us: int) -> None:
        """Let what has waited for its delay stand in line; of a lot that is spread over time, the part that is due."""
        delayed = self.delayed
        while delayed and delayed[0][0] <= at_us:
            _, entry, lot = heappop(delayed)
            count = lot[COUNT]
            if not count:
                continue
            if lot[READY_TO] > at_us:
                span_us = lot[READY_TO] - lot[READY_FROM]
                part = max(1, count // _PARTS, (at_us - lot[READY_FROM]) * count // span_us)
                if part < count:
                    rest = split(lot, part)
                    rest[READY_FROM] = max(at_us + 1, rest[READY_FROM])
                    heappush(delayed, (rest[READY_FROM], entry, rest))
                    if self.mortal:
                        self.enter_mortal(rest)
                    count = part
            lot[STANDING] = True
            self.ready.append(lot)
            self.ready_count += count

    def backlog(self) -> int:
        """Messages in the queue: waiting, delayed, and out for delivery. Arrivals of this moment count once they are there."""
        return (self.source.until if self.after else self.source.before)(self.now_us) - self.tally.gone

    def oldest_us(self) -> int:
        """When the oldest message in the queue arrived; NEVER_US when there is none."""
        first = self.head if self.head < self.source.before(self.now_us) else NEVER_US
        first = min(
            first,
            min((lot[FIRST] for lot in self.ready if lot[COUNT]), default=NEVER_US),
            min((lot[FIRST] for _, _, lot in self.delayed if lot[COUNT]), default=NEVER_US),
            min((lot[FIRST] for flight in self.flights for lot in flight[2]), default=NEVER_US),
        )
        return NEVER_US if first == NEVER_US else self.source.time_us(first)

    def late_us(self) -> int:
        """For how long the first in line has been ready."""
        fronts = [self.source.time_us(self.head) + self.delay_us, self.now_us]
        fronts += [lot[READY_FROM] for lot in self.ready if lot[COUNT]]
        return self.now_us - min(fronts)

    # --- time

    def run(self, batches: int) -> bool:
        """Go on until so many batches have left; False when there is nothing more to do before the end."""
        left = batches
        while True:
            depart_us, after = self.departure()
            settle_us = self.flights[0][0] if self.flights else NEVER_US
            when_us = min(depart_us, settle_us)
            if self.mortal and (dies_us := self.dies_us()) <= when_us and dies_us <= self._last_us(when_us):
                self.pass_edges(dies_us, False)
                self.expire(dies_us)
                continue
            if self.edges and self.edges[0] <= when_us:
                self.pass_edges(when_us, settle_us > when_us and after)
            if when_us > self.end_us or when_us == NEVER_US:
                return False
            if settle_us <= depart_us:
                self.now_us, self.after = settle_us, False
                while self.flights and self.flights[0][0] <= settle_us:
                    self.settle(heappop(self.flights))
                continue
            self.now_us, self.after = depart_us, after
            self.depart()
            left -= 1
            if not left:
                return True

    def _last_us(self, when_us: int) -> int:
        """Until when retention counts: a run that drains ends when no batch is due any more."""
        return self.load.duration_us if self.end_us == NEVER_US and when_us == NEVER_US else self.end_us

    def departure(self) -> tuple[int, bool]:
        """When the next batch leaves if no batch ends before, and whether with the arrivals of that moment."""
        if not self.consumed or len(self.flights) >= self.slots:
            return NEVER_US, False
        now_us, after, source, size = self.now_us, self.after, self.source, self.size
        if self.delayed and self.delayed[0][0] <= now_us:
            self.promote(now_us)
        fresh = self.visible(now_us, after) - self.head
        standing = fresh + self.ready_count
        if standing >= size:
            return now_us, after
        first_us = source.time_us(self.head)
        if first_us != NEVER_US:
            first_us += self.delay_us
        oldest_us, comes = first_us, True
        while self.ready and not self.ready[0][COUNT]:
            self.ready.popleft()
        if self.ready and self.ready[0][READY_FROM] <= oldest_us:
            oldest_us, comes = self.ready[0][READY_FROM], False
        while self.delayed and not self.delayed[0][2][COUNT]:
            heappop(self.delayed)
        if not standing and self.delayed and self.delayed[0][0] <= oldest_us:
            oldest_us, comes = self.delayed[0][0], False
        if oldest_us == NEVER_US:
            return NEVER_US, False
        # a batch that waits for nobody leaves with the arrival that began it
        last_us, last_after = max(now_us, oldest_us + self.timeout_us), after and oldest_us + self.timeout_us <= now_us
        if comes and not standing and not self.timeout_us and not self.early:
            last_us, last_after = max(now_us, oldest_us), True
        missing = size - standing
        full_us = source.time_us(self.head + fresh + missing - 1)
        full_us = full_us if full_us == NEVER_US else full_us + self.delay_us
        full_after = not self.early
        if self.delayed and self.delayed[0][0] <= min(last_us, full_us):
            full_us, full_after = self._full(self.head + fresh, missing, min(last_us, full_us))
        if full_us < last_us or (full_us == last_us and last_after):
            return max(full_us, now_us), full_after
        return last_us, last_after

    def _full(self, fresh: int, missing: int, until_us: int) -> tuple[int, bool]:
        """When the batch is full, as fresh messages and those that come back make it so; NEVER_US if not by then."""
        back: list[int] = []
        for lot in self._delayed_until(until_us):
            span_us, count = lot[READY_TO] - lot[READY_FROM], lot[COUNT]
            back += [lot[READY_FROM] + k * span_us // count for k in range(min(count, missing))]
            if len(back) >= missing:
                break
        back.sort()
        at = 0
        for _ in range(missing):
            fresh_us = self.source.time_us(fresh)
            fresh_us = fresh_us if fresh_us == NEVER_US else fresh_us + self.delay_us
            if at < len(back) and back[at] <= fresh_us:
                at, moment_us, comes = at + 1, back[at], False
            else:
                fresh, moment_us, comes = fresh + 1, fresh_us, not self.early
        return moment_us, comes

    def _delayed_until(self, until_us: int) -> Iterator[Lot]:
        """Lots that become ready up to a moment, in order, without disturbing the heap: walk down from its top."""
        heap = self.delayed
        edge = [(heap[0][:2], 0)]
        while edge:
            (ready_us, _), index = heappop(edge)
            if ready_us > until_us:
                return
            if heap[index][2][COUNT]:
                yield heap[index][2]
            for child in (2 * index + 1, 2 * index + 2):
                if child < len(heap):
                    heappush(edge, (heap[child][:2], child))

    # --- a batch leaves

    def depart(self) -> None:
        """Let a batch leave, with as many messages as are ready and fit."""
        now_us = self.now_us
        self.promote(now_us)
        fresh = self.visible(now_us, self.after) - self.head
        standing = fresh + self.ready_count
        count = min(standing, self.size)
        if self.seen < 0:
            self.seen = standing - count
        self.sizes[count] += 1
        self.low = min(self.low, standing - count)
        flight = self.launch(self.take(count, fresh), count)
        if flight[0] > now_us:
            heappush(self.flights, flight)
        else:
            self.settle(flight)

    def launch(self, lots: list[Lot], count: int) -> Flight:
        """Count a batch that leaves now."""
        now_us, tally = self.now_us, self.tally
        tally.delivered += count
        tally.batches += 1
        for lot in lots:
            lot[ATTEMPTS] += 1
            tally.by_attempt[lot[ATTEMPTS]] = tally.by_attempt.get(lot[ATTEMPTS], 0) + lot[COUNT]
        out = in_outage(self.outages, now_us) if self.outages else False
        if out:
            tally.outage_delivered += count
        took_us, over = invocation_us(self.load, count)
        self.entries += 1
        self.flying += count
        flight = (now_us + took_us, self.entries, lots, self.ordinal, out, over)
        self.ordinal += count
        return flight

    def take(self, count: int, fresh: int) -> list[Lot]:
        """The first so many, in order of (moment ready, entry)."""
        lots: list[Lot] = []
        source, delay_us = self.source, self.delay_us
        while count:
            if self.ready and not self.ready[0][COUNT]:
                self.ready.popleft()
                continue
            if not self.ready:
                part = count
            else:
                lot = self.ready[0]
                first_us = source.time_us(self.head) if fresh else NEVER_US
                ready_us = lot[READY_FROM]
                if first_us == NEVER_US or ready_us < first_us + delay_us or (
                    ready_us == first_us + delay_us and (not delay_us or ready_us - self.again_us <= first_us)
                ):  # fmt: skip
                    lots.append(self.cut_front(lot, min(count, lot[COUNT])))
                    count -= lots[-1][COUNT]
                    continue
                part = min(count, fresh, max(1, source.before(ready_us - delay_us) - self.head))
            lots.append([0, 0, part, self.head, self.head + part, 0, False])
            self.head += part
            fresh -= part
            count -= part
        return lots

    def cut_front(self, lot: Lot, count: int) -> Lot:
        """Take so many messages from the lot that stands first."""
        whole, first = lot[COUNT], lot[FIRST]
        if count == whole:
            self.ready.popleft()
            lot[COUNT] = 0
            last = lot[LAST]
        else:
            rest = split(lot, count)
            last = lot[LAST]
            lot[:ATTEMPTS] = rest[:ATTEMPTS]
        self.ready_count -= count
        return [0, 0, count, first, last, lot[ATTEMPTS], False]

    # --- a batch ends

    def settle(self, flight: Flight) -> None:
        """What becomes of each message of a batch."""
        _, _, lots, ordinal, out, over = flight
        tally, now_us = self.tally, self.now_us
        count = sum([lot[COUNT] for lot in lots])
        self.flying -= count
        standing = -1
        if not self.consumer.max_concurrency:
            self.promote(now_us)
            standing = self.visible(now_us, self.after) - self.head + self.ready_count
        bad = 0 if out or over else self.draws.count(ordinal, count)
        succeeded = not (over or (self.whole and (out or bad)))
        retried = tally.retried
        if out or over or (bad and self.whole):
            lost = tally.dead_lettered + tally.dropped
            if bad:
                self._count_innocent(lots, ordinal)
            for lot in lots:
                self._fail(lot)
            if out:
                tally.outage_lost += tally.dead_lettered + tally.dropped - lost
        elif bad:
            tally.acked += count - bad
            for lot in single(lots, self.draws.failing(ordinal, count)):
                self._fail(lot)
        else:
            tally.acked += count
        tally.failed_batches += not succeeded
        if standing >= 0:
            backlog = standing + tally.retried - retried
            known = (self.slots, max(self.seen, 0), self.permille)
            slots, self.seen, self.permille = scaled(known, backlog, self.size, succeeded=succeeded)
            if slots != self.slots:
                self.slots, self.scaled = slots, True
                tally.slots_max = max(tally.slots_max, slots)
        if self.watcher.waiting:
            self.watcher.see(now_us, self.backlog())

    def _count_innocent(self, lots: list[Lot], ordinal: int) -> None:
        """Messages that had succeeded themselves and will come again, because another one in their batch failed."""
        at = ordinal
        for lot in lots:
            if lot[ATTEMPTS] <= self.consumer.max_retries:
                self.tally.duplicates += lot[COUNT] - self.draws.count(at, lot[COUNT])
            at += lot[COUNT]

    def _fail(self, lot: Lot) -> None:
        """Expired if its time is over; else dead-lettered or dropped after the last attempt; else back after the delay."""
        now_us, tally = self.now_us, self.tally
        if self.mortal:
            gone = self._cut(lot, now_us)
            tally.expired += gone
            if not lot[COUNT]:
                return
        count = lot[COUNT]
        if lot[ATTEMPTS] > self.consumer.max_retries:
            if self.consumer.dead_letter_queue is None:
                tally.dropped += count
            else:
                tally.dead_lettered += count
                self.dead.append((now_us, now_us, count))
            return
        tally.retried += count
        self.enter([now_us + self.again_us, now_us + self.again_us, count, lot[FIRST], lot[LAST], lot[ATTEMPTS], False])

    def enter(self, lot: Lot) -> None:
        """Put a lot where it waits."""
        if self.quantum_us >= 0 and self.joined(lot):
            return
        if lot[READY_TO] <= self.now_us:
            lot[STANDING] = True
            self.ready.append(lot)
            self.ready_count += lot[COUNT]
        else:
            self.entries += 1
            heappush(self.delayed, (lot[READY_FROM], self.entries, lot))
        if self.mortal:
            self.enter_mortal(lot)

    def stand(self, lot: Lot) -> None:
        """Let a lot stand in line, whenever it is ready."""
        lot[STANDING] = True
        self.ready.append(lot)
        self.ready_count += lot[COUNT]
        if self.mortal:
            self.enter_mortal(lot)

    def wait(self, lot: Lot) -> None:
        """Let a lot wait until it is ready."""
        self.entries += 1
        heappush(self.delayed, (lot[READY_FROM], self.entries, lot))
        if self.mortal:
            self.enter_mortal(lot)

    def next_delayed(self, until_us: int) -> Lot | None:
        """Take out what becomes ready first, if that is before a moment."""
        while self.delayed and self.delayed[0][0] < until_us:
            lot = heappop(self.delayed)[2]
            if lot[COUNT]:
                return lot
        return None

    def joined(self, lot: Lot) -> bool:
        """Add a lot to the last one with the same number of attempts, if that is still open and became ready just before."""
        attempts = lot[ATTEMPTS]
        there = self.open.get(attempts)
        at_once = lot[READY_TO] <= self.now_us
        fits = there is not None and there[COUNT] and 0 <= lot[READY_FROM] - there[READY_FROM] <= self.quantum_us
        if there is None or not fits or (there is not self.ready[-1] if at_once and self.ready else there[STANDING] or at_once):
            self.open[attempts] = lot
            return False
        there[READY_TO] = max(there[READY_TO], lot[READY_TO])
        there[COUNT] += lot[COUNT]
        there[LAST] = max(there[LAST], lot[LAST])
        if lot[FIRST] < there[FIRST]:
            there[FIRST] = lot[FIRST]
            if self.mortal:
                self.enter_mortal(there)
        if at_once:
            self.ready_count += lot[COUNT]
        return True

    # --- retention

    def enter_mortal(self, lot: Lot) -> None:
        """Remember when the first of a lot reaches its retention."""
        self.entries += 1
        heappush(self.dying, (self.source.time_us(lot[FIRST]) + self.lifetime_us, self.entries, lot))

    def _cut(self, lot: Lot, at_us: int) -> int:
        """Take from a lot what has reached its retention; how many."""
        limit = self.source.until(at_us - self.lifetime_us)
        if lot[FIRST] >= limit:
            return 0
        count, width = lot[COUNT], lot[LAST] - lot[FIRST]
        gone: int = count if lot[LAST] <= limit else max(1, (limit - lot[FIRST]) * count // width)
        if gone == count:
            lot[COUNT] = 0
        else:
            lot[:6] = split(lot, gone)[:6]
        return gone

    def dies_us(self) -> int:
        """When the next waiting message reaches its retention."""
        first_us = self.source.time_us(self.head)
        dying = self.dying
        while dying and not dying[0][2][COUNT]:
            heappop(dying)
        back_us = dying[0][0] if dying else NEVER_US
        return min(first_us + self.lifetime_us, back_us) if first_us != NEVER_US else back_us

    def expire(self, at_us: int) -> None:
        """Let go of what has reached its retention."""
        self.now_us, self.after = at_us, False
        gone = max(0, self.source.until(at_us - self.lifetime_us) - self.head)
        self.head += gone
        while self.dying and self.dying[0][0] <= at_us:
            lot = heappop(self.dying)[2]
            if lot[COUNT]:
                cut = self._cut(lot, at_us)
                gone += cut
                if lot[STANDING]:
                    self.ready_count -= cut
                if lot[COUNT]:
                    self.enter_mortal(lot)
        self.tally.expired += gone
        if self.watcher.waiting:
            self.watcher.see(at_us, self.backlog())

    # --- edges

    def pass_edges(self, until_us: int, with_last: bool) -> None:
        """Keep a row at each edge before a moment, or up to it."""
        while self.edges and (self.edges[0] < until_us or (with_last and self.edges[0] == until_us)):
            self.row(self.edges.popleft())

    def row(self, at_us: int) -> None:
        """Keep a row, and tell the watcher."""
        now, after = self.now_us, self.after
        self.now_us, self.after = at_us, False
        self.tally.sent = self.source.before(at_us)
        backlog, oldest_us = self.backlog(), self.oldest_us()
        self.now_us, self.after = (now, after) if now == at_us else (at_us, False)
        self.keep(at_us, backlog, 0 if oldest_us == NEVER_US else at_us - oldest_us)

    def keep(self, at_us: int, backlog: int, oldest_us: int) -> None:
        """Keep a row of what is counted now."""
        self.tally.rows.append(Row(at_us, backlog, oldest_us, *(getattr(self.tally, flow) for flow in FLOWS)))
        self.watcher.edge(at_us, backlog)
        self.watcher.see(at_us, backlog)

    @property
    def idle_us(self) -> int:
        """When the queue had nothing more to do."""
        return self.end_us if self.end_us != NEVER_US else max(self.now_us, self.load.duration_us)

    def finish(self, end_us: int) -> None:
        """The end: what is left stays where it is, unless its time is over."""
        while self.mortal and (dies_us := self.dies_us()) <= end_us:
            self.pass_edges(dies_us, False)
            self.expire(dies_us)
        self.pass_edges(end_us, True)
        if not self.tally.rows or self.tally.rows[-1].at_us < end_us:
            self.row(end_us)
        self.tally.sent = self.source.before(end_us + 1)
        self.tally.end_us = end_us
        self.tally.watches = self.watcher.close()


def split(lot: Lot, count: int) -> Lot:
    """Cut a lot after so many messages: it keeps these, and the rest is returned."""
    whole = lot[COUNT]
    ready_us = lot[READY_FROM] + (lot[READY_TO] - lot[READY_FROM]) * count // whole
    number = lot[FIRST] + (lot[LAST] - lot[FIRST]) * count // whole
    rest = [ready_us, lot[READY_TO], whole - count, number, lot[LAST], lot[ATTEMPTS], lot[STANDING]]
    lot[READY_TO], lot[COUNT], lot[LAST] = ready_us, count, number
    return rest


def single(lots: list[Lot], places: list[int]) -> list[Lot]:
    """The messages at some places of a batch, each as a lot of its own."""
    found, start, at = [], 0, 0
    for place in places:
        while place >= start + lots[at][COUNT]:
            start += lots[at][COUNT]
            at += 1
        lot = lots[at]
        number = lot[FIRST] + (place - start) * (lot[LAST] - lot[FIRST]) // lot[COUNT]
        found.append([0, 0, 1, number, number + 1, lot[ATTEMPTS], False])
    return found
