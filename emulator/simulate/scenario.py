"""What is simulated: a load, a modelled consumer, and queues with their settings. Plain values that travel to other processes.

Times are whole microseconds from the start of the run (`_us`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from cfq_lint.facts import limits
from emulator.core.limits import SECOND_US
from emulator.simulate.sources import Fed, Steady

if TYPE_CHECKING:
    from emulator.core.model import Consumer
    from emulator.simulate.sources import Source

MESSAGE, BATCH = "message", "batch"
"""What a failure does: only that message is retried, or the handler throws and the whole batch is."""

KILOBYTE = 1_000


class Load(NamedTuple):
    """Producer and consumer as they are modelled.

    Messages are sent one by one, evenly spaced, to every loaded queue. A delivery takes `processing_us` and
    `processing_message_us` for each message in the batch. `failure` is the share of deliveries of a message that fail;
    a batch that is handed over in an outage fails as a whole, after the same time. Consumers of dead-letter queues fail with
    `dead_letter_failure`, and outages do not touch them.
    """

    rate: Fraction = Fraction(1)
    duration_us: int = 3_600 * SECOND_US
    outages: tuple[tuple[int, int], ...] = ()
    failure: float = 0.0
    dead_letter_failure: float = 0.0
    processing_us: int = 0
    processing_message_us: int = 0
    mode: str = BATCH
    size_bytes: int = KILOBYTE
    seed: int = 0
    plan: str = "paid"
    drain: bool = False


class Seen(NamedTuple):
    """What the account counted of a queue in a window; the backlog is an hour's average, at the most."""

    window: str
    sent: int
    delivered: int
    acked: int
    dead_lettered: int
    dropped: int
    operations: int
    backlog_max: float | None


class Traffic(NamedTuple):
    """What one queue got in the account, in the place of the load: `lots` of messages, evenly from one moment to another.

    `failure` is the share of deliveries that failed outside of `outages`, `processing_us` what an invocation took, None where
    nobody measured it. `seen` is what became of them.
    """

    lots: tuple[tuple[int, int, int], ...]
    failure: float
    outages: tuple[tuple[int, int], ...]
    size_bytes: int
    seen: Seen
    processing_us: int | None = None


class Setting(NamedTuple):
    """One queue: its consumer (None: nobody consumes it), what is set on the queue itself, whether the load is sent to it."""

    name: str
    consumer: Consumer | None
    delivery_delay: int = limits.DELIVERY_DELAY_SECONDS_DEFAULT
    message_retention_period: int = limits.RETENTION_SECONDS_DEFAULT
    loaded: bool = False
    dead_letters: bool = False
    traffic: Traffic | None = None


class Scenario(NamedTuple):
    """A load on queues. `label` says where the settings come from."""

    load: Load
    queues: tuple[Setting, ...]
    label: str = ""

    def queue(self, name: str) -> Setting:
        """The queue of that name."""
        return next(queue for queue in self.queues if queue.name == name)

    def share(self, queue: Setting) -> float:
        """The share of deliveries that fail outside of outages."""
        if queue.traffic is not None:
            return queue.traffic.failure
        return self.load.dead_letter_failure if queue.dead_letters else self.load.failure

    def outages(self, queue: Setting) -> tuple[tuple[int, int], ...]:
        """When its deliveries all fail."""
        if queue.traffic is not None:
            return queue.traffic.outages
        return () if queue.dead_letters else self.load.outages

    def size_bytes(self, queue: Setting) -> int:
        """The size of a message."""
        return self.load.size_bytes if queue.traffic is None else queue.traffic.size_bytes

    def source(self, queue: Setting) -> Source:
        """What is sent to a loaded queue."""
        if queue.traffic is not None:
            return Fed(queue.traffic.lots)
        return Steady(self.load.rate, self.load.duration_us)

    def peak_rate(self, queue: Setting) -> float:
        """Messages a second, where the most are sent."""
        if queue.traffic is None:
            return float(self.load.rate)
        return max((count * SECOND_US / (end_us - start_us) for start_us, end_us, count in queue.traffic.lots), default=0.0)

    @property
    def messages(self) -> int:
        """How many messages are sent to all queues together."""
        return sum(self.source(queue).total for queue in self.queues if queue.loaded)

    def invocation_us(self, queue: Setting, count: int) -> tuple[int, bool]:
        """How long a delivery of so many messages takes, a microsecond at least, and whether it runs out of its 15 minutes."""
        measured_us = None if queue.traffic is None else queue.traffic.processing_us
        processing_us = self.load.processing_us if measured_us is None else measured_us
        took_us = max(1, processing_us + self.load.processing_message_us * count)
        wall_us = limits.CONSUMER_WALL_SECONDS * SECOND_US
        return min(took_us, wall_us), took_us > wall_us


def in_outage(outages: tuple[tuple[int, int], ...], at_us: int) -> bool:
    """Whether a delivery that begins at this moment falls into an outage."""
    return any(start_us <= at_us < end_us for start_us, end_us in outages)
