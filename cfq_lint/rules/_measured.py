"""What the account measured of the queues of a run: what the rules about it share.

In messages, what changes from day to day stands in brackets, so that a baseline knows them again.
"""

from __future__ import annotations

from cfq_lint.facts import limits
from cfq_lint.facts.record import record
from cfq_lint.rules._account import HTTP_PULL, WORKER, Account

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import ConsumerFacts, Facts, QueueFacts
    from cfq_lint.model.measured import Measured, QueueMeasured
    from cfq_lint.model.topology import Topology
    from cfq_lint.rules._account import Spot

_MS_PER_SECOND = 1_000


@record
class Seen:
    """A queue with what was measured of it."""

    name: str
    hours: QueueMeasured
    facts: QueueFacts
    spot: Spot
    measured: Measured
    is_dead_letter_queue: bool

    @property
    def pushed(self) -> ConsumerFacts | None:
        """The Worker's consumer that it has in the account."""
        return next((each for each in self.facts.consumers or () if each.type == WORKER), None)

    @property
    def is_consumed(self) -> bool:
        """Whether it has a consumer in the account."""
        return bool(self.facts.consumers)

    @property
    def is_pulled(self) -> bool:
        """Whether it is pulled from."""
        return any(each.type == HTTP_PULL for each in self.facts.consumers or ())


def seen(topology: Topology, facts: Facts) -> Iterator[Seen]:
    """The queues that were measured, by name."""
    if facts.measured is None:
        return
    account = Account(topology, facts)
    for queue, hours in facts.measured.queues.items():
        if queue in account.queues:
            is_dead = queue in account.dead_letter_queues
            yield Seen(queue, hours, account.queues[queue], account.spot(queue), facts.measured, is_dead)


def batch_size(consumer: ConsumerFacts) -> int:
    """The most messages of a batch."""
    return consumer.settings.get("batch_size") or limits.BATCH_SIZE_DEFAULT


def batch_seconds(consumer: ConsumerFacts) -> float:
    """How long a batch waits to be filled."""
    wait = consumer.settings.get("max_wait_time_ms")
    return limits.BATCH_TIMEOUT_SECONDS_DEFAULT if wait is None else wait / _MS_PER_SECOND


def retries(consumer: ConsumerFacts) -> int:
    """How often a message is retried."""
    most = consumer.settings.get("max_retries")
    return limits.RETRIES_DEFAULT if most is None else most


def concurrency(consumer: ConsumerFacts) -> int:
    """The most invocations at a time."""
    return consumer.settings.get("max_concurrency") or limits.CONCURRENCY_MAX
