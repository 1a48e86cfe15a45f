"""Item 3: the producer makes a key that travels in the message, and the consumer refuses what it has seen by it."""

from __future__ import annotations

import re

from cfq_lint.checklist.common import declare, declared, in_code, remarked, whose
from cfq_lint.checklist.handling import BAD, GOOD, deduplicating
from cfq_lint.checklist.model import FAIL, NOT_ASKED, PASS, UNKNOWN, Answer, Evidence
from cfq_lint.checklist.sending import sent_to, unread
from cfq_lint.facts.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.project import Project, Subject

_LIKE_A_KEY = re.compile(r"(?:^|_)(?:id|key|uuid|ulid)$|(?:Id|ID|Key|Uuid)$")


@record
class _Side:
    """What is known of one of the two sides: its verdict, in words, what it rests on, and what to do."""

    verdict: str
    said: str
    evidence: tuple[Evidence, ...] = ()
    todo: tuple[str, ...] = ()


def idempotency_key(subject: Subject, _project: Project) -> Answer:
    """Item 3. Both sides have to be known; one that is certainly wrong is enough to fail."""
    if subject.only_dead_letters:
        said = f"its messages carry the key that they had in {', '.join(subject.dead_letters_of)}"
        return Answer(subject.described, NOT_ASKED, said)
    sides = (_producing(subject), _consuming(subject))
    verdicts = {side.verdict for side in sides}
    verdict = FAIL if FAIL in verdicts else UNKNOWN if UNKNOWN in verdicts else PASS
    shown = [side for side in sides if side.verdict == FAIL] if verdict == FAIL else sides
    return Answer(
        subject.described,
        verdict,
        "; ".join(side.said for side in shown),
        tuple(each for side in sides for each in side.evidence),
        tuple(each for side in sides if side.verdict == verdict for each in side.todo),
    )


def _producing(subject: Subject) -> _Side:
    key = subject.load.idempotency_key
    found = [sent for _, sent in sent_to(subject)]
    if key is not None:
        said = (declared(subject.queue, "idempotency_key", key),)
        lacking = [sent for sent in found if sent.keys is not None and key not in sent.keys]
        if lacking:
            evidence = (*said, *(in_code(sent.spot, f"is sent without {key!r}") for sent in lacking))
            return _Side(FAIL, f"what is sent has no {key!r}", evidence, (f"send {key!r} in every message",))
        holding = tuple(in_code(sent.spot, f"is sent with {key!r}") for sent in found if sent.keys is not None)
        return _Side(PASS, f"the producer sends {key!r}", (*said, *holding))
    if found and all(sent.fresh for sent in found) and not unread(subject):
        evidence = tuple(in_code(sent.spot, f"is sent with an id made here: {', '.join(sorted(sent.fresh))}") for sent in found)
        return _Side(PASS, "the producer makes an id for each message", evidence)
    likely = sorted({name for sent in found for name in sent.keys or () if _LIKE_A_KEY.search(name)})
    todo = list(unread(subject))
    if likely:
        todo.append(
            f"if {' or '.join(map(repr, likely))} is unique to each message, {declare(subject.queue, 'idempotency_key')}"
        )
    else:
        todo.append(f"send a unique id in every message, and {declare(subject.queue, 'idempotency_key')}")
    evidence = tuple(
        in_code(sent.spot, "is sent" + (f" with {', '.join(sorted(sent.keys))}" if sent.keys else "")) for sent in found
    )
    return _Side(UNKNOWN, "whether the producer sends a unique key is not known", evidence, tuple(todo))


def _consuming(subject: Subject) -> _Side:
    how = subject.load.deduplication
    said = () if how is None else (declared(subject.queue, "deduplication", how),)
    todo = [declare(subject.queue, "deduplication")]
    if subject.code is None or subject.program is None:
        if said:
            return _Side(PASS, "the consumer is declared to refuse what it has seen", said)
        return _Side(
            UNKNOWN,
            "its consumer is not in the run",
            (),
            (f"name the file of {subject.queue}'s consumer as well", "or " + todo[0]),
        )
    remarks, problem = deduplicating(subject.code), subject.code.consuming[0].handled.problem
    evidence = (*said, *map(remarked, remarks))
    bad = [remark for remark in remarks if remark.kind == BAD]
    if bad and not any(remark.kind == GOOD for remark in remarks):
        mend = "take the key from the message: one that is made here is another one at the next delivery"
        return _Side(FAIL, "the consumer makes the key itself", evidence, (mend,))
    if said:
        return _Side(PASS, "the consumer is declared to refuse what it has seen", evidence)
    if bad or not any(remark.kind == GOOD for remark in remarks):
        reason = "whether the consumer refuses what it has seen is not known"
        if problem:
            todo = [f"{problem}: {subject.program.remedy or 'look at ' + whose(subject)}", "or " + todo[0]]
        else:
            todo = ["insert by the key with a unique column, or pass it on as idempotency key", "or " + todo[0]]
        return _Side(UNKNOWN, reason, evidence, tuple(todo))
    return _Side(PASS, "the consumer refuses what it has seen", evidence)
