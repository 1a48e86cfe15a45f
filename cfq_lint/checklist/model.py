"""What the acceptance list says: ten items, an answer for each queue, and what each answer rests on."""

from __future__ import annotations

from cfq_lint.facts.record import record

PASS, FAIL, UNKNOWN, NOT_ASKED = "pass", "fail", "unknown", "not asked"
VERDICTS = (PASS, FAIL, UNKNOWN, NOT_ASKED)
MECHANISM, OPERATION = "mechanism", "operation"

FILE, ACCOUNT, DECLARED, CODE, RULE = "file", "account", "declared", "code", "rule"
KINDS = (FILE, ACCOUNT, DECLARED, CODE, RULE)


@record
class Evidence:
    """Something that an answer rests on: what kind it is, where it stands (`path:line:column`, or a name), and what it says."""

    kind: str
    where: str
    text: str


@record
class Answer:
    """What is known of one item for one queue. `todo` says how to find out, or what to mend; empty where it passes."""

    queue: str
    verdict: str
    said: str
    evidence: tuple[Evidence, ...] = ()
    todo: tuple[str, ...] = ()


@record
class Item:
    """One line of the list: its verdict is the worst of its answers."""

    number: int
    name: str
    title: str
    criterion: str
    kind: str
    source: str
    answers: tuple[Answer, ...]

    @property
    def verdict(self) -> str:
        """`fail` where one queue fails, else `unknown` where one is not known or none was asked, else `pass`."""
        verdicts = {answer.verdict for answer in self.answers}
        if FAIL in verdicts:
            return FAIL
        return UNKNOWN if UNKNOWN in verdicts or PASS not in verdicts else PASS


@record
class Checklist:
    """The whole list. `queues` are those that were asked about, `passed_over` files that are not deployed."""

    items: tuple[Item, ...]
    queues: tuple[str, ...]
    files: tuple[str, ...]
    passed_over: tuple[str, ...] = ()

    @property
    def matrix(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """A row for each queue: its name, and its verdict on every item, in the order of the items."""
        found: dict[str, list[str]] = {queue: [NOT_ASKED] * len(self.items) for queue in self.queues}
        for column, item in enumerate(self.items):
            for answer in item.answers:
                found[answer.queue][column] = _worse(found[answer.queue][column], answer.verdict)
        return tuple((queue, tuple(verdicts)) for queue, verdicts in found.items())

    def count(self, verdict: str) -> int:
        """How many items have that verdict."""
        return sum(item.verdict == verdict for item in self.items)


def _worse(one: str, other: str) -> str:
    """The verdict of two on one queue: that it fails counts most, that it was not asked least."""
    return max(one, other, key=(NOT_ASKED, PASS, UNKNOWN, FAIL).index)
