"""Names that differ by one slip of the hand: what `dlq-name-near-miss` and `queue-name-near-miss` go by."""

from __future__ import annotations

from cfq_lint.facts.keys import slips

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import ConsumerLink, Topology

LENGTH_MIN = 4
"""Shorter names, such as `q` and `d`, are near each other by nature."""


def dead_letters_meant(topology: Topology, facts: Facts, consumer: ConsumerLink) -> str | None:
    """The queue that a consumer's dead-letter queue means by a slip; None where its name is known, or nothing is near."""
    name = consumer.dead_letter_queue
    names = {*topology.producers_of, *topology.consumers_of, *(facts.known_queues or ()), *facts.queues}
    if name is None or name in names:
        return None
    return near(name, sorted(names - {consumer.queue}))


def queue_meant(topology: Topology, facts: Facts, name: str) -> str | None:
    """The queue that a producer's queue means by a slip: one that nobody else sends to, or one of the account."""
    known = facts.known_queues or frozenset()
    if name in topology.consumers_of or name in topology.dead_letters_into or name in known:
        return None
    alone = topology.consumers_of.keys() - topology.producers_of.keys() - topology.dead_letters_into.keys()
    return near(name, sorted(alone)) or near(name, sorted(known))


def near(name: str, others: Iterable[str]) -> str | None:
    """The first of `others` that is one letter away from `name`; None where there is none."""
    for other in others:
        if abs(len(other) - len(name)) > 1 or min(len(name), len(other)) < LENGTH_MIN:
            continue
        if _may_be_near(name, other) and slips(name, other) == 1 and _digits(name) == _digits(other):
            return other
    return None


def _may_be_near(name: str, other: str) -> bool:
    """Whether the names agree but for two letters in one place: a quick look, since an account may have 10,000 queues."""
    shortest = min(len(name), len(other))
    start = 0
    while start < shortest and name[start] == other[start]:
        start += 1
    end = 0
    while end < shortest - start and name[-1 - end] == other[-1 - end]:
        end += 1
    return max(len(name), len(other)) - start - end <= _SWAPPED


_SWAPPED = 2


def _digits(name: str) -> list[str]:
    """The digits of a name in any order: where they differ, the names are numbered, not misspelt."""
    return sorted(character for character in name if character.isdigit())
