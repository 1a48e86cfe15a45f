"""What a Worker is given by the emulator that runs it. It knows nothing else of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable
    from datetime import datetime

    from emulator.engine.account import Account
    from emulator.engine.alarms import Alarms
    from emulator.engine.delivery import Deliveries, Target
    from emulator.workers.bindings import Environment
    from emulator.workers.cron import Cron
    from emulator.workers.stores.shared import Stores


class Attachable(ABC):
    """A Worker that brings its own target; every other handler is Python's."""

    @abstractmethod
    def target(self) -> Target:
        """Where its batches go."""


class Host(NamedTuple):
    """An account with somebody who moves its time.

    `now_us` is its clock. `run` gives an awaitable that runs a coroutine in virtual time, in whatever loop it is awaited;
    `keep` runs an awaitable to its end beside everything else. `queue` gives a queue to send to, `attach` gives a queue's
    consumer its handler, `warn` puts a line into the report. `claimed` are the queues whose consumers have been set,
    `deliveries` what is out, and what runs handlers, `alarms` what goes off as time passes. `schedule` has a Worker's
    `scheduled(cron, moment)` called at the moments of its crons, instead of those set before.
    """

    account: Account
    env: Environment
    stores: Stores
    claimed: set[str]
    deliveries: Deliveries
    alarms: Alarms
    flags: frozenset[str]
    content_type: str
    now_us: Callable[[], int]
    queue: Callable[[str], Any]
    attach: Callable[[Any, str], Any]
    run: Callable[[Coroutine[Any, Any, Any]], Awaitable[Any]]
    keep: Callable[[Awaitable[Any]], None]
    warn: Callable[[str], None]
    schedule: Callable[[str, Iterable[Cron], Callable[[str, datetime], Awaitable[Any]]], None]
