"""One leap of a queue: planned chunk by chunk on the side, and written only if it came out as was expected.

`KeepingUp` delivers what becomes ready, as late as it was delivered before; `Saturated` delivers what the slots hold, from the
front of the line. See `leap` for when.
"""

from __future__ import annotations

from collections import deque
from heapq import heapify
from itertools import count as counting
from math import sqrt
from typing import TYPE_CHECKING

from emulator.simulation.line import ATTEMPTS, COUNT, FIRST, LAST, READY_FROM, READY_TO, STANDING
from emulator.simulation.sources import NEVER_US
from emulator.simulation.tally import FLOWS, Row

if TYPE_CHECKING:
    from emulator.simulation.line import Line, Lot

_CHUNKS = 16
_TOLERANCE = 0.1
_UNEVEN_MAX = 0.02


class Stretch:
    """What both kinds share: how messages fail, and how a leap is written."""

    def __init__(self, line: Line, span_us: int, took_us: int, size: float, rate: float, *, out: bool, over: bool) -> None:
        self.line, self.span_us, self.took_us, self.size, self.rate = line, span_us, took_us, size, rate
        self.out, self.over = out, over
        self.start_us = line.now_us
        self.head, self.ordinal = line.head, line.ordinal
        self.flows = {flow: getattr(line.tally, flow) for flow in FLOWS}
        self.outage_lost = 0
        self.attempts: dict[int, int] = {}
        self.dead: list[tuple[int, int, int]] = []
        self.failing = 0
        self.carry: dict[int, float] = {}
        self.back: list[Lot] = []
        self.points = [(self.start_us, dict(self.flows))]
        used = [count for count, batches in enumerate(line.sizes) if batches]
        self.unit = used[0] if len(used) == 1 else 0
        share, messages = line.draws.share, sum(count * line.sizes[count] for count in used)
        self.batch_share = sum(count * line.sizes[count] * line.draws.batch_share(count) for count in used) / max(1, messages)
        batches, squares = sum(line.sizes), sum(count * count * line.sizes[count] for count in used)
        self.uneven = squares * batches / max(1, messages) ** 2 - 1
        self.own_share = min(1.0, share / self.batch_share) if self.batch_share else 1.0

    @property
    def fit(self) -> bool:
        """Whether a share of failing batches can be told: large and small ones fail differently if they fail as a whole."""
        certain = self.out or self.over or self.line.draws.share in {0, 1} or not self.line.whole
        return certain or self.uneven <= _UNEVEN_MAX

    def plan(self, allowance: int) -> bool:
        """Find out what happens; False if it is not what was expected, give or take so many deliveries at the start."""
        raise NotImplementedError

    # --- what becomes of a delivery

    def fail(self, attempts: int, count: int) -> tuple[int, int]:
        """How many of the next deliveries fail, and how many of these only because of another one in their batch."""
        line, ordinal = self.line, self.ordinal
        self.ordinal += count
        if self.out or self.over:
            return count, 0
        if not line.whole or line.draws.share in {0, 1}:
            return line.draws.count(ordinal, count), 0
        exact = self.carry.get(attempts, 0.0)
        if self.unit:
            exact += line.draws.in_failing_batches(ordinal, line.ordinal, self.unit, count)
        else:
            exact += self.batch_share * count
        failing = min(count, max(0, round(exact)))
        self.carry[attempts] = exact - failing
        return failing, round(failing * (1 - self.own_share))

    def deliver(self, lot: Lot, settled_from_us: int, settled_to_us: int) -> Lot | None:
        """Deliver a lot: its next attempt. What comes back of it, ready when its delay is over."""
        line, flows = self.line, self.flows
        count = lot[COUNT]
        attempts = lot[ATTEMPTS] + 1
        flows["delivered"] += count
        self.attempts[attempts] = self.attempts.get(attempts, 0) + count
        failing, innocent = self.fail(attempts, count)
        flows["acked"] += count - failing
        self.failing += failing
        if not failing:
            return None
        gone = self.expired(lot, settled_from_us, settled_to_us, failing)
        flows["expired"] += gone
        failing -= gone
        if attempts > line.consumer.max_retries:
            if line.consumer.dead_letter_queue is None:
                flows["dropped"] += failing
            else:
                flows["dead_lettered"] += failing
                self.dead.append((settled_from_us, settled_to_us, failing))
            if self.out:
                self.outage_lost += failing
            return None
        if not failing:
            return None
        flows["retried"] += failing
        flows["duplicates"] += min(innocent, failing)
        again_us = line.again_us
        return [settled_from_us + again_us, settled_to_us + again_us, failing, lot[FIRST], lot[LAST], attempts, False]

    def expired(self, lot: Lot, from_us: int, to_us: int, count: int) -> int:
        """How many of so many messages of a lot have reached their retention, if the first is looked at first, and so on."""
        line = self.line
        if not line.mortal:
            return 0
        first_us = from_us - line.lifetime_us - line.source.time_us(lot[FIRST])
        last_us = to_us - line.lifetime_us - line.source.time_us(max(lot[FIRST], lot[LAST] - 1))
        if first_us < 0 and last_us < 0:
            return 0
        if first_us >= 0 and last_us >= 0:
            return count
        return round(count * max(first_us, last_us) / abs(first_us - last_us))

    # --- writing

    def commit(self) -> None:
        """Write the leap: counts, rows, dead letters, and the batches that are out, which are others by now."""
        line, tally = self.line, self.line.tally
        looked_at = bool(line.edges) and line.edges[0] <= self.start_us + self.span_us
        oldest_us = line.oldest_us() if looked_at else NEVER_US
        delivered = self.flows["delivered"] - tally.delivered
        shift = self.head - line.head
        line.head = self.head
        line.ordinal += round(delivered / self.unit) * self.unit if self.unit else delivered
        end_us = self.start_us + self.span_us
        line.flights = [
            (at_us + self.span_us, entry, [moved(lot, shift) for lot in lots], ordinal, out, over)
            for at_us, entry, lots, ordinal, out, over in line.flights
        ]
        line.now_us, line.after = end_us, False
        for lot in self.back:
            line.enter(lot)
        for attempts, count in self.attempts.items():
            tally.by_attempt[attempts] = tally.by_attempt.get(attempts, 0) + count
        tally.batches += round(delivered / self.size)
        tally.failed_batches += round(self.failing / self.size) if line.whole or self.over else 0
        tally.outage_delivered += delivered if self.out else 0
        tally.outage_lost += self.outage_lost
        tally.leapt += delivered
        line.dead += self.dead
        self.write_rows(oldest_us)
        for flow in FLOWS[1:]:
            setattr(tally, flow, self.flows[flow])
        if line.mortal:
            line.expire(end_us)
        if not line.consumer.max_concurrency:
            line.promote(end_us)
            line.seen = line.visible(end_us, False) - line.head + line.ready_count

    def write_rows(self, oldest_us: int) -> None:
        """Rows at the edges within, and what the watcher must see, between the ends of chunks."""
        line = self.line
        end_us = self.start_us + self.span_us
        oldest = [min(oldest_us, self.start_us), min(line.oldest_us() if oldest_us != NEVER_US else end_us, end_us)]
        for (from_us, before), (to_us, after) in zip(self.points, self.points[1:], strict=False):
            while line.edges and line.edges[0] <= to_us:
                at_us = line.edges.popleft()
                part = (at_us - from_us) / (to_us - from_us)
                counts = [round(before[flow] + (after[flow] - before[flow]) * part) for flow in FLOWS[1:]]
                sent = line.source.before(at_us)
                backlog = max(0, sent - gone(dict(zip(FLOWS[1:], counts, strict=True))))
                first_us = oldest[0] + (oldest[1] - oldest[0]) * (at_us - self.start_us) // self.span_us
                line.tally.rows.append(Row(at_us, backlog, max(0, at_us - first_us) if backlog else 0, sent, *counts))
                line.watcher.edge(at_us, backlog)
            for watch in list(line.watcher.waiting):
                begin, end = line.source.before(from_us) - gone(before), line.source.before(to_us) - gone(after)
                if to_us >= watch.end_us and end <= watch.level:
                    part = (begin - watch.level) / (begin - end) if begin > end and begin > watch.level else 0.0
                    line.watcher.see(round(from_us + (to_us - from_us) * part), watch.level)

    def point(self, at_us: int) -> None:
        """The end of a chunk."""
        self.points.append((at_us, dict(self.flows)))


class KeepingUp(Stretch):
    """Everything that becomes ready is delivered, as long after as it was before."""

    def plan(self, allowance: int) -> bool:
        """Find out what happens; False if a chunk has more or less to deliver than was seen."""
        line = self.line
        self.late_us = line.late_us()
        front_us = line.now_us - self.late_us
        self.pending = [(lot[READY_FROM], 0, lot) for lot in line.ready if lot[COUNT]]
        self.pending += sorted(entry for entry in line.delayed if entry[2][COUNT])
        self.pending.reverse()
        self.taken: list[Lot] = []
        self.number = counting(line.entries + 1)
        for chunk in range(_CHUNKS):
            from_us, to_us = (front_us + self.span_us * k // _CHUNKS for k in (chunk, chunk + 1))
            before = self.flows["delivered"]
            self.chunk(from_us, to_us)
            expected = self.rate * (to_us - from_us)
            slack = _TOLERANCE * expected + 4 * sqrt(expected) + 2 * line.size + (0 if chunk else allowance)
            if abs(self.flows["delivered"] - before - expected) > slack:
                return False
            self.point(to_us + self.late_us)
        return True

    def chunk(self, from_us: int, to_us: int) -> None:
        """All messages that become ready in a part of the time, and those of them that come back in the same part."""
        line = self.line
        rounds: dict[int, Lot] = {}
        fresh = line.source.before(to_us - line.delay_us) - self.head
        if fresh > 0:
            rounds[0] = [from_us, to_us, fresh, self.head, self.head + fresh, 0, False]
            self.head += fresh
        pending = self.pending
        later = []
        while pending and pending[-1][0] < to_us:
            _, _, lot = pending.pop()
            inside, rest = parted(lot, to_us)
            self.taken.append(lot)
            if rest is not None:
                later.append(rest)
            cut = self.expired(inside, max(inside[READY_FROM], from_us), inside[READY_TO], inside[COUNT])
            self.flows["expired"] += cut
            inside[COUNT] -= cut
            if inside[COUNT]:
                join(rounds, inside)
        attempts = 0
        late_us = self.late_us + self.took_us
        while rounds:
            if attempts in rounds:
                lot = rounds.pop(attempts)
                back = self.deliver(lot, lot[READY_FROM] + late_us, lot[READY_TO] + late_us)
                if back is not None:
                    if back[READY_FROM] < to_us:
                        inside, back = parted(back, to_us)
                        join(rounds, inside)
                    if back is not None:
                        later.append(back)
            attempts += 1
        if later:
            pending += [(lot[READY_FROM], next(self.number), lot) for lot in later]
            pending.sort(reverse=True)

    def commit(self) -> None:
        """Write the leap; what has not become ready goes on waiting."""
        line = self.line
        for lot in self.taken:
            lot[COUNT] = 0
        line.ready, line.ready_count = deque(), 0
        line.delayed = [entry for entry in self.pending if entry[2][COUNT]]
        heapify(line.delayed)
        line.entries = next(self.number)
        if line.mortal:
            for _, _, lot in line.delayed:
                line.enter_mortal(lot)
        super().commit()


class Saturated(Stretch):
    """All slots are busy with full batches all the time."""

    def plan(self, allowance: int) -> bool:
        """Deliver from the front of the line what the slots hold; less than half of it, so that it never runs short."""
        del allowance  # the slots decide
        line = self.line
        total = self.span_us * line.slots * line.size // self.took_us
        taken = 0
        for chunk in range(_CHUNKS):
            from_us, to_us = (self.start_us + self.span_us * k // _CHUNKS for k in (chunk, chunk + 1))
            wanted = total * (chunk + 1) // _CHUNKS - taken
            taken += wanted
            if line.mortal:
                self.let_go(from_us)
            rounds: dict[int, Lot] = {}
            self.take(wanted, from_us, rounds)
            for attempts in sorted(rounds):
                back = self.deliver(rounds[attempts], from_us + self.took_us, to_us + self.took_us)
                if back is not None:
                    self.back.append(back)
            self.point(to_us)
        return True

    def let_go(self, at_us: int) -> None:
        """What has reached its retention goes first."""
        line = self.line
        before, head = line.tally.expired, line.head
        line.head = self.head
        line.expire(at_us)
        self.head, line.head = line.head, head
        self.flows["expired"] += line.tally.expired - before
        line.tally.expired = before
        line.now_us = self.start_us

    def take(self, wanted: int, at_us: int, rounds: dict[int, Lot]) -> None:
        """So many messages from the front, by attempts."""
        line, source = self.line, self.line.source
        while wanted:
            while line.ready and not line.ready[0][COUNT]:
                line.ready.popleft()
            lot = line.ready[0] if line.ready else None
            border_us = NEVER_US if lot is None else lot[READY_FROM] - line.delay_us
            fresh = min(wanted, source.before(min(at_us, border_us)) - self.head)
            if fresh > 0:
                join(rounds, [0, 0, fresh, self.head, self.head + fresh, 0, False])
                self.head += fresh
                wanted -= fresh
            elif lot is None:
                return
            if lot is not None and wanted:
                inside = line.cut_front(lot, min(wanted, lot[COUNT]))
                wanted -= inside[COUNT]
                join(rounds, inside)


def gone(flows: dict[str, int]) -> int:
    """Messages that have left, of counts by name."""
    return flows["acked"] + flows["dead_lettered"] + flows["dropped"] + flows["expired"]


def moved(lot: Lot, shift: int) -> Lot:
    """A lot in a batch that is out: after a leap it holds messages that came so much later."""
    return [*lot[:FIRST], lot[FIRST] + shift, lot[LAST] + shift, *lot[ATTEMPTS:]]


def parted(lot: Lot, at_us: int) -> tuple[Lot, Lot | None]:
    """Copies of the part of a lot that is ready before a moment, and of the rest."""
    inside = list(lot)
    inside[STANDING] = False
    if lot[READY_TO] < at_us or lot[READY_TO] == lot[READY_FROM]:
        return inside, None
    passed_us, span_us = at_us - lot[READY_FROM], lot[READY_TO] - lot[READY_FROM]
    count = lot[COUNT] * passed_us // span_us
    if count >= lot[COUNT]:
        return inside, None
    number = lot[FIRST] + (lot[LAST] - lot[FIRST]) * passed_us // span_us
    rest = [at_us, lot[READY_TO], lot[COUNT] - count, number, lot[LAST], lot[ATTEMPTS], False]
    inside[READY_TO], inside[COUNT], inside[LAST] = at_us, count, max(number, inside[FIRST] + 1)
    return inside, rest


def join(rounds: dict[int, Lot], lot: Lot) -> None:
    """Add a lot to those of the same number of attempts."""
    there = rounds.get(lot[ATTEMPTS])
    if not lot[COUNT]:
        return
    if there is None:
        rounds[lot[ATTEMPTS]] = list(lot)
        return
    there[COUNT] += lot[COUNT]
    there[READY_FROM], there[READY_TO] = min(there[READY_FROM], lot[READY_FROM]), max(there[READY_TO], lot[READY_TO])
    there[FIRST], there[LAST] = min(there[FIRST], lot[FIRST]), max(there[LAST], lot[LAST])
