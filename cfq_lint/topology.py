"""Who consumes, produces and dead-letters where, over all files of a run: what the rules about the project are judged by.

The links are plain data without syntax trees, so that a run over many files keeps little and processes can pass them on.
"""

from __future__ import annotations

from cfq_lint.finding import Fix
from cfq_lint.keys import is_queue_name
from cfq_lint.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cfq_lint.text import Place
    from cfq_lint.wrangler import Consumer, Environment, Producer, Worker


@record
class ConsumerLink:
    """A consumer that names its queue. `place` is the queue's name in the file.

    `is_deployed` is False in a file that wrangler never reads, or that a build replaces. `no_retries_place` is the number of
    retries where that is 0. `dead_letter_queue` and its place are None where there is none; `means_dead_letters` says that
    there is one, perhaps misspelt. `add_dead_letter` is the fix that gives it one, for a queue that is no dead-letter queue of
    its file.
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


@record
class ProducerLink:
    """A producer that names its queue. `place` is the queue's name in the file."""

    queue: str
    place: Place
    environment: str | None
    label: str
    script: str
    binding: str


@record
class Links:
    """The links of one file, in its order."""

    consumers: tuple[ConsumerLink, ...] = ()
    producers: tuple[ProducerLink, ...] = ()


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
        tuple(_producer(each, producer) for each in environments for producer in each.producers if producer.queue),
    )


def _consumer(environment: Environment, consumer: Consumer, *, is_dead_letter_queue: bool) -> ConsumerLink:
    queue, dead = consumer.queue, consumer.dead_letter_queue
    assert queue is not None, "only consumers that name their queue are links"
    document = consumer.document
    means_dead_letters = consumer.means("dead_letter_queue")
    retries = consumer.field("max_retries")
    fix = None
    name = f"{consumer.queue_name}-dlq"
    if not means_dead_letters and not is_dead_letter_queue and is_queue_name(name):
        from cfq_lint.edits import add_after  # only what is to be repaired needs it

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
        document.shadowed_by is None and (document.redirect is None or document.redirect.target is None),
        retries.place if retries is not None and retries.integer == 0 else None,
        dead.text if dead is not None else None,
        dead.place if dead is not None else None,
        means_dead_letters,
        fix,
    )


def _producer(environment: Environment, producer: Producer) -> ProducerLink:
    queue, binding = producer.queue, producer.binding
    assert queue is not None, "only producers that name their queue are links"
    name = binding.text or "" if binding is not None else ""
    return ProducerLink(producer.queue_name, queue.place, environment.name, environment.described, producer.script, name)


class Topology:
    """All links of a run, and the same by the name of the queue. Files come in order of path."""

    __slots__ = ("consumers", "consumers_of", "dead_letters_into", "producers", "producers_of")

    def __init__(self, links: Iterable[Links]) -> None:
        self.consumers: list[ConsumerLink] = []
        self.producers: list[ProducerLink] = []
        self.consumers_of: dict[str, list[ConsumerLink]] = {}
        self.producers_of: dict[str, list[ProducerLink]] = {}
        self.dead_letters_into: dict[str, list[ConsumerLink]] = {}
        for each in links:
            self.consumers += each.consumers
            self.producers += each.producers
        for consumer in self.consumers:
            self.consumers_of.setdefault(consumer.queue, []).append(consumer)
            if consumer.dead_letter_queue is not None:
                self.dead_letters_into.setdefault(consumer.dead_letter_queue, []).append(consumer)
        for producer in self.producers:
            self.producers_of.setdefault(producer.queue, []).append(producer)
