"""What an account may use up: the Free plan's operations of a day, a queue's pulls of a second, an invocation's calls.

https://developers.cloudflare.com/queues/platform/pricing/ (10,000 operations a day), .../queues/platform/limits/ (5,000
messages a second and queue, also for pulls and acknowledgements) and .../workers/platform/limits/ (subrequests).
"""

from __future__ import annotations

from collections import deque
from contextvars import ContextVar
from typing import TYPE_CHECKING

from cfq_lint.facts.pricing import chunks
from emulator.core.limits import SECOND_US
from emulator.core.refusals import FreeTierLimitExceeded
from emulator.engine.ledger.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from emulator.core.events import Event

_DAY_US = 86_400 * SECOND_US


class Day:
    """The operations of the day that it is, in UTC, as Cloudflare bills them. A plan of `most` refuses what would be more.

    Only what somebody asks for is refused: sends and pulls. Deliveries go on, and count. `read` gives events behind a number.
    """

    def __init__(self, read: Callable[[int], Iterator[Event]], most: int) -> None:
        self.used, self._most, self._read, self._day = 0, most, read, -1
        self._ledger = Ledger(keeps=False)

    def check(self, now_us: int, operations: int) -> None:
        """Raise FreeTierLimitExceeded (10253) where so many more would be too many."""
        for event in self._read(self._ledger.sequence):
            self._turn(event.at_us)
            before = self._billed(event)
            self._ledger.take(event)
            self.used += max(0, self._billed(event) - before)  # with a queue its numbers are gone, and not what was used
        self._turn(now_us)
        if self.used + operations > self._most:
            raise FreeTierLimitExceeded

    def _turn(self, at_us: int) -> None:
        day = at_us // _DAY_US
        if day != self._day:
            self._day, self.used = day, 0

    def _billed(self, event: Event) -> int:
        names = {getattr(event, "queue", None), getattr(event, "target", None)} - {None}
        return sum(self._ledger.tallies[name].operations.total() for name in names if name in self._ledger.tallies)


def writes(bodies: Iterable[bytes]) -> int:
    """How many operations it is to store these."""
    return sum(map(chunks, map(len, bodies)))


class Second:
    """How many messages went through each queue within the last second, one way."""

    def __init__(self) -> None:
        self._moments: dict[str, deque[tuple[int, int]]] = {}
        self._sums: dict[str, int] = {}

    def fits(self, queue: str, now_us: int, count: int, most: int | None) -> bool:
        """Whether so many more may go through."""
        moments = self._moments.get(queue)
        if most is None or moments is None:
            return True
        while moments and moments[0][0] <= now_us - SECOND_US:
            self._sums[queue] -= moments.popleft()[1]
        return self._sums[queue] + count <= most

    def count(self, queue: str, now_us: int, count: int) -> None:
        """So many more have gone through."""
        moments = self._moments.setdefault(queue, deque())
        self._sums[queue] = self._sums.get(queue, 0) + count
        if moments and moments[-1][0] == now_us:
            count += moments.pop()[1]
        moments.append((now_us, count))


class TooManySubrequests(RuntimeError):  # noqa: N818 - what is wrong
    """An invocation has called more of bindings and other servers than its plan allows."""

    def __init__(self) -> None:
        super().__init__("Too many subrequests by single Worker invocation.")


class Calls:
    """The calls of a request or a cron trigger; `most` None is no limit."""

    __slots__ = ("_made", "_most")

    def __init__(self, most: int | None) -> None:
        self._made, self._most = 0, most

    def spend(self) -> None:
        """One call more. Raises TooManySubrequests."""
        self._made += 1
        if self._most is not None and self._made > self._most:
            raise TooManySubrequests


of_request: ContextVar[Calls | None] = ContextVar("calls", default=None)
"""The calls of a request or a cron trigger, which is no queue's invocation."""
