"""Who consumes, produces and dead-letters where, over all files of a run: what the rules about the project are judged by.

The links are plain data without syntax trees, so that a run over many files keeps little and processes can pass them on.
"""

from __future__ import annotations

from cfq_lint.facts.keys import CONSUMER_KEYS, QUEUES_KEYS, is_queue_name
from cfq_lint.facts.limits import DELAY_SECONDS_MIN, RETRIES_DEFAULT
from cfq_lint.facts.record import record
from cfq_lint.model.finding import Fix
from cfq_lint.source.node import ARRAY, BROKEN, OBJECT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from cfq_lint.model.wrangler import Consumer, Environment, Field, Producer, Worker
    from cfq_lint.source.text import Place


@record
class ConsumerLink:
    """A consumer that names its queue. `place` is the queue's name in the file.

    `is_deployed` is False in a file that wrangler never reads, that a build replaces, or that is apart from what is deployed;
    `is_read` only in the first.
    `no_retries_place` is the number of retries where that is 0. `dead_letter_queue` and its place are None where there is none;
    `means_dead_letters` says that there is one, perhaps misspelt, and `twin_dead_letters` that it is the twin at the top level
    that has one. `add_dead_letter` is the fix that gives it one, for a queue
    that is no dead-letter queue of its file. `retries` and `retry_delay` are the defaults where the file leaves them out, and
    None where it holds what is no such number; `retry_delay_place` is where the delay stands.
    """

    queue: str
    place: Place
    environment: str | None
    label: str
    script: str
    is_push: bool
    is_deployed: bool
    no_retries_place: Place | None
    dead_letter_queue: str | None
    dead_letter_place: Place | None
    means_dead_letters: bool
    add_dead_letter: Fix | None
    twin_dead_letters: bool
    is_read: bool
    retries: int | None
    retry_delay: int | None
    retry_delay_place: Place | None

    @property
    def worker(self) -> str:
        """What tells its Worker from others: the name that it is deployed under, or else file and environment."""
        return self.script or f"{self.place.path}\0{self.label}"


@record
class ProducerLink:
    """A producer that names its queue. `place` is the queue's name in the file; `is_read` is as in `ConsumerLink`.

    `v8_place` is the compatibility date by which its messages are sent as v8; None where they are JSON.
    """

    queue: str
    place: Place
    environment: str | None
    label: str
    script: str
    binding: str
    is_read: bool
    v8_place: Place | None


@record
class WorkerLink:
    """A Worker that wrangler makes of a file. `place` is where the file names it.

    `is_whole` says that the file tells of all its consumers which queue they mean.
    """

    script: str
    place: Place
    environment: str | None
    is_whole: bool


@record
class DeclaredQueue:
    """A queue that the file itself makes, as a Terraform plan does. The retention is seconds, None where it is left out."""

    queue: str
    place: Place
    retention: int | None
    delivery_delay: int | None


@record
class Links:
    """The links of one file, in its order.

    `is_whole` is False where the file does not parse, and so may link anything; `is_open` says that it parses, and leaves open
    which queue a consumer means.
    """

    consumers: tuple[ConsumerLink, ...] = ()
    producers: tuple[ProducerLink, ...] = ()
    workers: tuple[WorkerLink, ...] = ()
    is_whole: bool = True
    declared: tuple[DeclaredQueue, ...] = ()
    is_open: bool = False


def links_of(worker: Worker) -> Links:
    """The links of one file, over the environments that the run looks at. `previews` are the same Worker and make no links."""
    environments = [each for each in worker.environments if not each.is_previews]
    dead = {
        consumer.dead_letter_queue.text for each in environments for consumer in each.consumers if consumer.dead_letter_queue
    }
    return Links(
        tuple(
            _consumer(each, consumer, is_dead_letter_queue=consumer.queue_name in dead)
            for each in environments
            for consumer in each.consumers
            if consumer.queue
        ),
        tuple(link for each in environments for link in _producers(each)),
        () if worker.document.shadowed_by is not None else tuple(_workers(environments)),
        declared=tuple(_declared(worker)),
        is_open=worker.document.dialect is not None and not all(_tells_consumers(each) for each in environments),
    )


def _declared(worker: Worker) -> Iterator[DeclaredQueue]:
    for each in worker.declared:
        if each.queue is not None:
            retention, delay = each.field("message_retention_period"), each.field("delivery_delay")
            place = (retention or each.queue).place
            yield DeclaredQueue(
                each.queue_name, place, *(field.integer if field is not None else None for field in (retention, delay))
            )


def _workers(environments: Iterable[Environment]) -> Iterator[WorkerLink]:
    for each in environments:
        own, top = each.fields.get("name"), each.top.fields.get("name")
        field = own if own is not None and own.text else top
        script = each.script
        if field is not None and script:
            yield WorkerLink(script, field.place, each.name, _is_whole(each))


def _tells_consumers(environment: Environment) -> bool:
    """Whether a file of another kind tells of all consumers which queue they mean: what it computes may be any."""
    queues, listed = environment.queues, environment.list_field("consumers")
    if (queues is not None and queues.kind == BROKEN) or (listed is not None and listed.kind == BROKEN):
        return False
    return all(
        node.kind != BROKEN and all(each.key != "queue" or each.node.kind != BROKEN for each in node.value)
        for node in (listed.items if listed is not None else ())
    )


def _is_whole(environment: Environment) -> bool:
    queues, listed = environment.queues, environment.list_field("consumers")
    if queues is None:
        return environment.name is None or "queues" not in environment.top.fields
    if queues.kind != OBJECT or any(key not in QUEUES_KEYS for key in queues.fields):
        return False
    consumers = environment.consumers
    return listed is None or (
        listed.kind == ARRAY and len(consumers) == len(listed.items) and all(each.queue is not None for each in consumers)
    )


def _consumer(environment: Environment, consumer: Consumer, *, is_dead_letter_queue: bool) -> ConsumerLink:
    queue, dead = consumer.queue, consumer.dead_letter_queue
    assert queue is not None, "only consumers that name their queue are links"
    document = consumer.document
    is_read = document.shadowed_by is None
    means_dead_letters = consumer.means("dead_letter_queue")
    retries, delay = consumer.field("max_retries"), consumer.field("retry_delay")
    fix = None
    name = f"{consumer.queue_name}-dlq"
    if not means_dead_letters and not is_dead_letter_queue and is_queue_name(name):
        from cfq_lint.model.edits import add_after  # only what is to be repaired needs it

        fix = Fix(
            f"add dead_letter_queue {name!r}", (add_after(consumer.node, queue, "dead_letter_queue", f'"{name}"'),), safe=False
        )
    # By place, not by name: it is the quicker way, and every consumer of a run comes by.
    return ConsumerLink(
        consumer.queue_name,
        queue.place,
        environment.name,
        environment.described,
        consumer.script,
        consumer.is_push,
        is_read and document.apart is None and (document.redirect is None or document.redirect.target is None),
        retries.place if retries is not None and retries.integer == 0 else None,
        dead.text if dead is not None else None,
        dead.place if dead is not None else None,
        means_dead_letters,
        fix,
        not means_dead_letters and _twin_has_dead_letters(environment, consumer),
        is_read,
        RETRIES_DEFAULT if retries is None else _number(retries),
        DELAY_SECONDS_MIN if delay is None else _number(delay),
        delay.place if delay is not None else None,
    )


def _number(field: Field) -> int | None:
    """The number, if Cloudflare takes it for that setting."""
    number = field.integer
    return number if number is not None and CONSUMER_KEYS[field.key].holds(number) else None


def _twin_has_dead_letters(environment: Environment, consumer: Consumer) -> bool:
    if environment.name is None or not environment.top.consumers:
        return False
    from cfq_lint.model.twins import twins  # only what lacks a dead-letter queue needs it

    return any(twin is consumer and top.dead_letter_queue is not None for top, twin in twins(environment))


def _producers(environment: Environment) -> Iterator[ProducerLink]:
    date = environment.inherited("compatibility_date")
    place = date.place if date is not None and sends_v8(environment) else None
    for producer in environment.producers:
        if producer.queue is not None:
            yield _producer(environment, producer, place)


def sends_v8(environment: Environment) -> bool:
    """Whether messages are sent as v8 unless a call says otherwise, by an old compatibility date."""
    date, flags = environment.inherited("compatibility_date"), environment.inherited("compatibility_flags")
    text = date.text if date is not None else None
    if text is None or text >= JSON_MESSAGES_FROM or not (len(text) == len(JSON_MESSAGES_FROM) and text[:4].isdigit()):
        return False
    return all(item.value != JSON_MESSAGES for item in (flags.items if flags is not None else ()))


JSON_MESSAGES_FROM = "2024-03-18"
"""Compatibility date from which messages are JSON by default."""
JSON_MESSAGES = "queues_json_messages"
"""The flag that makes them so before."""


def _producer(environment: Environment, producer: Producer, v8_place: Place | None) -> ProducerLink:
    queue, binding = producer.queue, producer.binding
    assert queue is not None, "only producers that name their queue are links"
    name = binding.text or "" if binding is not None else ""
    is_read = producer.document.shadowed_by is None
    return ProducerLink(
        producer.queue_name, queue.place, environment.name, environment.described, producer.script, name, is_read, v8_place
    )


class Topology:
    """All links of a run, and most of them by the name of the queue. Files come in order of path.

    `is_whole` says that every file tells all, so that these are all the links; `is_open` that a file which parses does not.
    `kept` is what one rule made of them and another takes up, by the name of the module that made it.
    """

    __slots__ = (
        "consumers",
        "consumers_of",
        "dead_letters_into",
        "declared",
        "is_open",
        "is_whole",
        "kept",
        "producers",
        "producers_of",
        "workers",
    )

    def __init__(self, links: Iterable[Links]) -> None:
        self.consumers: list[ConsumerLink] = []
        self.producers: list[ProducerLink] = []
        self.workers: list[WorkerLink] = []
        self.consumers_of: dict[str, list[ConsumerLink]] = {}
        self.producers_of: dict[str, list[ProducerLink]] = {}
        self.dead_letters_into: dict[str, list[ConsumerLink]] = {}
        self.declared: dict[str, DeclaredQueue] = {}
        self.is_whole = True
        self.is_open = False
        self.kept: dict[str, Any] = {}
        for each in links:
            self.is_whole = self.is_whole and each.is_whole and not each.is_open
            self.is_open = self.is_open or each.is_open
            self.consumers += each.consumers
            self.producers += each.producers
            self.workers += each.workers
            self.declared.update((queue.queue, queue) for queue in each.declared)
        for consumer in self.consumers:
            self.consumers_of.setdefault(consumer.queue, []).append(consumer)
            if consumer.dead_letter_queue is not None:
                self.dead_letters_into.setdefault(consumer.dead_letter_queue, []).append(consumer)
        for producer in self.producers:
            self.producers_of.setdefault(producer.queue, []).append(producer)
