"""One queue, batch by batch, with counts instead of messages: what the core decides, decided for runs of equal messages.

Fresh messages are known by their number in the source; what came back is kept as `Returned`. Order is the core's: (moment
ready, entry). At one moment: expiries, batches that end, batches that leave, edges, and then arrivals, with the batches that
they fill; `after` says that the arrivals of `now_us` are there.
"""

from __future__ import annotations

from array import array
from bisect import insort
from collections import deque
from heapq import heappop, heappush

from emulator.core.decide.consume import scaled
from emulator.core.limits import SECOND_US
from emulator.core.model import Consumer
from emulator.simulate.by_count.returned_lots import Part, Returned
from emulator.simulate.failure_pattern import draws
from emulator.simulate.scenario import BATCH, Scenario, Setting, in_outage
from emulator.simulate.sources import NEVER_US, DeadLetters, Source
from emulator.simulate.tally import Tally, Watcher, edges

Flight = tuple[int, int, int, list[Part], bool, bool]
"""A batch that is out: when it ends, the number of its first delivery, messages, parts, in an outage, out of time."""

_NOBODY = Consumer()


class Line:
    """A queue and its consumer. `run` goes on for so many batches; `dead` has (moment, messages) that left as dead letters."""

    def __init__(self, scenario: Scenario, setting: Setting, source: Source, lifetime_us: int) -> None:
        load = scenario.load
        consumer = setting.consumer or _NOBODY
        self.source, self.size = source, consumer.max_batch_size
        self.timeout_us = round(consumer.max_batch_timeout * SECOND_US)
        self.delay_us = setting.delivery_delay * SECOND_US
        self.again_us = consumer.retry_delay * SECOND_US
        self.retries_max, self.dead_letters = consumer.max_retries, consumer.dead_letter_queue is not None
        self.early = bool(self.delay_us) or isinstance(source, DeadLetters)
        """Whether what becomes ready at a moment is there before anything leaves at that moment."""
        self.lifetime_us, self.duration_us = lifetime_us, load.duration_us
        self.outages = scenario.outages(setting)
        self.draws = draws(scenario.share(setting), load.seed, setting.name)
        self.clear = self.draws.before
        self.whole = load.mode == BATCH
        self.took = [scenario.invocation_us(setting, count) for count in range(self.size + 1)]
        self.tally = Tally(setting.name)
        self.by_attempt = [0] * (self.retries_max + 2)
        self.edges = deque(edges(scenario))
        self.watcher, self.watch_us, self.unwatched = Watcher(self.outages, self.size), NEVER_US, 0
        """From `watch_us` on the watcher must see every backlog, but for the next `unwatched` batches, when it is too high."""
        self.end_us = load.duration_us if not load.drain else NEVER_US
        self.dead: array[int] = array("q")
        self.now_us, self.after = 0, False
        self.head = self.ordinal = 0
        self.back = Returned()
        self.doomed: list[tuple[int, int]] = []
        """Messages that will reach their retention before they are ready again, as (first, count): nothing depends on them but
        the counts. A run that drains needs the moments of their deaths, and keeps them with the others."""
        self.flights: deque[Flight] = deque()
        self.slots = (consumer.max_concurrency or 1) if setting.consumer is not None else 0
        self.auto, self.seen, self.permille = not consumer.max_concurrency, -1, 0
        self.depart_us, self.depart_after, self.lined_up = NEVER_US, False, 0
        """When the next batch leaves, and with how many in line if that is already known."""
        self.border_us, self.out, self.ended = 0, False, False
        self.plan(self.standing())

    # --- time

    def run(self, batches: int) -> bool:
        """Go on until so many batches have left; False when there is nothing more to do before the end."""
        flights = self.flights
        left = batches
        while left:
            depart_us = self.depart_us
            settle_us = flights[0][0] if flights else NEVER_US
            if depart_us < settle_us:
                if depart_us >= self.border_us and self.comes_first(depart_us, self.depart_after):
                    if self.ended:
                        return False
                    continue
                self.now_us, self.after = depart_us, self.depart_after
                self.depart()
                left -= 1
            else:
                if settle_us >= self.border_us and self.comes_first(settle_us, False):
                    if self.ended:
                        return False
                    continue
                self.now_us, self.after = settle_us, False
                self.settle(flights.popleft())
        return True

    def comes_first(self, when_us: int, after: bool) -> bool:
        """Do what comes before an event; True when that changes what is next, or nothing is (`ended`)."""
        dies_us = self.dies_us(when_us)
        if dies_us <= when_us and dies_us <= self._last_us(when_us):
            self.expire(dies_us, min(when_us, self._last_us(when_us)))
            self.plan(self.standing())
            return True
        if self.edges and self.edges[0] <= when_us:
            self.pass_edges(when_us, after)
        if when_us > self.end_us or when_us == NEVER_US:
            self.ended = True
            return True
        self.out = in_outage(self.outages, when_us)
        turns = [moment for outage in self.outages for moment in outage if moment > when_us]
        self.border_us = min(self.edges[0] if self.edges else NEVER_US, dies_us, self.end_us + 1, *turns)
        return False

    def _last_us(self, when_us: int) -> int:
        """Until when retention counts: a run that drains ends when no batch is due any more."""
        return self.duration_us if self.end_us == NEVER_US and when_us == NEVER_US else self.end_us

    def plan(self, standing: int) -> None:
        """With so many in line: when the next batch leaves if nothing else happens, and whether with that moment's arrivals."""
        size, now_us, after = self.size, self.now_us, self.after
        if len(self.flights) >= self.slots:
            self.depart_us, self.depart_after = NEVER_US, False
            return
        if standing >= size:
            self.depart_us, self.depart_after, self.lined_up = now_us, after, standing
            return
        self.lined_up = 0
        back, time_us, timeout_us, next_us = self.back, self.source.time_us, self.timeout_us, self.back.next_us
        full_us, full_after = time_us(self.head + size - back.ready - 1) + self.delay_us, not self.early
        if not standing and full_us < now_us + timeout_us and full_us < next_us:  # no other rule can come first
            self.depart_us, self.depart_after = full_us, full_after
            return
        oldest_us, comes = time_us(self.head) + self.delay_us, True
        if back.ready:
            since_us = back.since_us()
            if since_us <= oldest_us:
                oldest_us, comes = since_us, False
        if next_us <= oldest_us and not standing:
            oldest_us, comes = next_us, False
        if oldest_us >= NEVER_US:
            self.depart_us, self.depart_after = NEVER_US, False
            return
        last_us, last_after = oldest_us + timeout_us, False
        if last_us <= now_us:
            last_us, last_after = now_us, after
        if comes and not standing and not timeout_us and not self.early:  # it waits for nobody: leaves with its first arrival
            last_after = True
        if next_us <= full_us and next_us <= last_us:
            full_us, full_after = self._full(size - standing, min(last_us, full_us))
        if full_us < last_us or (full_us == last_us and last_after):
            self.depart_us, self.depart_after = (max(now_us, full_us)), full_after
        else:
            self.depart_us, self.depart_after = last_us, last_after

    def _full(self, missing: int, until_us: int) -> tuple[int, bool]:
        """When so many more are ready, fresh ones and those that come back by a moment, and whether a fresh one is the last."""
        source, delay_us = self.source, self.delay_us
        last = self.head + self.size - self.back.ready - 1
        fresh = last - missing + 1
        for ready_us, count in self.back.coming(until_us):
            full_us = source.time_us(last) + delay_us
            if full_us < ready_us:
                return full_us, not self.early
            if source.before(ready_us - delay_us) - fresh + count >= missing:
                return ready_us, False
            missing -= count
            last -= count
        return source.time_us(last) + delay_us, not self.early

    def standing(self) -> int:
        """How many are ready now."""
        now_us, source, back = self.now_us, self.source, self.back
        if back.next_us <= now_us:
            back.promote(now_us)
        if self.delay_us:
            ever = source.until(now_us - self.delay_us)
        else:
            ever = source.until(now_us) if self.after else source.before(now_us)
        return ever - self.head + back.ready

    # --- a batch leaves

    def depart(self) -> None:
        """Let a batch leave, with as many messages as are ready and fit."""
        tally = self.tally
        standing = self.lined_up or self.standing()
        count = min(self.size, standing)
        if self.seen < 0:
            self.seen = standing - count
        ready = self.back.ready
        if ready:
            parts = self.take(count, standing - ready)
        else:
            parts = [(self.head, count, 1)]
            self.head += count
            self.by_attempt[1] += count
        tally.delivered += count
        tally.batches += 1
        if self.out:
            tally.outage_delivered += count
        took_us, over = self.took[count]
        flight = (self.now_us + took_us, self.ordinal, count, parts, self.out, over)
        self.ordinal += count
        flights = self.flights
        if not flights or flights[-1] < flight:
            flights.append(flight)
        else:
            insort(flights, flight)
        tally.busy_max = max(tally.busy_max, len(flights))
        self.plan(standing - count)

    def take(self, count: int, fresh: int) -> list[Part]:
        """The first so many, in order of (moment ready, entry)."""
        parts: list[Part] = []
        source, back, delay_us = self.source, self.back, self.delay_us
        while count:
            if back.ready:
                # of those that are ready at one moment, what came back stands behind what had been waiting for longer
                behind_us = source.time_us(self.head) + delay_us + (delay_us <= self.again_us) if fresh else NEVER_US
                count -= back.take(count, behind_us, parts)
                if not count:
                    break
            part = count
            if back.ready:
                part = min(count, fresh, max(1, source.before(back.since_us() - delay_us) - self.head))
            parts.append((self.head, part, 1))
            self.head += part
            fresh -= part
            count -= part
        for _, part, attempt in parts:
            self.by_attempt[attempt] += part
        return parts

    # --- a batch ends

    def settle(self, flight: Flight) -> None:
        """What becomes of each message of a batch."""
        _, ordinal, count, parts, out, over = flight
        tally = self.tally
        self.peak()
        standing = self.standing() if self.auto else -1
        retried, succeeded = 0, not over
        at = ordinal % self.draws.length
        bad = () if self.clear[at] == self.clear[at + count] or out or over else self.draws.failing(ordinal, count)
        if bad or out or over:
            failed = parts
            if self.whole:
                succeeded = False
                if bad:
                    self._count_innocent(parts, bad)
            elif bad:
                failed = single(parts, bad)
                tally.acked += count - len(bad)
                self.leave(lowest(parts, bad))
            retried = self.fail(failed, out)
        else:
            tally.acked += count
            self.leave(min(parts)[0])
        if not succeeded:
            tally.failed_batches += 1
        if self.auto:
            known = (self.slots, self.seen, self.permille)
            slots, self.seen, self.permille = scaled(known, standing + retried, self.size, succeeded=succeeded)
            if slots != self.slots:
                self.slots = slots
                tally.slots_max = max(tally.slots_max, slots)
                if len(self.flights) >= slots:
                    self.depart_us = NEVER_US
        if self.now_us >= self.watch_us:
            if self.unwatched:
                self.unwatched -= 1
            else:
                self.see(self.now_us)
        if self.depart_us == NEVER_US or (retried and self.now_us + self.again_us <= self.depart_us):
            self.plan(self.standing() if retried or standing < 0 else standing)

    def peak(self) -> None:
        """Look at the backlog, as a batch ends."""
        if self.doomed:
            self.bury(self.now_us)
        tally = self.tally
        tally.backlog_peak = max(tally.backlog_peak, self.source.until(self.now_us - 1) - tally.gone)

    def leave(self, number: int) -> None:
        """Note how old the oldest of those is that leave now; NEVER_US for nobody."""
        if number != NEVER_US:
            self.tally.oldest_peak_us = max(self.tally.oldest_peak_us, self.now_us - self.source.time_us(number))

    def _count_innocent(self, parts: list[Part], bad: list[int]) -> None:
        """Messages that had succeeded themselves and will come again, because another one in their batch failed."""
        at = 0
        for _, count, attempt in parts:
            if attempt <= self.retries_max:
                self.tally.duplicates += count - sum(at <= place < at + count for place in bad)
            at += count

    def fail(self, parts: list[Part], out: bool) -> int:
        """Expired if its time is over; else dead-lettered or dropped after the last attempt; else back. How many came back."""
        now_us, tally = self.now_us, self.tally
        again_us = now_us + self.again_us
        source, lifetime_us = self.source, self.lifetime_us
        mortal = again_us >= lifetime_us
        over = source.until(now_us - lifetime_us) if mortal else 0
        doom = source.until(again_us - lifetime_us) if mortal and self.end_us != NEVER_US else 0
        retried = lost = 0
        again: list[Part] = []
        for part in parts:
            first, count, attempt = part
            if first < over:
                gone = min(count, over - first)
                tally.expired += gone
                self.leave(first)
                first, count = first + gone, count - gone
                if not count:
                    continue
            if attempt > self.retries_max:
                lost += count
                self.leave(first)
                continue
            retried += count
            if not mortal:
                again.append(part)
                continue
            lasting = min(max(first, doom), first + count)
            soonest = first if now_us >= self.watch_us else lasting  # it may be the next to reach its retention
            self.border_us = min(self.border_us, source.time_us(soonest) + lifetime_us)
            if first < lasting:
                heappush(self.doomed, (first, lasting - first))
            if lasting < first + count:
                again.append((lasting, first + count - lasting, attempt))
        self.back.enter(again_us, again)
        tally.retried += retried
        if lost:
            tally.outage_lost += lost if out else 0
            if self.dead_letters:
                tally.dead_lettered += lost
                self.dead.extend((now_us, lost))
            else:
                tally.dropped += lost
        return retried

    # --- retention

    def dies_us(self, when_us: int) -> int:
        """When the next waiting message reaches its retention, if that may be by some moment; else a moment before that."""
        if when_us < self.lifetime_us:
            return self.lifetime_us
        first = min(self.head, self.back.dies())
        if self.doomed and when_us >= self.watch_us:
            first = min(first, self.doomed[0][0])
        return min(self.source.time_us(first) + self.lifetime_us, NEVER_US)

    def expire(self, dies_us: int, until_us: int) -> None:
        """Let go of what reaches its retention from one moment on up to another, or up to the next edge before that."""
        self.pass_edges(dies_us, False)
        if until_us >= self.watch_us:
            until_us = max(dies_us, self.watch_us - 1)
        if self.edges:
            until_us = min(until_us, self.edges[0])
        self.after = False
        limit = self.source.until(until_us - self.lifetime_us)
        fresh = max(0, limit - self.head)
        self.head += fresh
        gone, highest = self.back.expire(limit)
        self.tally.expired += fresh + gone
        if fresh or gone:
            self.tally.oldest_peak_us = max(self.tally.oldest_peak_us, self.lifetime_us)
        self.bury(until_us)
        highest = self.head - 1 if fresh else highest
        self.now_us = until_us if highest < 0 else self.source.time_us(highest) + self.lifetime_us
        if until_us >= self.watch_us:
            self.see(until_us)

    def bury(self, at_us: int) -> None:
        """Count the doomed that have reached their retention."""
        limit = self.source.until(at_us - self.lifetime_us)
        while self.doomed and self.doomed[0][0] < limit:
            first, count = heappop(self.doomed)
            gone = min(count, limit - first)
            self.tally.expired += gone
            self.tally.oldest_peak_us = max(self.tally.oldest_peak_us, self.lifetime_us)
            if gone < count:
                heappush(self.doomed, (first + gone, count - gone))

    # --- edges

    def pass_edges(self, until_us: int, with_last: bool) -> None:
        """Keep a row at each edge before a moment, or up to it."""
        while self.edges and (self.edges[0] < until_us or (with_last and self.edges[0] == until_us)):
            self.row(self.edges.popleft())

    def row(self, at_us: int) -> None:
        """Keep a row of what is counted now, and tell the watcher."""
        now, after = self.now_us, self.after
        self.now_us, self.after = at_us, False
        self.tally.sent = self.source.before(at_us)
        self.bury(at_us)
        backlog, oldest_us = self.backlog(), self.oldest_us()
        self.now_us, self.after = (now, after) if now == at_us else (at_us, False)
        age_us = 0 if oldest_us == NEVER_US else at_us - oldest_us
        self.tally.keep(at_us, backlog, age_us)
        self.watcher.edge(at_us, backlog)
        self.watcher.see(at_us, backlog)
        self.watch_us, self.unwatched = self.watcher.next_us, 0

    def see(self, at_us: int) -> None:
        """Show the backlog to the watcher."""
        self.bury(at_us)
        backlog = self.backlog()
        self.watcher.see(at_us, backlog)
        self.watch_us = self.watcher.next_us
        self.unwatched = max(0, (backlog - self.watcher.level - 1) // self.size)

    def backlog(self) -> int:
        """Messages in the queue: waiting, delayed, and out for delivery. Arrivals of this moment count once they are there."""
        return (self.source.until if self.after else self.source.before)(self.now_us) - self.tally.gone

    def oldest_us(self) -> int:
        """When the oldest message in the queue arrived; NEVER_US when there is none."""
        first = min(self.back.oldest(), min((part[0] for flight in self.flights for part in flight[3]), default=NEVER_US))
        if self.head < self.source.before(self.now_us):
            first = min(first, self.head)
        if self.doomed:
            first = min(first, self.doomed[0][0])
        return NEVER_US if first == NEVER_US else self.source.time_us(first)

    @property
    def idle_us(self) -> int:
        """When the queue had nothing more to do."""
        return self.end_us if self.end_us != NEVER_US else max(self.now_us, self.duration_us)

    def finish(self, end_us: int) -> None:
        """The end: what is left stays where it is, unless its time is over."""
        while (dies_us := self.dies_us(end_us)) <= end_us:
            self.expire(dies_us, end_us)
        self.pass_edges(end_us, True)
        tally = self.tally
        if not tally.rows or tally.rows[-1].at_us < end_us:
            self.row(end_us)
        tally.sent = self.source.before(end_us + 1)
        tally.by_attempt = {attempt: count for attempt, count in enumerate(self.by_attempt) if count}
        tally.end_us = end_us
        tally.watches = self.watcher.close()


def single(parts: list[Part], places: list[int]) -> list[Part]:
    """The messages at some places of a batch, each by itself."""
    found, start, at = [], 0, 0
    for place in places:
        while place >= start + parts[at][1]:
            start += parts[at][1]
            at += 1
        first, _, attempt = parts[at]
        found.append((first + place - start, 1, attempt))
    return found


def lowest(parts: list[Part], places: list[int]) -> int:
    """The lowest number in a batch that stands at none of some places; NEVER_US where there is none."""
    found, start, left = NEVER_US, 0, set(places)
    for first, count, _ in parts:
        kept = next((k for k in range(count) if start + k not in left), None)
        if kept is not None:
            found = min(found, first + kept)
        start += count
    return found
