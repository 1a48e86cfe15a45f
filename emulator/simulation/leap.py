"""Leaps: a stretch in which a queue runs steadily is taken at once, in a few chunks, with the messages that are really there.

A queue is watched batch by batch first. It keeps up when its line has been shorter than a batch again and again: then what
becomes ready in a stretch is also delivered in it. Or it is saturated, when every slot was busy with full batches and nobody
scaled: then so many messages are delivered as the slots hold. Either way messages are taken in order of (moment ready), fail as
the pattern says, come back, die and expire by count; only the course within a chunk is taken as even. Where neither holds, or a
chunk turns out different from what was seen, there is no leap. This is the only approximation of a run by count.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from emulator.simulation.scenario import in_outage, invocation_us
from emulator.simulation.sources import NEVER_US
from emulator.simulation.stretch import KeepingUp, Saturated

if TYPE_CHECKING:
    from emulator.simulation.line import Line

_LOOKS, _LOOKS_AGAIN = 4, 2
"""So many looks must agree before the first leap, and between two leaps."""
_LONG = 64
"""So many looks tell whether a line that is never short stays as long as it is."""
_TREND = 0.01
"""A line that grows or shrinks by more than this share of its deliveries does not stay as it is."""
_FIRST, _GROWTH = 8, 2
_LEAPS_MIN, _LEAPS_MIN_AT_ONCE = 40, 6
"""The next leap is so much longer than the last; a run takes no fewer leaps, a short one that tests them only a few."""
_PATIENCE_MAX = 64
_HUGE = 1 << 60


_FLIGHTS = 16
"""A leap is so much longer than a message is on its way, because those on their way are not followed."""


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
        self.patience = self.pause = 0
        self.level: float | None = None
        self.spread = 0.0
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
        if self.pause or look.batches < self.plain:
            self.pause = max(0, self.pause - 1)
            return
        if len(self.looks) <= self.needed:
            return
        seen = self.looks[-self.needed :]
        if all(each.low < line.size for each in seen):
            self.leap(self.looks[-self.needed - 1], keeps_up=True)
        elif all(each.low >= line.size and not each.scaled for each in seen) and self.stays(seen[-1]):
            self.leap(self.looks[-self.needed - 1], keeps_up=False)
        else:
            self.needed = _LOOKS
            if len(self.looks) > _LONG and self.is_level():
                self.leap(self.looks[0], keeps_up=True)

    def is_level(self) -> bool:
        """Whether the line is as long as it was, in the long watch and since the first of them."""
        half = _LONG // 2
        before, after = self.looks[:half], self.looks[-half:]
        delivered = self.looks[-1].delivered - self.looks[0].delivered
        means = [sum(look.standing for look in looks) / half for looks in (before, after)]
        if abs(means[1] - means[0]) > _TREND * delivered / 2:
            return False
        if self.level is None:
            self.level, self.spread = means[0], max(abs(look.standing - means[0]) for look in self.looks)
        return abs(means[1] - self.level) <= 2 * self.spread

    def stays(self, look: Look) -> bool:
        """Whether the number of slots can be taken as settled: the autoscaler's failures by chance would move it."""
        line = self.line
        by_chance = line.whole and 0 < line.draws.share < 1 and not look.out
        return bool(line.consumer.max_concurrency) or not by_chance

    def forget(self) -> None:
        """Something has changed: watch longer before the next leap."""
        self.line.sizes = [0] * len(self.line.sizes)
        self.needed, self.factor, self.level = _LOOKS, _FIRST, None
        self.fresh()

    def border_us(self, keeps_up: bool) -> int:
        """Up to when nothing changes from outside."""
        line = self.line
        moments = [moment for outage in line.outages for moment in outage if moment > line.now_us]
        end_us = line.end_us if line.end_us != NEVER_US else _HUGE
        return min([*moments, end_us, *([line.source.end_us] if keeps_up else [])])

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
            self.needed, self.patience = _LOOKS_AGAIN, 0
            self.factor *= _GROWTH
            self.fresh()
        else:
            self.patience = min(_PATIENCE_MAX, 2 * self.patience + 1)
            self.pause = self.patience
