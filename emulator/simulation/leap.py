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
_GROWTH, _LEAPS_MIN = 2, 40
"""The next leap is so much longer than the last; a run is never crossed in fewer leaps."""
_PATIENCE_MAX = 64
_HUGE = 1 << 60


class Look(NamedTuple):
    """What was seen since the look before: when, deliveries so far, the shortest line, slots, whether they changed."""

    at_us: int
    delivered: int
    batches: int
    low: int
    scaled: bool
    out: bool


class Leaper:
    """Looks at a line now and then, and lets it leap where that is safe."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.looks: list[Look] = []
        self.needed = _LOOKS
        self.factor = _GROWTH
        self.patience = self.pause = 0
        self.sizes = [0] * len(line.sizes)
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
        return Look(line.now_us, tally.delivered, tally.batches, line.low, line.scaled, out)

    def look(self) -> None:
        """Look, and leap if the last looks agree."""
        line = self.line
        look = self.taken()
        if look.out != self.looks[-1].out:
            self.forget()
            return
        self.looks.append(look)
        line.low, line.scaled = _HUGE, False
        if self.pause:
            self.pause -= 1
            self.looks = self.looks[-_LOOKS:]
            return
        if len(self.looks) <= self.needed:
            return
        self.looks = self.looks[-self.needed - 1 :]
        seen = self.looks[1:]
        if all(each.low < line.size for each in seen):
            self.leap(keeps_up=True)
        elif all(each.low >= line.size and not each.scaled for each in seen) and self.stays(seen[-1]):
            self.leap(keeps_up=False)
        else:
            self.forget(but=2)

    def stays(self, look: Look) -> bool:
        """Whether the number of slots can be taken as settled: the autoscaler's failures by chance would move it."""
        line = self.line
        by_chance = line.whole and 0 < line.draws.share < 1 and not look.out
        return bool(line.consumer.max_concurrency) or not by_chance

    def forget(self, but: int = 0) -> None:
        """Something has changed: watch longer before the next leap."""
        if not but:
            self.sizes = [0] * len(self.sizes)
            self.line.sizes = [0] * len(self.sizes)
        self.needed, self.factor = _LOOKS, _GROWTH
        self.looks = self.looks[-but:] if but else []
        if not self.looks:
            self.fresh()

    def border_us(self, keeps_up: bool) -> int:
        """Up to when nothing changes from outside."""
        line = self.line
        moments = [moment for outage in line.outages for moment in outage if moment > line.now_us]
        end_us = line.end_us if line.end_us != NEVER_US else _HUGE
        return min([*moments, end_us, *([line.source.end_us] if keeps_up else [])])

    def leap(self, *, keeps_up: bool) -> None:
        """Take the next stretch at once, if there is one worth it."""
        line, first, last = self.line, self.looks[0], self.looks[-1]
        watched_us = last.at_us - first.at_us
        batches = last.batches - first.batches
        span_us = min(self.factor * watched_us, line.load.duration_us // _LEAPS_MIN)
        span_us = min(span_us, self.border_us(keeps_up) - line.now_us - 1)
        size = (last.delivered - first.delivered) / batches
        took_us, over = invocation_us(line.load, round(size))
        if not keeps_up:
            standing = line.visible(line.now_us, False) - line.head + line.ready_count
            span_us = min(span_us, standing // 2 * took_us // (line.slots * line.size) if took_us else 0)
        if not watched_us or span_us < watched_us // 2:
            self.looks = self.looks[-1:]
            return
        kind = KeepingUp if keeps_up else Saturated
        rate = (last.delivered - first.delivered) / watched_us
        stretch = kind(line, span_us, took_us, size, rate, last.out or over)
        if stretch.plan():
            stretch.commit()
            self.needed, self.patience = _LOOKS_AGAIN, 0
            self.factor *= _GROWTH
            self.fresh()
        else:
            self.patience = min(_PATIENCE_MAX, 2 * self.patience + 1)
            self.pause = self.patience
            self.forget(but=1)

