"""Names that differ by one slip of the hand: what `dlq-name-near-miss` and `queue-name-near-miss` go by."""

from __future__ import annotations

from cfq_lint.facts.keys import slips
from cfq_lint.facts.limits import QUEUE_NAME_LENGTH_MAX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import ConsumerLink, Topology

LENGTH_MIN = 4
"""Shorter names, such as `q` and `d`, are near each other by nature."""


class Names:
    """Names among which one that is a slip away from another is found at once, however many there are.

    Two names that are one slip apart are equal when each loses at most one letter, the same or neighbours.
    """

    __slots__ = ("_by_rest", "_names")

    def __init__(self, names: Iterable[str]) -> None:
        self._names = names
        self._by_rest: dict[str, list[str]] | None = None

    def near(self, name: str, but: str | None = None) -> str | None:
        """The first name, in order of the alphabet, that is one letter away from `name` and is not `but`; None without any."""
        if self._by_rest is None:  # most runs never ask
            self._by_rest = {}
            for each in self._names:
                for rest in _rests(each):
                    self._by_rest.setdefault(rest, []).append(each)
        found = {other for rest in _rests(name) for other in self._by_rest.get(rest, ()) if other != but}
        return next((each for each in sorted(found) if slips(name, each) == 1 and _digits(name) == _digits(each)), None)


class Meant:
    """What misspelt names of a run mean."""

    __slots__ = ("_account", "_alone", "_known_queues", "_names", "_queues", "_topology")

    def __init__(self, topology: Topology, facts: Facts) -> None:
        self._topology = topology
        self._known_queues = facts.known_queues or frozenset()
        self._queues = {*topology.producers_of, *topology.consumers_of, *self._known_queues, *facts.queues}
        self._names = Names(self._queues)
        self._account = Names(self._known_queues)
        self._alone = Names(topology.consumers_of.keys() - topology.producers_of.keys() - topology.dead_letters_into.keys())

    def by_dead_letters(self, consumer: ConsumerLink) -> str | None:
        """The queue that a consumer's dead-letter queue means; None where its name is known, or nothing is near."""
        name = consumer.dead_letter_queue
        return None if name is None or name in self._queues else self._names.near(name, consumer.queue)

    def by_queue(self, name: str) -> str | None:
        """The queue that a producer's queue means: one that nobody else sends to, or one of the account."""
        if name in self._topology.consumers_of or name in self._topology.dead_letters_into or name in self._known_queues:
            return None
        return self._alone.near(name) or self._account.near(name)


def _rests(name: str) -> Iterator[str]:
    """A name, and what is left of it without one letter. None of what is no queue's name or too short to tell."""
    if LENGTH_MIN <= len(name) <= QUEUE_NAME_LENGTH_MAX + 1:
        yield name
        for at in range(len(name)):
            yield name[:at] + name[at + 1 :]


def _digits(name: str) -> list[str]:
    """The digits of a name in any order: where they differ, the names are numbered, not misspelt."""
    return sorted(character for character in name if character.isdigit())
