"""Items 5 and 6: how often a message is retried, and where it ends when all retries failed."""

from __future__ import annotations

from cfq_lint.checklist.common import ASK_THE_ACCOUNT, at, declare, declared, known, table, whose
from cfq_lint.checklist.model import FAIL, NOT_ASKED, PASS, RULE, UNKNOWN, Answer, Evidence
from cfq_lint.facts import limits
from cfq_lint.facts.quantities import seconds
from cfq_lint.facts.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cfq_lint.model.project import Project, Subject
    from cfq_lint.model.wrangler import Consumer

_RANGE = f"{limits.RETRIES_MIN} to {limits.RETRIES_MAX}"


def max_retries(subject: Subject, project: Project) -> Answer:
    """Item 5: the number of retries stands in the file."""
    consumer = subject.consumer
    if consumer is None:
        values = [each.settings.get("max_retries") for each in subject.account_consumers or ()]
        evidence = tuple(known(project.facts, f"max_retries is {value}") for value in values if value is not None)
        todo = (f"name the file of {subject.queue}'s consumer beside {whose(subject)}",)
        return Answer(subject.described, UNKNOWN, "its consumer is not in the run", evidence, todo)
    field = consumer.field("max_retries")
    if field is None:
        where = consumer.queue.place if consumer.queue is not None else consumer.place
        said = f"max_retries is not set: the default of {limits.RETRIES_DEFAULT} holds without anybody having decided it"
        misspelt = [field for field, spelling in consumer.misspelt() if spelling.key == "max_retries"]
        evidence = tuple(at(each.key_place, f"{each.key!r} is not read; max_retries is meant") for each in misspelt)
        evidence = evidence or (at(where, f"the consumer of {subject.queue!r} has no max_retries"),)
        todo = (f"set max_retries, {_RANGE}; {limits.RETRIES_DEFAULT} is the default that Cloudflare recommends in most cases",)
        return Answer(subject.described, FAIL, said, evidence, todo)
    value = field.integer
    if value is None or not limits.RETRIES_MIN <= value <= limits.RETRIES_MAX:
        said = f"max_retries is {field.shown}, and takes a whole number from {_RANGE}"
        return Answer(subject.described, FAIL, said, (at(field.place, f"max_retries is {field.shown}"),), (f"set {_RANGE}",))
    known_too = f"default {limits.RETRIES_DEFAULT}, at most {limits.RETRIES_MAX}"
    said = f"max_retries is set to {value}, so at most {value + 1} deliveries ({known_too})"
    return Answer(subject.described, PASS, said, (at(field.place, f"max_retries is {value}"),))


@record
class _Step:
    """One of the steps in which a dead-letter queue is looked at."""

    verdict: str
    said: str
    evidence: tuple[Evidence, ...] = ()
    todo: tuple[str, ...] = ()


def dead_letters(subject: Subject, project: Project) -> Answer:
    """Item 6, in this order: configured, in the same jurisdiction, consumed, and somebody hears of that consumer's failures."""
    if subject.dead_letters_of and (subject.consumer is None or not subject.consumer.means("dead_letter_queue")):
        said = f"it is itself the dead-letter queue of {', '.join(subject.dead_letters_of)}"
        return Answer(subject.described, NOT_ASKED, said)
    configured, name = _configured(subject, project)
    steps = [configured]
    if name:
        steps += [_jurisdiction(subject, project, name), _consumed(project, name), _heard(project, name)]
    verdicts = {step.verdict for step in steps}
    verdict = FAIL if FAIL in verdicts else UNKNOWN if UNKNOWN in verdicts else PASS
    told = [step.said for step in steps if verdict != FAIL or step.verdict == FAIL]
    return Answer(
        subject.described,
        verdict,
        "; ".join(told),
        tuple(each for step in steps for each in step.evidence),
        tuple(each for step in steps if step.verdict == verdict for each in step.todo),
    )


def _configured(subject: Subject, project: Project) -> tuple[_Step, str]:
    consumer = subject.consumer
    if consumer is not None:
        return _configured_in(consumer, subject.queue, project)
    names = [each.dead_letter_queue for each in subject.account_consumers or ()]
    if not names:
        todo = (f"name the file of {subject.queue}'s consumer beside {whose(subject)}",)
        return _Step(UNKNOWN, "its consumer is not in the run", (), todo), ""
    if names[0] is None:
        said = "no dead-letter queue: what fails all retries is deleted for good"
        return _Step(FAIL, said, (known(project.facts, "its consumer has no dead-letter queue"),), ("give it one",)), ""
    return _Step(PASS, f"{names[0]!r} is configured", (known(project.facts, f"dead_letter_queue is {names[0]!r}"),)), names[0]


def _configured_in(consumer: Consumer, queue: str, project: Project) -> tuple[_Step, str]:
    dead = consumer.dead_letter_queue
    if dead is None:
        said = "no dead-letter queue: what fails all retries is deleted for good"
        where = consumer.queue.place if consumer.queue is not None else consumer.place
        todo = "set dead_letter_queue, and give that queue a consumer"
        attached = project.facts.attached(queue, consumer.script)
        if attached is not None and attached.dead_letter_queue is not None:
            name = attached.dead_letter_queue
            evidence = (at(where, "the consumer has no dead_letter_queue"), known(project.facts, f"the consumer's is {name!r}"))
            doubt = f"{name!r} is configured in the account, and nothing in the file: whether a deploy keeps it is not known"
            return _Step(UNKNOWN, doubt, evidence, (f"write dead_letter_queue {name!r} into the file",)), name
        return _Step(FAIL, said, (at(where, "the consumer has no dead_letter_queue"),), (todo,)), ""
    name = str(dead.text)
    if name == queue:
        evidence = (at(dead.place, "dead_letter_queue names its own queue"), Evidence(RULE, "CFQ302", "dlq-self"))
        return _Step(FAIL, "the queue is its own dead-letter queue", evidence, ("name another queue",)), ""
    return _Step(PASS, f"{name!r} is configured", (at(dead.place, f"dead_letter_queue is {name!r}"),)), name


def _jurisdiction(subject: Subject, project: Project, name: str) -> _Step:
    facts = project.facts
    own, other = facts.queues.get(subject.queue), facts.queues.get(name)
    if facts.known_queues is not None and name not in facts.known_queues and other is None:
        said = f"{name!r} does not exist yet; Cloudflare creates it in the jurisdiction of {subject.queue!r}"
        return _Step(PASS, said, (known(facts, f"no queue {name!r}"),))
    places = (own.jurisdiction if own is not None else None, other.jurisdiction if other is not None else None)
    evidence = tuple(
        known(facts, f"{queue!r} is {place}")
        for queue, place in zip((subject.queue, name), places, strict=True)
        if place is not None
    )
    if None in places:
        missing = [queue for queue, place in zip((subject.queue, name), places, strict=True) if place is None]
        todo = f"{declare(missing[0], 'jurisdiction')}{''.join(f' and in {table(each)}' for each in missing[1:])}"
        said = f"whether {name!r} is in the same jurisdiction is not known"
        return _Step(UNKNOWN, said, evidence, (f"{ASK_THE_ACCOUNT}; or {todo}",))
    if places[0] != places[1]:
        said = f"{name!r} is in another jurisdiction ({places[1]}) than {subject.queue!r} ({places[0]})"
        return _Step(FAIL, said, evidence, ("a queue's jurisdiction is set when it is made: make another dead-letter queue",))
    return _Step(PASS, f"both are in the jurisdiction {places[0]}", evidence)


def _consumed(project: Project, name: str) -> _Step:
    found = project.consumed.get(name, ())
    if found:
        evidence = tuple(at(each.place, f"consumes {name!r}") for each in found)
        return _Step(PASS, f"{name!r} has a consumer", evidence)
    consumers = project.facts.consumers(name)
    if consumers:
        evidence = tuple(known(project.facts, f"{name!r} is consumed by {each.script or each.type}") for each in consumers)
        return _Step(PASS, f"{name!r} has a consumer", evidence)
    if consumers is None:
        todo = f"name the file of {name}'s consumer as well, or {ASK_THE_ACCOUNT}"
        return _Step(UNKNOWN, f"whether somebody consumes {name!r} is not known", (), (todo,))
    kept = seconds(project.facts.unconsumed_dead_letter_seconds(name))
    said = f"nobody consumes {name!r}: its messages are deleted after {kept}"
    return _Step(FAIL, said, (known(project.facts, f"{name!r} has no consumer"),), (f"give {name!r} a consumer",))


def _heard(project: Project, name: str) -> _Step:
    alert = project.facts.load(name).alert
    if alert is None:
        said = f"whether somebody hears of it when the consumer of {name!r} fails is not known"
        return _Step(UNKNOWN, said, (), (declare(name, "alert"),))
    return _Step(PASS, f"{alert} is told when the consumer of {name!r} fails", (declared(name, "alert", alert),))
