"""The queues of a run with all that concerns each: consumer and producers in files and account, and their sources."""

from __future__ import annotations

from cfq_lint.facts.record import record, replace
from cfq_lint.model.consuming import Code, consuming_of, handled_once
from cfq_lint.model.sources import program_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.model.account_facts import ConsumerFacts, DeclaredLoad, Facts, QueueFacts
    from cfq_lint.model.wrangler import Consumer, Environment, Producer, Worker
    from cfq_lint.source.files import Files
    from cfq_lint.worker_code.modules.program import Program


@record
class Sender:
    """A producer in a file, the source of its Worker, and the bindings of all its producers."""

    producer: Producer
    program: Program
    bindings: frozenset[str]


@record
class Subject:
    """A queue, as one Worker of the run consumes it, or as it is only produced to.

    `label` is the environment, "" at the top level, and the file where several consume a queue of that name. `consumer` is None
    where no file of the run consumes the queue; then `program` is None too, and `code`, which is what the handler does with it.
    `dead_letters_of` are the queues that dead-letter into it.
    """

    queue: str
    label: str
    consumer: Consumer | None
    program: Program | None
    senders: tuple[Sender, ...]
    dead_letters_of: tuple[str, ...]
    facts: QueueFacts | None
    account_consumers: tuple[ConsumerFacts, ...] | None
    load: DeclaredLoad
    code: Code | None = None

    @property
    def described(self) -> str:
        """How it is named to people."""
        return f"{self.queue} ({self.label})" if self.label else self.queue

    @property
    def only_dead_letters(self) -> bool:
        """Whether it is a dead-letter queue to which nobody in the run sends."""
        return bool(self.dead_letters_of) and not self.senders


@record
class Project:
    """All subjects of a run. `passed_over` are files that wrangler never reads, or that a build replaces."""

    subjects: tuple[Subject, ...]
    facts: Facts
    files: tuple[str, ...]
    consumed: dict[str, tuple[Consumer, ...]]
    passed_over: tuple[str, ...] = ()


def project_of(workers: Iterable[Worker], facts: Facts, files: Files) -> Project:
    """The subjects of the files of a run, dead-letter queues last; `files` reads what stands around them."""
    workers = sorted(workers, key=lambda worker: worker.document.path)
    deployed = [worker for worker in workers if _is_deployed(worker)]
    environments = [(worker, each) for worker in deployed for each in worker.environments if not each.is_previews]
    consumed: dict[str, list[Consumer]] = {}
    dead: dict[str, list[str]] = {}
    senders: dict[str, list[Sender]] = {}
    entries: list[tuple[Consumer, Environment, Worker, Program]] = []
    for worker, environment in environments:
        if not environment.entries:
            continue
        program = program_of(environment, environment.document.files or files)
        program.read_all()
        for consumer in environment.consumers:
            if consumer.queue is not None:
                consumed.setdefault(consumer.queue_name, []).append(consumer)
                entries.append((consumer, environment, worker, program))
            if consumer.dead_letter_queue is not None:
                dead.setdefault(str(consumer.dead_letter_queue.text), []).append(consumer.queue_name)
        bindings = frozenset(each.binding.text or "" for each in environment.producers if each.binding is not None)
        for producer in environment.producers:
            if producer.queue is not None:
                senders.setdefault(producer.queue_name, []).append(Sender(producer, program, bindings))

    def subject(queue: str, label: str, consumer: Consumer | None, program: Program | None) -> Subject:
        return Subject(
            queue,
            label,
            consumer,
            program,
            tuple(senders.get(queue, ())),
            tuple(dict.fromkeys(each for each in dead.get(queue, ()) if each != queue)),
            facts.queues.get(queue),
            facts.consumers(queue),
            facts.load(queue),
        )

    subjects = [
        replace(
            subject(consumer.queue_name, environment.shown, consumer, program),
            code=_code(consumer, environment, worker, program),
        )
        for consumer, environment, worker, program in entries
    ]
    subjects += [subject(queue, "", None, None) for queue in senders if queue not in consumed]
    named = [subject.described for subject in subjects]
    subjects = [
        replace(each, label=", ".join(filter(None, (each.label, each.consumer.document.path))))
        if each.consumer is not None and named.count(each.described) > 1
        else each
        for each in subjects
    ]
    subjects.sort(key=lambda each: each.only_dead_letters)
    return Project(
        tuple(subjects),
        facts,
        tuple(worker.document.path for worker in workers),
        {queue: tuple(each) for queue, each in consumed.items()},
        tuple(worker.document.path for worker in workers if worker not in deployed),
    )


def _code(consumer: Consumer, environment: Environment, worker: Worker, program: Program) -> Code:
    """What a Worker does with the messages of one consumer."""
    queue = consumer.queue_name
    dead = {each.dead_letter_queue.text for each in worker.consumers() if each.dead_letter_queue is not None}
    consuming = consuming_of(consumer, environment, handled_once(program, queue), is_dead_letters=queue in dead)
    return Code(worker, program, (consuming,))


def _is_deployed(worker: Worker) -> bool:
    document = worker.document
    return document.shadowed_by is None and (document.redirect is None or document.redirect.target is None)
