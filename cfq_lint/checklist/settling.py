"""Item 4: each message is acknowledged on its own, and only after its side effect.

The end of a handler, and `ackAll()`, acknowledge a whole batch. That is not message by message: one failure delivers again
what was done already. So it fails where work is done message by message. After one piece of work for all of the batch it is
not known, since it is right where that work is all or nothing; a batch of one message is the message.
"""

from __future__ import annotations

from cfq_lint.checklist.common import declare, declared, known, remarked, whose
from cfq_lint.checklist.handling import BAD, GOOD, UNSURE, acknowledging
from cfq_lint.checklist.model import FAIL, PASS, UNKNOWN, Answer, Evidence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.project import Project, Subject


def acknowledgement(subject: Subject, project: Project) -> Answer:
    """Item 4. What is certainly wrong in the source fails, whatever is declared."""
    how = subject.load.acknowledgement
    said: tuple[Evidence, ...] = () if how is None else (declared(subject.queue, "acknowledgement", how),)
    if subject.code is None:
        return _unread(subject, project, said)
    remarks = acknowledging(subject.code, project.facts)
    problem = subject.code.consuming[0].handled.problem
    evidence = (*said, *map(remarked, remarks))
    kinds = {remark.kind for remark in remarks}
    if BAD in kinds:
        todo = ("call ack() on each message when its work is done, and retry() or throw where it failed",)
        return Answer(subject.described, FAIL, "not each message is acknowledged on its own, after its work", evidence, todo)
    if how is not None:
        return Answer(subject.described, PASS, "it is declared that ack() follows each message's side effect", evidence)
    look = f"look at the handler, and {declare(subject.queue, 'acknowledgement')}"
    if problem:
        return Answer(subject.described, UNKNOWN, problem, (), _mended(subject, look))
    if UNSURE in kinds:
        said_of_it = "whether each message is acknowledged on its own, after its work, is not certain"
        return Answer(subject.described, UNKNOWN, said_of_it, evidence, (look,))
    if GOOD in kinds:
        return Answer(subject.described, PASS, "each message is acknowledged after its work", evidence)
    said_of_it = "no work on the messages that somebody waits for was found in the handler"
    return Answer(subject.described, UNKNOWN, said_of_it, evidence, (look,))


def _mended(subject: Subject, look: str) -> tuple[str, ...]:
    program = subject.program
    return (f"{program.remedy}, and run again", f"or {look}") if program is not None and program.remedy else (look,)


def _unread(subject: Subject, project: Project, said: tuple[Evidence, ...]) -> Answer:
    """Of a queue that no file of the run consumes."""
    consumers = subject.account_consumers or ()
    evidence = (*said, *(known(project.facts, f"is consumed by {each.script or each.type}") for each in consumers))
    if said:
        return Answer(subject.described, PASS, "it is declared that ack() follows each message's side effect", evidence)
    todo = (
        f"name the file of {subject.queue}'s consumer beside {whose(subject)}, or {declare(subject.queue, 'acknowledgement')}"
    )
    return Answer(subject.described, UNKNOWN, "its consumer is not in the run", evidence, (todo,))
