"""POST /queues/{queue_id}/consumers: a queue has one consumer, a Worker's or an http_pull consumer.

https://developers.cloudflare.com/api/resources/queues/subresources/consumers/.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from msgspec import Meta

from cfq_lint.facts import limits
from emulator.core import commands, refusals
from emulator.core.model import Consumer
from emulator.engine.journal import JournalUnwritable
from emulator.server.wire.fields import (
    BatchSize,
    Body,
    Concurrency,
    DeadLetterQueue,
    Delay,
    Retries,
    Short,
    Visibility,
    Wait,
)  # fmt: skip
from emulator.server.wire.operation import Call, Operation
from emulator.server.wire.resources import MILLISECONDS, consumer_json
from emulator.server.wire.schemas import CONSUMER

if TYPE_CHECKING:
    from emulator.server.directory import Row
    from emulator.server.service import Service


class ConsumerSettings(Body):
    """What can be set on a consumer: wait and concurrency on a Worker's, `visibility_timeout_ms` on an http_pull consumer."""

    batch_size: BatchSize | None = None
    max_retries: Retries | None = None
    max_wait_time_ms: Wait | None = None
    max_concurrency: Concurrency | None = None
    retry_delay: Delay | None = None
    visibility_timeout_ms: Visibility | None = None


def _needs(name: str) -> dict[str, Any]:
    return {"required": [name], "properties": {name: {"type": "string", "minLength": 1}}}


class SetConsumer(Body):
    """A consumer; a worker's needs `script_name` (or, as of old, `script` or `service`)."""

    schema: ClassVar[dict[str, Any]] = {
        "anyOf": [{"properties": {"type": {"const": "http_pull"}}}, *map(_needs, ("script_name", "script", "service"))]
    }

    type: Annotated[str, Meta(extra_json_schema={"enum": ["worker", "http_pull"]})]
    script_name: Short | None = None
    script: Short | None = None
    service: Short | None = None
    dead_letter_queue: DeadLetterQueue | None = None
    settings: ConsumerSettings | None = None


def create_consumer(call: Call) -> dict[str, Any]:
    """Give a queue its consumer. Refuses with 11004 for a second one, 100127 for bad settings."""
    return set_consumer(call, call.row(), replace=False)


def set_consumer(call: Call, row: Row, *, replace: bool, id: str | None = None) -> dict[str, Any]:
    """Give a queue the consumer that the body has, with an id of its own or this one."""
    service, body, before = call.service, call.body, row["consumer"]
    script = body.script_name or body.script or body.service or ""
    if body.type == "worker" and not script:
        raise refusals.JSONRequestBodyInvalid("a worker consumer needs script_name")
    known = service.directory.new_consumer(service.now_us, script, id)
    if replace and before:
        known["created_us"] = before["created_us"]
    if not replace and service.state.queues[row["core"]].consumer is not None:
        raise refusals.ConsumerExists(f"Queue '{row['public']}' has a consumer already: {refusals.ConsumerExists.cause}")
    consumer = _consumer(body, _dead_letter_queue(service, row, body.dead_letter_queue))
    service.directory.save(row, consumer=known)  # first, so that a consumer is never without its script
    attached = consumer.type == "worker" and service.handles(row["core"])
    try:
        service.execute(commands.SetConsumer(row["core"], consumer, attached, replace))
    except (refusals.Refused, JournalUnwritable):
        service.directory.undo(row, consumer=before)
        raise
    return consumer_json(service, row)


def _dead_letter_queue(service: Service, source: Row, name: str | None) -> str | None:
    """The core's name of a dead-letter queue. Where a queue that was renamed has that name inside, another is made for it."""
    directory = service.directory
    if not name:
        return None
    if name in directory.by_public or name not in directory.by_core:
        return directory.core(name)
    row = directory.prepare(name, service.now_us)
    jurisdiction = service.state.queues[source["core"]].config.jurisdiction
    try:
        service.execute(commands.CreateQueue(row["core"], jurisdiction=jurisdiction))
    except (refusals.Refused, JournalUnwritable):
        directory.forget(row["core"])
        raise
    return str(row["core"])


def _consumer(body: SetConsumer, dead_letter_queue: str | None) -> Consumer:
    """What was asked for. What only the other type of consumer uses is kept, too, so that the core judges it."""
    given = body.settings or ConsumerSettings()
    size = limits.PULL_BATCH_SIZE_DEFAULT if body.type == "http_pull" else limits.BATCH_SIZE_DEFAULT
    wait_ms = given.max_wait_time_ms
    return Consumer(
        body.type,
        size if given.batch_size is None else given.batch_size,
        limits.BATCH_TIMEOUT_SECONDS_DEFAULT if wait_ms is None else _seconds(wait_ms),
        limits.RETRIES_DEFAULT if given.max_retries is None else given.max_retries,
        dead_letter_queue,
        given.retry_delay or 0,
        given.max_concurrency,
        limits.VISIBILITY_TIMEOUT_MS_DEFAULT if given.visibility_timeout_ms is None else given.visibility_timeout_ms,
    )


def _seconds(milliseconds: int) -> float:
    """Whole seconds as a whole number, so that a journal shows 5 and not 5.0."""
    return milliseconds // MILLISECONDS if milliseconds % MILLISECONDS == 0 else milliseconds / MILLISECONDS


OPERATION = Operation(
    "POST", "/queues/{queue_id}/consumers", create_consumer, CONSUMER, SetConsumer, made=("consumer_id", "consumer_id")
)
