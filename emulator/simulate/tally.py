"""What is counted while a queue runs: one set of names for both engines, so that their results can be laid side by side.

A tally knows moments at which it must look (`edges`): there it keeps all counts, the backlog and the age of the oldest message.
It also watches for the end of each outage's backlog, at every change of the backlog.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from emulator.core.limits import SECOND_US
from emulator.simulate.sources import NEVER_US

if TYPE_CHECKING:
    from emulator.simulate.scenario import Scenario

FLOWS = ("sent", "delivered", "acked", "retried", "dead_lettered", "dropped", "expired", "duplicates")
"""Counts that only grow, of which a row is kept at every edge."""

_ROWS_MAX = 240
_SAME = 1.1
"""A backlog is back at its level when it is no more than this, and two batches, above the highest before."""
_NICE_SECONDS = (
    0.01,
    0.05,
    0.1,
    0.5,
    1,
    2,
    5,
    10,
    15,
    20,
    30,
    60,
    120,
    300,
    600,
    900,
    1_200,
    1_800,
    3_600,
    7_200,
    14_400,
    43_200,
)


class Row(NamedTuple):
    """A queue at one edge: counts so far, messages in it, and how long ago the oldest of them came. `at_us` from the start.

    The peaks are the highest of both since the edge before, looked at whenever a batch ends: short waits show in them.
    """

    at_us: int
    backlog: int
    oldest_us: int
    backlog_peak: int
    oldest_peak_us: int
    sent: int
    delivered: int
    acked: int
    retried: int
    dead_lettered: int
    dropped: int
    expired: int
    duplicates: int


class Watch(NamedTuple):
    """An outage: the backlog before it, what counts as the same level again, and when that was reached; None if it was not."""

    start_us: int
    end_us: int
    before: int
    level: int
    recovered_us: int | None


@dataclass(slots=True)
class Tally:
    """Everything about one queue in one run."""

    name: str
    sent: int = 0
    refused: int = 0
    delivered: int = 0
    batches: int = 0
    failed_batches: int = 0
    acked: int = 0
    retried: int = 0
    dead_lettered: int = 0
    dropped: int = 0
    expired: int = 0
    duplicates: int = 0
    outage_delivered: int = 0
    outage_lost: int = 0
    by_attempt: dict[int, int] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)
    watches: list[Watch] = field(default_factory=list)
    end_us: int = 0
    slots_max: int = 1
    busy_max: int = 0
    """Batches that were out at a time, at the most: the concurrency that was needed, or had where that was not enough."""
    backlog_peak: int = 0
    oldest_peak_us: int = 0
    """Since the last row."""

    @property
    def gone(self) -> int:
        """Messages that have left the queue."""
        return self.acked + self.dead_lettered + self.dropped + self.expired

    def keep(self, at_us: int, backlog: int, oldest_us: int) -> None:
        """Keep a row; the peaks begin anew."""
        peaks = max(self.backlog_peak, backlog), max(self.oldest_peak_us, oldest_us)
        self.rows.append(Row(at_us, backlog, oldest_us, *peaks, *(getattr(self, flow) for flow in FLOWS)))
        self.backlog_peak = self.oldest_peak_us = 0

    @property
    def waiting(self) -> int:
        """Messages in the queue at the end."""
        return self.sent - self.gone

    @property
    def backlog_seconds(self) -> float:
        """The area under the backlog, in message-seconds, from the rows."""
        pairs = zip(self.rows, self.rows[1:], strict=False)
        return sum((a.backlog + b.backlog) / 2 * (b.at_us - a.at_us) / SECOND_US for a, b in pairs)


def edges(scenario: Scenario) -> list[int]:
    """When rows are kept: evenly, a few hundred, at the beginning and end of every outage, and at the end."""
    load = scenario.load
    wanted = load.duration_us / SECOND_US / _ROWS_MAX
    step_us = round(next((nice for nice in _NICE_SECONDS if nice >= wanted), _NICE_SECONDS[-1]) * SECOND_US)
    found = {0, load.duration_us, *range(0, load.duration_us, step_us)}
    for start_us, end_us in {outage for queue in scenario.queues for outage in scenario.outages(queue)}:
        found |= {start_us, min(end_us, load.duration_us)}
    return sorted(found)


class Watcher:
    """Notes when the backlog is back where it was before each outage."""

    __slots__ = ("_levels", "_outages", "_slack", "found", "waiting")

    def __init__(self, outages: tuple[tuple[int, int], ...], slack: int) -> None:
        self._outages = list(outages)
        self._slack = slack
        self._levels = [0]
        self.waiting: list[Watch] = []
        self.found: list[Watch] = []

    @property
    def next_us(self) -> int:
        """From when on every backlog must be seen; NEVER_US when nothing is watched."""
        return min((watch.end_us for watch in self.waiting), default=NEVER_US)

    @property
    def level(self) -> int:
        """Backlogs above this are nothing to see."""
        return max((watch.level for watch in self.waiting), default=0)

    def edge(self, at_us: int, backlog: int) -> None:
        """The backlog at an edge. The level before an outage is the highest since the start, or since the last recovery."""
        if self._outages and self._outages[0][0] == at_us:
            start_us, end_us = self._outages.pop(0)
            level = round(_SAME * max(*self._levels, backlog)) + 2 * self._slack
            self.waiting.append(Watch(start_us, end_us, backlog, level, None))
        elif not self.waiting:
            self._levels.append(backlog)

    def see(self, at_us: int, backlog: int) -> None:
        """The backlog after a change."""
        for watch in [watch for watch in self.waiting if at_us >= watch.end_us and backlog <= watch.level]:
            self.waiting.remove(watch)
            self.found.append(watch._replace(recovered_us=at_us))
            self._levels = [backlog]

    def close(self) -> list[Watch]:
        """All outages, in order."""
        return sorted([*self.found, *self.waiting])
