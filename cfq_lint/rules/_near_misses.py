"""Names that differ by one slip of the hand: what `dlq-name-near-miss` and `queue-name-near-miss` go by."""

from __future__ import annotations

from cfq_lint.facts.limits import QUEUE_NAME_LENGTH_MAX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cfq_lint.model.account_facts import Facts
    from cfq_lint.model.topology import ConsumerLink, Topology

LENGTH_MIN = 4
"""Shorter names, such as `q` and `d`, are near each other by nature."""
LENGTH_MAX = QUEUE_NAME_LENGTH_MAX + 1
"""What is longer is no queue's name, and no slip of one."""


FEW = 16
"""So many names are sooner compared one by one than put into an index."""


class Names:
    """Names among which one that is a slip away from another is found at once, however many there are.

    Two names that are one slip apart are equal when each loses at most one letter, the same or neighbours. Names with other
    digits are numbered, not misspelt, so that each is looked for among those with its own digits alone.
    """

    __slots__ = ("_by_digits", "_by_rest", "_names")

    def __init__(self, names: Iterable[str]) -> None:
        self._names = names
        self._by_digits: dict[str, list[str]] | None = None
        self._by_rest: dict[str, dict[str, list[str]]] = {}

    def near(self, name: str, but: str | None = None) -> str | None:
        """The first name, in order of the alphabet, that is one letter away from `name` and is not `but`; None without any."""
        if not LENGTH_MIN <= len(name) <= LENGTH_MAX:
            return None
        found = [each for each in self._candidates(name) if each != but and is_one_slip(name, each)]
        return min(found) if found else None

    def _candidates(self, name: str) -> Iterable[str]:
        """Names that may be a slip away; what is looked up is made when it is first asked for, as most runs never ask."""
        if self._by_digits is None:
            self._by_digits = {}
            for each in self._names:
                if LENGTH_MIN <= len(each) <= LENGTH_MAX:
                    self._by_digits.setdefault(_digits(each), []).append(each)
        digits = _digits(name)
        named = self._by_digits.get(digits, [])
        if len(named) <= FEW:
            return named
        by_rest = self._by_rest.get(digits)
        if by_rest is None:
            by_rest = self._by_rest[digits] = {}
            for each in named:
                for rest in _rests(each):
                    by_rest.setdefault(rest, []).append(each)
        return {each for rest in _rests(name) for each in by_rest.get(rest, ())}


def meant_by(topology: Topology, facts: Facts) -> Meant:
    """What misspelt names of a run mean; made once for all rules that ask."""
    kept: Meant | None = topology.kept.get(__name__)
    if kept is None or kept.facts is not facts:
        kept = topology.kept[__name__] = Meant(topology, facts)
    return kept


class Meant:
    """What misspelt names of a run mean."""

    __slots__ = ("_account", "_alone", "_known_queues", "_meant_by", "_names", "_queues", "_topology", "facts")

    def __init__(self, topology: Topology, facts: Facts) -> None:
        self.facts = facts
        self._meant_by: dict[tuple[str, str], str | None] = {}
        self._topology = topology
        self._known_queues = facts.known_queues or frozenset()
        self._queues = {*topology.producers_of, *topology.consumers_of, *self._known_queues, *facts.queues}
        self._names = Names(self._queues)
        self._account = Names(self._known_queues)
        self._alone = Names(topology.consumers_of.keys() - topology.producers_of.keys() - topology.dead_letters_into.keys())

    def by_dead_letters(self, consumer: ConsumerLink) -> str | None:
        """The queue that a consumer's dead-letter queue means; None where its name is known, or nothing is near."""
        name = consumer.dead_letter_queue
        if name is None or name in self._queues:
            return None
        key = (name, consumer.queue)
        if key not in self._meant_by:
            self._meant_by[key] = self._names.near(name, consumer.queue)
        return self._meant_by[key]

    def by_queue(self, name: str) -> str | None:
        """The queue that a producer's queue means: one that nobody else sends to, or one of the account."""
        if name in self._topology.consumers_of or name in self._topology.dead_letters_into or name in self._known_queues:
            return None
        return self._alone.near(name) or self._account.near(name)


def _rests(name: str) -> Iterator[str]:
    """A name, and what is left of it without one letter."""
    yield name
    for at in range(len(name)):
        yield name[:at] + name[at + 1 :]


def _digits(name: str) -> str:
    """The digits of a name, in order of size."""
    return "".join(sorted(character for character in name if character in _DIGITS)) if not _DIGITS.isdisjoint(name) else ""


_DIGITS = frozenset("0123456789")


def is_one_slip(a: str, b: str) -> bool:
    """Whether `slips(a, b)` is 1: a letter added, lost or changed, or two neighbours swapped."""
    half = (min(len(a), len(b)) - 1) // 2  # a slip is in one half, at most
    if abs(len(a) - len(b)) > 1 or (a[:half] != b[:half] and a[-half:] != b[-half:]):
        return False
    first = next((at for at, (left, right) in enumerate(zip(a, b, strict=False)) if left != right), min(len(a), len(b)))
    rest_a, rest_b = a[first:], b[first:]
    if len(a) == len(b):
        return bool(rest_a) and (rest_a[1:] == rest_b[1:] or (rest_a[:2] == rest_b[1::-1] and rest_a[2:] == rest_b[2:]))
    return rest_a[1:] == rest_b or rest_a == rest_b[1:]
