"""The account beside the files of a run: what the rules of family 9 share.

What no file of the run names is reported at the pseudo-file `account`, as info: somebody else may know about it. A consumer
that the deploy replaces is judged by its file, one that has to go first is another rule's. In messages, what changes from hour
to hour stands in brackets, so that a baseline knows them again.
"""

from __future__ import annotations

from cfq_lint.facts.keys import is_placeholder, is_queue_name
from cfq_lint.facts.record import record
from cfq_lint.model.account_facts import FREE, QueueFacts
from cfq_lint.model.finding import Severity
from cfq_lint.rules._names import is_id
from cfq_lint.rules._near_misses import Names
from cfq_lint.source.text import Lines, Place

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.account_facts import ConsumerFacts, Facts
    from cfq_lint.model.topology import ConsumerLink, ProducerLink, Topology

WORKER, HTTP_PULL = "worker", "http_pull"
ACCOUNT_PLACE = Place("account", Lines(""), 0, 0)
"""Where stands what stands in no file."""


@record
class Spot:
    """Where something of the account is reported. `severity` is None where the rule's own holds: a file of the run names it."""

    place: Place
    environment: str | None
    severity: Severity | None


@record
class Attachment:
    """A consumer as it is after the deploy: a file's, or the account's own that no file touches.

    `spot` is where its settings are reported, `dead_letter_spot` where its dead-letter queue is. `retries` and `retry_delay`
    are None where they are not known.
    """

    queue: str
    dead_letter_queue: str | None
    dead_letter_spot: Spot
    retries: int | None
    retry_delay: int | None
    spot: Spot
    owner: str


class Account:
    """The account as a run sees it. `queues` are its queues by name, in order; none where it is not known."""

    __slots__ = ("_names", "dead_letter_queues", "facts", "queues", "scripts", "topology")

    def __init__(self, topology: Topology, facts: Facts) -> None:
        known = sorted(facts.known_queues or ()) if facts.is_account else []
        nothing = QueueFacts()
        self.topology = topology
        self.facts = facts
        self.queues = {name: facts.queues.get(name, nothing) for name in known}
        self.dead_letter_queues = facts.dead_letter_queues | topology.dead_letters_into.keys()
        self._names = Names({*self.queues, *topology.consumers_of})
        self.scripts = {worker.script for worker in topology.workers}

    def lacks(self, name: str) -> bool:
        """Whether a queue is certainly missing; a plan makes its own. What is no name, or no final one, is another rule's."""
        if not self.facts.is_account or name in self.queues or name in self.topology.declared:
            return False
        return is_queue_name(name) and not is_placeholder(name) and not is_id(name)

    def similar(self, name: str) -> str | None:
        """The queue of the account, or the consumed one of the run, whose name is one slip away from a missing one."""
        return self._names.near(name)

    def misspelt(self) -> set[str]:
        """The queues of the account that a missing name of the run most likely means: they are not what is wrong."""
        topology = self.topology
        named = {*topology.consumers_of, *topology.producers_of, *topology.dead_letters_into}
        meant = {self.similar(name) for name in sorted(named) if self.lacks(name)}
        return {name for name in meant if name is not None}

    def links(self, queue: str) -> list[ConsumerLink | ProducerLink]:
        """Who names a queue as its own in a file that wrangler reads, consumers first."""
        both = [*self.topology.consumers_of.get(queue, ()), *self.topology.producers_of.get(queue, ())]
        return [link for link in both if link.is_read]

    def spot(self, queue: str) -> Spot:
        """Where a queue is reported: where the run first names it, its consumers before all others."""
        for link in self.links(queue):
            return Spot(link.place, link.environment, None)
        for consumer in self.topology.dead_letters_into.get(queue, ()):
            if consumer.dead_letter_place is not None and consumer.is_read:
                return Spot(consumer.dead_letter_place, consumer.environment, None)
        return Spot(ACCOUNT_PLACE, None, Severity.INFO)

    def attachments(self) -> Iterator[Attachment]:
        """Every consumer that there is after the deploy: the files' in order, then the account's own."""
        for link in self.topology.consumers:
            if link.is_read and link.is_push:
                spot = Spot(link.place, link.environment, None)
                delay = Spot(link.retry_delay_place or link.place, link.environment, None)
                dead = Spot(link.dead_letter_place or link.place, link.environment, None)
                name = link.dead_letter_queue
                yield Attachment(link.queue, name, dead, link.retries, link.retry_delay, delay, "")
        for queue, known in self.queues.items():
            if queue in self.topology.consumers_of:
                continue
            spot = self.spot(queue)
            for each in known.consumers or ():
                if each.script not in self.scripts:
                    retries, delay_seconds = each.settings.get("max_retries"), each.settings.get("retry_delay")
                    yield Attachment(queue, each.dead_letter_queue, spot, retries, delay_seconds, spot, described(each))

    def stays_unconsumed(self, queue: str) -> bool:
        """Whether a queue certainly has no consumer, neither now nor after the deploy."""
        topology = self.topology
        return self.queues[queue].consumers == () and topology.is_whole and queue not in topology.consumers_of


def longer_retention(facts: Facts, queue: str) -> str:
    """How to keep a queue's messages for longer, as the last of several things to do."""
    if facts.plan == FREE:
        return "on the Free plan the retention is fixed"
    return f"or run `wrangler queues update {typed(queue)} --message-retention-period-secs N`"


def typed(name: str) -> str:
    """A name as a shell takes it, for commands that people copy: what a server says is no reason to run something else."""
    is_plain = name.replace("-", "").replace("_", "").isalnum() and not name.startswith("-")
    return name if is_plain else "'" + name.replace("'", "'\\''") + "'"


def described(consumer: ConsumerFacts) -> str:
    """A consumer of the account in words."""
    if consumer.type == WORKER:
        return f"the consumer {consumer.script!r}" if consumer.script else "a Worker's consumer"
    return "the pull consumer" if consumer.type == HTTP_PULL else f"the {consumer.type} consumer"
