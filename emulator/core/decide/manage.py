"""The control plane: queues, their settings, their consumers, purge.

https://developers.cloudflare.com/queues/configuration/configure-queues/ and .../dead-letter-queues/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cfq_lint.facts import limits as cloudflare
from emulator.core import commands, refusals
from emulator.core.decide import produce
from emulator.core.events import (
    ClockStopped,
    ConsumerRemoved,
    ConsumerSet,
    Event,
    HandlerAttached,
    Purged,
    QueueChanged,
    QueueCreated,
    QueueDeleted,
    Redriven,
)
from emulator.core.limits import QUEUE_NAME, Limits, fixed_retention_seconds, retention_seconds, within
from emulator.core.messages import FLYING

if TYPE_CHECKING:
    from emulator.core.model import Consumer, QueueState, State


def find(state: State, name: str) -> QueueState:
    """The queue of that name. Refuses with 11000 when there is none."""
    queue = state.queues.get(name)
    if queue is None:
        raise refusals.QueueUnknown(f"Queue not found: {name!r}")
    return queue


def create_queue(state: State, now_us: int, command: commands.CreateQueue, limits: Limits) -> tuple[Event, ...]:
    """A new queue, or a refusal: 11003 for its name, 11009 for a name that is taken, 100128 for its settings."""
    name = command.queue
    if not isinstance(name, str) or not QUEUE_NAME.fullmatch(name):
        raise refusals.InvalidQueueName(f"Invalid queue name {name!r}: it must match {cloudflare.QUEUE_NAME_PATTERN}")
    if name in state.queues:
        raise refusals.QueueNameTaken(f"Queue name '{name}' is already taken. Please use a different name and try again.")
    if limits.queues is not None and len(state.queues) >= limits.queues:
        raise refusals.InvalidQueueSettings(f"The account has {limits.queues} queues already, and may not have more")
    if command.jurisdiction is not None and command.jurisdiction not in cloudflare.JURISDICTIONS:
        allowed = ", ".join(cloudflare.JURISDICTIONS)
        raise refusals.InvalidQueueSettings(f"jurisdiction {command.jurisdiction!r} is none of {allowed}")
    _check_queue(state, command.delivery_delay, command.message_retention_period, limits)
    retention = command.message_retention_period
    retention = retention_seconds(state.plan) if retention is None else retention
    return (QueueCreated(now_us, name, command.delivery_delay or 0, retention, command.jurisdiction),)


def _check_queue(state: State, delay_seconds: int | None, retention: int | None, limits: Limits) -> None:
    if delay_seconds is not None and not (_whole(delay_seconds) and within(delay_seconds, 0, limits.delay_seconds)):
        raise refusals.InvalidQueueSettings(f"delivery_delay {delay_seconds!r} is not within 0..{limits.delay_seconds} seconds")
    if retention is None:
        return
    fixed = fixed_retention_seconds(state.plan, limits)
    if fixed is not None:
        if retention != fixed:
            raise refusals.InvalidQueueSettings(
                f"message_retention_period {retention!r}: the Free plan keeps messages {fixed} seconds, which cannot be changed"
            )
    elif not (_whole(retention) and within(retention, limits.retention_seconds_min or 0, limits.retention_seconds_max)):
        span = f"{limits.retention_seconds_min}..{limits.retention_seconds_max}"
        raise refusals.InvalidQueueSettings(f"message_retention_period {retention!r} is not within {span} seconds")


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def change_queue(state: State, now_us: int, command: commands.ChangeQueue, limits: Limits) -> tuple[Event, ...]:
    """Other settings; nothing happens when they are what they were. Refuses with 11000 or 100128."""
    config = find(state, command.queue).config
    _check_queue(state, command.delivery_delay, command.message_retention_period, limits)
    delay, retention, paused = command.delivery_delay, command.message_retention_period, command.delivery_paused
    changed = config._replace(
        delivery_delay=config.delivery_delay if delay is None else delay,
        message_retention_period=config.message_retention_period if retention is None else retention,
        delivery_paused=config.delivery_paused if paused is None else paused,
    )
    if changed == config:
        return ()
    delay, retention, paused = changed.delivery_delay, changed.message_retention_period, changed.delivery_paused
    return (QueueChanged(now_us, command.queue, delay, retention, paused),)


def delete_queue(state: State, now_us: int, command: commands.DeleteQueue, _limits: Limits) -> tuple[Event, ...]:
    """The queue and its messages are gone."""
    return (QueueDeleted(now_us, command.queue, tuple(find(state, command.queue).messages)),)


def set_consumer(state: State, now_us: int, command: commands.SetConsumer, limits: Limits) -> tuple[Event, ...]:
    """A consumer, and its dead-letter queue if that is missing. Refuses with 11000, 11004 for a second one, or 100127."""
    queue, consumer = find(state, command.queue), command.consumer
    if queue.consumer is not None and not command.replace:
        raise refusals.ConsumerExists(f"Queue '{command.queue}' has a consumer already: workers.api.error.consumer_exists")
    _check_consumer(consumer, limits)
    target = consumer.dead_letter_queue
    created: tuple[Event, ...] = ()
    if target is not None:
        if target == command.queue:
            raise refusals.InvalidConsumerSettings(f'Dead letter queue for queue "{target}" cannot be itself')
        other = state.queues.get(target)
        if other is None:
            create = commands.CreateQueue(target, jurisdiction=queue.config.jurisdiction)
            created = create_queue(state, now_us, create, limits)
        elif other.config.jurisdiction != queue.config.jurisdiction:
            raise refusals.InvalidConsumerSettings(
                f"dead_letter_queue '{target}' is in jurisdiction {other.config.jurisdiction or 'global'}, "
                f"and '{command.queue}' in {queue.config.jurisdiction or 'global'}: they must be in the same"
            )
    if (consumer, command.attached) == (queue.consumer, queue.attached):
        return created
    return (*created, ConsumerSet(now_us, command.queue, consumer, command.attached))


def _check_consumer(consumer: Consumer, limits: Limits) -> None:
    timeout_s, visibility_ms = limits.consumer_batch_timeout_seconds, limits.visibility_timeout_ms
    ranges: tuple[tuple[str, float | None, int, int | None], ...] = (
        ("max_batch_size", consumer.max_batch_size, cloudflare.BATCH_SIZE_MIN, limits.consumer_batch_size),
        ("max_batch_timeout", consumer.max_batch_timeout, cloudflare.BATCH_TIMEOUT_SECONDS_MIN, timeout_s),
        ("max_retries", consumer.max_retries, cloudflare.RETRIES_MIN, limits.consumer_retries),
        ("retry_delay", consumer.retry_delay, cloudflare.DELAY_SECONDS_MIN, limits.delay_seconds),
        ("max_concurrency", consumer.max_concurrency, cloudflare.CONCURRENCY_MIN, limits.consumer_concurrency),
        ("visibility_timeout_ms", consumer.visibility_timeout_ms, cloudflare.VISIBILITY_TIMEOUT_MS_MIN, visibility_ms),
    )
    if consumer.type not in {"worker", "http_pull"}:
        raise refusals.InvalidConsumerSettings(f"type {consumer.type!r} is none of worker, http_pull")
    for name, value, low, high in ranges:
        if value is None and name == "max_concurrency":
            continue
        whole = _whole(value) or (name == "max_batch_timeout" and isinstance(value, float) and value < _INFINITE)
        if value is None or not whole or not within(value, low, high):
            top = "" if high is None else high
            raise refusals.InvalidConsumerSettings(f"{name} {value!r} is not within {low}..{top}")


_INFINITE = float("inf")


def remove_consumer(state: State, now_us: int, command: commands.RemoveConsumer, _limits: Limits) -> tuple[Event, ...]:
    """The queue stores from now on. What is out may still end."""
    queue = find(state, command.queue)
    return () if queue.consumer is None else (ConsumerRemoved(now_us, command.queue),)


def attach(state: State, now_us: int, command: commands.Attach, _limits: Limits) -> tuple[Event, ...]:
    """The handler of a push consumer is there, or is not any more."""
    queue = find(state, command.queue)
    if queue.consumer is None or queue.attached == command.attached:
        return ()
    return (HandlerAttached(now_us, command.queue, command.attached),)


def purge(state: State, now_us: int, command: commands.Purge, _limits: Limits) -> tuple[Event, ...]:
    """Stored, delayed and leased messages go, or those of `ids`; a batch that a push consumer has in hand may finish."""
    messages = find(state, command.queue).messages
    if command.ids is None:
        ids = tuple([message.id for message in messages.values() if message.place != FLYING])
    else:
        ids = tuple([id for id in dict.fromkeys(command.ids) if id in messages and messages[id].place != FLYING])
    return (Purged(now_us, command.queue, ids),) if ids else ()


def redrive(state: State, now_us: int, command: commands.Redrive, limits: Limits) -> tuple[Event, ...]:
    """Messages go to another queue, in one event, so that a crash finds each in one of them. What a consumer has in hand stays.

    Refuses as a sendBatch to that queue does.
    """
    here, there = find(state, command.queue).messages, find(state, command.target).messages
    ids = tuple([id for id in dict.fromkeys(command.ids) if id in here and here[id].place < FLYING and id not in there])
    if not ids:
        return ()
    bodies, kinds = tuple([here[id].body for id in ids]), tuple([here[id].content_type for id in ids])
    send = commands.Send(command.target, ids, bodies, kinds, (None,) * len(ids), many=True)
    (sent,) = produce.send(state, now_us, send, limits)
    return (Redriven(now_us, command.queue, ids, command.target, sent.ready_us[0]),)


def stop_clock(state: State, now_us: int, _command: commands.StopClock, _limits: Limits) -> tuple[Event, ...]:
    """Remember the time, unless an event of this moment does so already."""
    return () if state.now_us == now_us else (ClockStopped(now_us),)


def dead_letter_queue(
    state: State, now_us: int, source: QueueState, consumer: Consumer, dead: list[str]
) -> tuple[tuple[Event, ...], str | None]:
    """Where dead letters go, and its creation if somebody has deleted it meanwhile."""
    target = consumer.dead_letter_queue if dead else None
    if target is None or target in state.queues:
        return (), target
    return (QueueCreated(now_us, target, 0, retention_seconds(state.plan), source.config.jurisdiction),), target
