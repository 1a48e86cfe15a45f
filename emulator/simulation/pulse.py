"""A queue batch by batch without its messages: how many leave in a chunk of time, and what the autoscaler makes of it.

Slots, batches, their ends and which of them fail are followed one by one, by the core's own rule; messages are only a number
that stands in line, to which others come evenly. So it is several times cheaper than `Line`, and what really happens to each
message is left to whoever asks. Of a chunk with too many batches only the beginning is followed (`followed_us`).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from emulator.core.decide.consume import scaled
from emulator.simulation.scenario import invocation_us
from emulator.simulation.sources import NEVER_US

if TYPE_CHECKING:
    from emulator.simulation.line import Line


class Seen(NamedTuple):
    """What was followed of a chunk: its time, what left, and what of that failed by itself or with its batch."""

    followed_us: int
    delivered: int
    batches: int
    failed: int
    failing: int
    own: int
    full: bool


class Pulse:
    """Slots and batches of a queue from a moment on; `flights` are (end, messages, messages that fail, whether it succeeds)."""

    def __init__(self, line: Line, *, out: bool, over: bool) -> None:
        self.line, self.out, self.over = line, out, over
        self.now_us, self.ordinal = line.now_us, line.ordinal
        self.auto = not line.consumer.max_concurrency
        self.slots, self.seen, self.permille = line.slots, max(0, line.seen), line.permille
        self.slots_max = line.slots
        self.took_us = [invocation_us(line.load, count)[0] for count in range(line.size + 1)]
        self.carried = 0.0
        self.returning = 1.0
        """The share of failing messages that come again."""
        self.flights: deque[tuple[int, int, int, bool]] = deque()
        for at_us, _, lots, ordinal, *_ in sorted(line.flights):
            count = sum(lot[2] for lot in lots)
            self.flights.append((at_us, count, *self.outcome(ordinal, count)))

    @property
    def flying(self) -> int:
        """Messages in batches that are out."""
        return sum(count for _, count, _, _ in self.flights)

    def outcome(self, ordinal: int, count: int) -> tuple[int, bool]:
        """How many messages of a batch fail, and whether the autoscaler takes it for a success."""
        line = self.line
        if self.out or self.over:
            return count, not (self.over or line.whole)
        bad = line.draws.count(ordinal, count)
        if not bad or not line.whole:
            return bad, True
        return count, False

    def again(self, bad: int) -> int:
        """How many of so many failing messages come again."""
        self.carried += bad * self.returning
        again = int(self.carried)
        self.carried -= again
        return again

    def scale(self, backlog: int, *, succeeded: bool) -> None:
        """What the autoscaler makes of a batch."""
        known = (self.slots, self.seen, self.permille)
        self.slots, self.seen, self.permille = scaled(known, backlog, self.line.size, succeeded=succeeded)
        self.slots_max = max(self.slots_max, self.slots)

    def follow(self, until_us: int, standing: int, coming: int, limit: int) -> Seen:  # noqa: PLR0915 - one loop, for its speed
        """Go on until a moment or for so many batches, with so many messages in line and others that come evenly."""
        line, flights, size, again_us = self.line, self.flights, self.line.size, self.line.again_us
        now_us = from_us = self.now_us
        span_us, timeout_us = max(1, until_us - from_us), line.timeout_us
        arrived = delivered = batches = failed = failing = own = 0
        begun_us = now_us
        old = len(flights)
        back: deque[tuple[int, int]] = deque()
        full = True
        while batches < limit:
            end_us = flights[0][0] if flights else NEVER_US
            leave_us = NEVER_US
            if len(flights) < self.slots:
                if standing >= size:
                    leave_us = now_us
                else:
                    want = arrived + size - standing
                    leave_us = from_us - (-want * span_us // coming) if want <= coming else NEVER_US
                    first_us = begun_us if standing else from_us - (-(arrived + 1) * span_us // coming) if coming else NEVER_US
                    if first_us < leave_us - timeout_us:
                        leave_us = max(now_us, first_us + timeout_us)
            at_us = min(leave_us, end_us, back[0][0] if back else NEVER_US)
            if at_us > until_us:
                now_us = until_us
                break
            if at_us > now_us:
                now_us = at_us
                there = (now_us - from_us) * coming // span_us
                if there > arrived:
                    begun_us = now_us if not standing else begun_us
                    standing += there - arrived
                    arrived = there
            while back and back[0][0] <= now_us:
                begun_us = now_us if not standing else begun_us
                standing += back.popleft()[1]
            if end_us <= now_us:
                _, _, bad, succeeded = flights.popleft()
                again = self.again(bad) if not old else 0
                old -= old > 0
                if again and again_us:
                    back.append((now_us + again_us, again))
                elif again:
                    begun_us = now_us if not standing else begun_us
                    standing += again
                if self.auto:
                    self.scale(standing + (again if again_us else 0), succeeded=succeeded)
            elif leave_us <= now_us and standing:
                count = min(standing, size)
                standing -= count
                begun_us = now_us
                full = full and count == size
                bad, succeeded = self.outcome(self.ordinal, count)
                own += bad if not line.whole or self.out or self.over else line.draws.count(self.ordinal, count)
                self.ordinal += count
                failed += not succeeded
                failing += bad
                delivered += count
                batches += 1
                flights.append((now_us + self.took_us[count], count, bad, succeeded))
        self.now_us = now_us
        return Seen(now_us - from_us, delivered, batches, failed, failing, own, full)

    def skip(self, until_us: int, ordinals: int) -> None:
        """Be at a later moment in the same state."""
        shift_us = until_us - self.now_us
        self.flights = deque((at_us + shift_us, count, bad, good) for at_us, count, bad, good in self.flights)
        self.now_us = until_us
        self.ordinal += ordinals
