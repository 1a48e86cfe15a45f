"""What the account measured of the queues of a run: what the rules about it share.

In messages, what changes from day to day stands in brackets, so that a baseline knows them again.
"""

from __future__ import annotations

from cfq_lint.facts.record import record
from cfq_lint.rules._account import HTTP_PULL, Account

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import Facts, QueueFacts
    from cfq_lint.model.finding import Finding
    from cfq_lint.model.measured import Measured, QueueMeasured
    from cfq_lint.model.topology import Topology
    from cfq_lint.rules._account import Spot
    from cfq_lint.rules.rule import Rule


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
    def is_consumed(self) -> bool:
        """Whether it has a consumer in the account."""
        return bool(self.facts.consumers)

    @property
    def is_pulled(self) -> bool:
        """Whether it is pulled from."""
        return any(each.type == HTTP_PULL for each in self.facts.consumers or ())

    def finding(self, rule: Rule, message: str) -> Finding:
        """What a rule says of it, where the run first names it."""
        return rule.finding(self.spot.place, message, environment=self.spot.environment, severity=self.spot.severity)


def seen(topology: Topology, facts: Facts) -> Iterator[Seen]:
    """The queues that were measured, by name."""
    if facts.measured is None:
        return
    account = Account(topology, facts)
    for queue, hours in facts.measured.queues.items():
        if queue in account.queues:
            is_dead = queue in account.dead_letter_queues
            yield Seen(queue, hours, account.queues[queue], account.spot(queue), facts.measured, is_dead)
