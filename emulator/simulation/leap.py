"""Leaps: a stretch in which a queue runs steadily is taken at once, in a few chunks, with the messages that are really there.

A queue is watched batch by batch first. It keeps up when its line has been shorter than a batch again and again: then what
becomes ready in a stretch is also delivered in it. Or it is saturated, when every slot was busy with full batches and nobody
scaled: then so many messages are delivered as the slots hold. Either way messages are taken in order of (moment ready), fail as
the pattern says, come back, die and expire by count; only the course within a chunk is taken as even. Where neither holds, or a
chunk turns out different from what was seen, there is no leap. This is the only approximation of a run by count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from emulator.simulation.flow import Flow
from emulator.simulation.scenario import in_outage, invocation_us
from emulator.simulation.sources import NEVER_US
from emulator.simulation.stretch import KeepingUp, Saturated

if TYPE_CHECKING:
    from emulator.simulation.line import Line

_LOOKS, _LOOKS_AGAIN = 4, 2
"""So many looks must agree before the first leap, and between two leaps."""
_LONG = 16
"""So many looks without anything steady are enough for a leap over what is not."""
_CHUNKS, _CHUNKS_MIN, _TIMES = 16, 4, 2
"""Such a leap has so many chunks, each some times as long as a batch takes."""
_FIRST, _GROWTH = 8, 2
_LEAPS_MIN, _LEAPS_MIN_AT_ONCE = 40, 6
"""The next leap is so much longer than the last; a run takes no fewer leaps, a short one that tests them only a few."""
_HUGE = 1 << 60


_FLIGHTS = 16
"""A leap is so much longer than a message is on its way, because those on their way are not followed."""


_WAVE, _CHUNKS_LONG = 6, 128
"""After an outage messages come back in waves: a chunk is so small a part of their delay."""


class Look(NamedTuple):
    """A queue at a moment: counts so far, the length of its line, and since the look before its shortest, and any scaling."""

    at_us: int
    delivered: int
    batches: int
    standing: int
    low: int
    scaled: bool
    out: bool


class Leaper:
    """Looks at a line now and then, and lets it leap where that is safe; never within the first `plain` batches."""

    def __init__(self, line: Line, plain: int) -> None:
        self.line, self.plain = line, plain
        self.longest_us = line.load.duration_us // (_LEAPS_MIN if plain else _LEAPS_MIN_AT_ONCE)
        self.looks: list[Look] = []
        self.needed = _LOOKS
        self.factor = _FIRST
        self.fresh()

    def fresh(self) -> None:
        """Begin to watch anew."""
        line = self.line
        self.looks = [self.taken()]
        line.low, line.scaled = _HUGE, False

    def taken(self) -> Look:
        """A look at the line as it is."""
        line, tally = self.line, self.line.tally
        out = in_outage(line.outages, line.now_us)
        standing = line.visible(line.now_us, False) - line.head + line.ready_count
        return Look(line.now_us, tally.delivered, tally.batches, standing, line.low, line.scaled, out)

    def look(self) -> None:
        """Look, and leap if the last looks agree."""
        line = self.line
        look = self.taken()
        if look.out != self.looks[-1].out:
            self.forget()
            return
        self.looks.append(look)
        line.low, line.scaled = _HUGE, False
        self.looks = self.looks[-_LONG - 1 :]
        if look.batches < self.plain:
            return
        if line.quantum_us < 0:
            line.coarsen()
        if len(self.looks) <= self.needed:
            return
        seen = self.looks[-self.needed :]
        if all(each.low < line.size for each in seen):
            self.leap(self.looks[-self.needed - 1], keeps_up=True)
        elif all(each.low >= line.size and not each.scaled for each in seen) and self.stays(seen[-1]):
            self.leap(self.looks[-self.needed - 1], keeps_up=False)
        else:
            self.needed = _LOOKS
            self.flow()

    def flow(self) -> None:
        """What is not steady is leapt over as well, once it has been watched for longer."""
        line, first, last = self.line, self.looks[0], self.looks[-1]
        watched_us = last.at_us - first.at_us
        if len(self.looks) <= _LONG or not watched_us:
            return
        took_us, over = invocation_us(line.load, line.size)
        span_us = min(self.factor * watched_us, self.longest_us, self.border_us(keeps_up=True) - line.now_us - 1)
        chunks = min(_CHUNKS, span_us // max(1, _TIMES * took_us))
        if line.watcher.waiting and line.again_us:
            chunk_us = max(_TIMES * took_us, line.again_us // _WAVE)
            span_us = min(span_us, _CHUNKS_LONG * chunk_us)
            chunks = max(chunks, span_us // max(1, chunk_us))
        if span_us < watched_us or chunks < _CHUNKS_MIN:
            return
        stretch = Flow(line, span_us, took_us, chunks, watched_us // (last.batches - first.batches), over=over)
        stretch.plan(0)
        stretch.commit()
        self.factor *= _GROWTH
        self.fresh()

    def stays(self, look: Look) -> bool:
        """Whether the number of slots can be taken as settled: the autoscaler's failures by chance would move it."""
        line = self.line
        by_chance = line.whole and 0 < line.draws.share < 1 and not look.out
        return bool(line.consumer.max_concurrency) or not by_chance

    def forget(self) -> None:
        """Something has changed: watch longer before the next leap."""
        self.line.sizes = [0] * len(self.line.sizes)
        self.needed, self.factor = _LOOKS, _FIRST
        self.fresh()

    def border_us(self, keeps_up: bool) -> int:
        """Up to when nothing changes from outside."""
        line = self.line
        moments = [moment for outage in line.outages for moment in outage if moment > line.now_us]
        end_us = line.end_us if line.end_us != NEVER_US else _HUGE
        return min([*moments, end_us, *([line.source.end_us] if keeps_up and line.source.end_us > line.now_us else [])])

    def leap(self, first: Look, *, keeps_up: bool) -> None:
        """Take the next stretch at once, if there is one worth it."""
        line, last = self.line, self.looks[-1]
        watched_us, delivered = last.at_us - first.at_us, last.delivered - first.delivered
        if not watched_us:
            return
        size = delivered / (last.batches - first.batches)
        took_us, over = invocation_us(line.load, round(size))
        least_us, depth = watched_us // 2, 1
        span_us = self.factor * watched_us
        if keeps_up:
            arrived = line.source.before(last.at_us) - line.source.before(first.at_us)
            depth = min(line.consumer.max_retries + 1, -(-delivered // max(1, arrived)))
            least_us = max(least_us, _FLIGHTS * (took_us + line.late_us()) * depth)
        elif took_us:
            span_us = min(span_us, last.standing // 2 * took_us // (line.slots * line.size))
        span_us = min(max(span_us, least_us), self.longest_us, self.border_us(keeps_up) - line.now_us - 1)
        if span_us < least_us or (not took_us and not keeps_up):
            return
        allowance = line.flying * depth
        kind = KeepingUp if keeps_up else Saturated
        stretch = kind(line, span_us, took_us, size, delivered / watched_us, out=last.out, over=over)
        if stretch.fit and stretch.plan(allowance):
            stretch.commit()
            self.needed = _LOOKS_AGAIN
            self.factor *= _GROWTH
            self.fresh()
        else:
            self.needed = _LONG
            self.flow()
