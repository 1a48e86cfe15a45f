"""Which consumer of an environment is the twin of one at the top level: names usually differ between environments."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cfq_lint.model.wrangler import Consumer, Environment


def twins(environment: Environment) -> Iterator[tuple[Consumer, Consumer]]:
    """Pairs of a top-level consumer and its twin in the environment.

    A twin has the same queue name, or one that holds it (`orders`, `orders-staging`); where both sides have equally many
    consumers, the one in the same place is the twin of a consumer that has none by name. Nobody is the twin of two.
    """
    if environment.name is None:
        return
    waiting = [consumer for consumer in environment.consumers if consumer.queue is not None]
    in_place = len(waiting) == len(environment.top.consumers)
    unmatched = []
    for index, consumer in enumerate(environment.top.consumers):
        twin = _by_name(consumer.queue_name, waiting) if consumer.queue is not None else None
        if twin is None:
            unmatched.append((index, consumer))
        else:
            waiting.remove(twin)
            yield consumer, twin
    for index, consumer in unmatched:
        if in_place and environment.consumers[index] in waiting:
            yield consumer, environment.consumers[index]


def _by_name(name: str, consumers: list[Consumer]) -> Consumer | None:
    same = [consumer for consumer in consumers if consumer.queue_name == name]
    holding = [consumer for consumer in consumers if name in consumer.queue_name]
    shortest = min(holding, key=lambda consumer: len(consumer.queue_name), default=None)
    return same[0] if same else shortest
