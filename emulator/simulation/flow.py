"""A stretch in which nothing is steady: an outage that has just ended, slots that wander, a line that comes and goes.

Chunk by chunk: `Pulse` says how many messages leave, and so many are taken from the line as it is, fail as the pattern says,
come back within the chunk or later, die and expire by count. Nothing has to be expected, so this kind always works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.simulation.line import COUNT, READY_FROM
from emulator.simulation.pulse import Pulse, Seen
from emulator.simulation.scenario import in_outage
from emulator.simulation.sources import NEVER_US
from emulator.simulation.stretch import Saturated, parted
from emulator.simulation.tally import FLOWS

if TYPE_CHECKING:
    from emulator.simulation.line import Line, Lot

FOLLOWED = 1_000
"""Batches of a chunk that are followed one by one; the rest of the chunk goes on as they did."""
_TIMES = 20
"""So many times as long as a batch takes are followed, however many batches these are."""
_PASSES = 24
"""Messages come back so many times within one chunk."""


class Flow(Saturated):
    """The line is changed as the stretch goes on; `batches` and `failed` are counted here."""

    def __init__(self, line: Line, span_us: int, took_us: int, chunks: int, batch_us: int, *, over: bool) -> None:
        self.pulse = Pulse(line, out=in_outage(line.outages, line.now_us), over=over)
        self.chunks, self.enough_us = chunks, max(_TIMES * took_us, FOLLOWED * batch_us)
        flying, start_us = self.pulse.flying, line.now_us
        known = line.slots, line.seen, line.permille
        for flight in sorted(line.flights):
            line.now_us = flight[0]
            line.settle(flight)
        line.flights, line.now_us = [], start_us
        line.slots, line.seen, line.permille = known
        super().__init__(line, span_us, took_us, line.size, 0.0, out=self.pulse.out, over=over)
        self.begun = line.tally.delivered
        self.share = self.innocent = 0.0
        self.points[0] = (start_us, self.settled(flying))
        self.batches = self.failed = 0.0
        self.oldest_us = line.oldest_us()

    def settled(self, flying: int) -> dict[str, int]:
        """The counts without what is still out, as if that would end like the rest."""
        return {**self.flows, "acked": max(0, self.flows["acked"] - round(flying * (1 - self.share)))}

    def fail(self, attempts: int, count: int) -> tuple[int, int]:
        """As the share of this chunk says."""
        exact = self.carry.get(attempts, 0.0) + self.share * count
        failing = min(count, max(0, round(exact)))
        self.carry[attempts] = exact - failing
        return failing, round(failing * self.innocent)

    def plan(self, allowance: int) -> bool:
        """Take one chunk after the other."""
        del allowance
        line, pulse = self.line, self.pulse
        for chunk in range(self.chunks):
            from_us, to_us = (self.start_us + self.span_us * k // self.chunks for k in (chunk, chunk + 1))
            line.now_us, line.after = from_us, False
            if line.mortal:
                before = line.tally.expired
                line.expire(from_us)
                self.flows["expired"] += line.tally.expired - before
                line.tally.expired = before
            line.promote(from_us)
            standing = line.visible(from_us, False) - line.head + line.ready_count
            due = self.due(to_us)
            coming = line.visible(to_us, False) - line.visible(from_us, False) + due
            followed_us = to_us - from_us
            if followed_us > self.enough_us:
                coming = coming * self.enough_us // followed_us
                followed_us = self.enough_us
            seen = pulse.follow(from_us + followed_us, standing, coming, 4 * FOLLOWED)
            if seen.batches:
                self.enough_us = max(_TIMES * self.took_us, seen.followed_us * FOLLOWED // seen.batches)
            wanted = self.extrapolated(seen, to_us)
            last = chunk == self.chunks - 1
            self.take_all(max(0, wanted - (pulse.flying if last else 0)), from_us, to_us)
            self.points.append((to_us, dict(self.flows) if last else self.settled(pulse.flying)))
        return True

    def due(self, to_us: int) -> int:
        """What becomes ready within the chunk: it is let into the line, and what is left of a lot goes on waiting."""
        line = self.line
        found = 0
        while (lot := line.next_delayed(to_us)) is not None:
            inside, rest = parted(lot, to_us)
            lot[COUNT] = 0
            if rest is not None:
                line.wait(rest)
            if inside[COUNT]:
                line.stand(inside)
                found += inside[COUNT]
        return found

    def extrapolated(self, seen: Seen, to_us: int) -> int:
        """How many leave in the whole chunk; sets the shares that fail."""
        line, pulse = self.line, self.pulse
        delivered, batches, failed, failing, own = (
            seen.delivered,
            float(seen.batches),
            float(seen.failed),
            seen.failing,
            seen.own,
        )
        rest_us = to_us - pulse.now_us
        if rest_us > 0 and seen.followed_us:
            more = delivered * rest_us // seen.followed_us
            factor = more / max(1, delivered)
            batches, failed = batches * (1 + factor), failed * (1 + factor)
            if self.out or self.over:
                failing, own = failing + more, own + more
            else:
                by_itself = line.draws.count(pulse.ordinal, more)
                own += by_itself
                failing += self.failing_in_batches(seen, more) if line.whole else by_itself
            delivered += more
            pulse.skip(to_us, more)
        self.batches += batches
        self.failed += failed
        self.share = failing / max(1, delivered)
        self.innocent = max(0.0, 1 - own / failing) if failing and line.whole and not (self.out or self.over) else 0.0
        return delivered

    def failing_in_batches(self, seen: Seen, more: int) -> int:
        """How many of the messages that were not followed fail, themselves or with their batch."""
        line, pulse = self.line, self.pulse
        if not seen.full:
            return round(seen.failing * more / max(1, seen.delivered))
        return round(line.draws.in_failing_batches(pulse.ordinal, pulse.ordinal, line.size, more))

    def take_all(self, wanted: int, from_us: int, to_us: int) -> None:
        """Deliver so many, and again what came back of them within the chunk."""
        line = self.line
        retried, failing = self.flows["retried"], self.failing
        before = self.flows["delivered"]
        later: list[Lot] = []
        for _ in range(_PASSES):
            left = wanted - (self.flows["delivered"] - before)
            if left <= 0:
                break
            rounds: dict[int, Lot] = {}
            self.head = line.head
            self.take(left, to_us - line.delay_us, rounds)
            line.head = self.head
            if not rounds:
                break
            came = False
            for attempts in sorted(rounds):
                back = self.deliver(rounds[attempts], from_us + self.took_us, to_us + self.took_us)
                if back is None:
                    continue
                if back[READY_FROM] < to_us:
                    inside, rest = parted(back, to_us)
                    line.stand(inside)
                    came = True
                    if rest is None:
                        continue
                    back = rest
                later.append(back)
            if not came:
                break
        line.now_us = to_us
        for lot in later:
            line.enter(lot)
        if self.failing > failing:
            self.pulse.returning = (self.flows["retried"] - retried) / (self.failing - failing)

    def commit(self) -> None:
        """Write the counts, and let the batches leave that are out at the end."""
        line, tally, pulse = self.line, self.line.tally, self.pulse
        looked_at = bool(line.edges) and line.edges[0] <= self.start_us + self.span_us
        delivered = self.flows["delivered"] - self.begun
        end_us = self.start_us + self.span_us
        line.now_us, line.after = end_us, False
        for flow in FLOWS[1:]:
            setattr(tally, flow, self.flows[flow])
        for attempts, count in self.attempts.items():
            tally.by_attempt[attempts] = tally.by_attempt.get(attempts, 0) + count
        tally.batches += round(self.batches) - len(pulse.flights)
        tally.failed_batches += round(self.failed) - sum(not ok for *_, ok in pulse.flights)
        tally.outage_delivered += delivered if self.out else 0
        tally.outage_lost += self.outage_lost
        tally.leapt += delivered
        tally.slots_max = max(tally.slots_max, pulse.slots_max)
        line.dead += self.dead
        line.slots, line.permille = pulse.slots, pulse.permille
        line.ordinal = pulse.ordinal - pulse.flying
        self.fly()
        self.write_rows(self.oldest_us if looked_at else NEVER_US)
        line.seen = line.visible(end_us, False) - line.head + line.ready_count

    def fly(self) -> None:
        """Batches that are out."""
        line = self.line
        line.promote(line.now_us)
        for at_us, count, _, _ in self.pulse.flights:
            fresh = line.visible(line.now_us, False) - line.head
            there = min(count, fresh + line.ready_count)
            if there:
                flight = line.launch(line.take(there, fresh), there)
                line.flights.append((max(at_us, line.now_us), *flight[1:]))
        line.flights.sort(key=lambda flight: flight[:2])
