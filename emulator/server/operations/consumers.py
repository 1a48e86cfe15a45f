"""Consumers over REST: a queue has one, a Worker's or an http_pull consumer.

https://developers.cloudflare.com/api/resources/queues/subresources/consumers/. PUT overwrites: what is left out takes its
default. Both names of the script are shown, because wrangler reads `script` and the SDK `script_name`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cfq_lint.facts import limits
from emulator.core import commands, refusals
from emulator.core.model import Consumer
from emulator.engine.journal import JournalUnwritable
from emulator.server.access import READ
from emulator.server.operations.operation import Call, Operation, checked_id, missing
from emulator.server.service import Service, iso
from emulator.server.wire import bodies

if TYPE_CHECKING:
    from emulator.server.directory import Row

MILLISECONDS = 1_000


def consumer_json(service: Service, row: Row) -> dict[str, Any]:
    """A queue's consumer as the API shows it."""
    consumer = service.state.queues[row["core"]].consumer
    assert consumer is not None, "only a consumer that is there is shown"
    if row["consumer"] is None:  # somebody has set it in process
        service.directory.save(row, consumer=service.directory.new_consumer(service.now_us))
    known = row["consumer"]
    settings: dict[str, Any] = {
        "batch_size": consumer.max_batch_size,
        "max_retries": consumer.max_retries,
        "retry_delay": consumer.retry_delay,
    }
    shown = {
        "consumer_id": known["id"],
        "type": consumer.type,
        "queue_name": row["public"],
        "queue_id": row["id"],
        "dead_letter_queue": service.directory.public(consumer.dead_letter_queue),
        "created_on": iso(known["created_us"]),
        "settings": settings,
    }
    if consumer.type == "http_pull":
        settings["visibility_timeout_ms"] = consumer.visibility_timeout_ms
    else:
        shown |= {"script": known["script"], "script_name": known["script"], "environment": ""}
        settings["max_wait_time_ms"] = round(consumer.max_batch_timeout * MILLISECONDS)
        settings["max_concurrency"] = consumer.max_concurrency
    return shown


def list_consumers(call: Call) -> list[dict[str, Any]]:
    """The queue's consumer, if it has one."""
    row = call.row()
    return [] if call.service.state.queues[row["core"]].consumer is None else [consumer_json(call.service, row)]


def create_consumer(call: Call) -> dict[str, Any]:
    """Give a queue its consumer. Refuses with 11004 for a second one, 100127 for bad settings."""
    return _set(call, call.row(), replace=False)


def put_consumer(call: Call) -> dict[str, Any]:
    """Overwrite a consumer, or make it if the queue has none. Refuses with 11004 where it has another one."""
    row, id = call.row(), checked_id(call.params["consumer_id"])
    if call.service.state.queues[row["core"]].consumer is None:
        return _set(call, row, replace=False, id=id)
    if consumer_json(call.service, row)["consumer_id"] != id:
        raise refusals.ConsumerExists(f"Queue '{row['public']}' has another consumer already: {refusals.ConsumerExists.cause}")
    return _set(call, row, replace=True, id=id)


def _set(call: Call, row: Row, *, replace: bool, id: str | None = None) -> dict[str, Any]:
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


def _consumer(body: bodies.SetConsumer, dead_letter_queue: str | None) -> Consumer:
    """What was asked for. What only the other type of consumer uses is kept, too, so that the core judges it."""
    given = body.settings or bodies.ConsumerSettings()
    pulls = body.type == "http_pull"
    size = limits.PULL_BATCH_SIZE_DEFAULT if pulls else limits.BATCH_SIZE_DEFAULT
    wait_ms = given.max_wait_time_ms
    visibility_ms = given.visibility_timeout_ms
    retries = given.max_retries
    return Consumer(
        body.type,
        size if given.batch_size is None else given.batch_size,
        limits.BATCH_TIMEOUT_SECONDS_DEFAULT if wait_ms is None else _seconds(wait_ms),
        limits.RETRIES_DEFAULT if retries is None else retries,
        dead_letter_queue,
        given.retry_delay or 0,
        given.max_concurrency,
        limits.VISIBILITY_TIMEOUT_MS_DEFAULT if visibility_ms is None else visibility_ms,
    )


def _seconds(milliseconds: int) -> float:
    """Whole seconds as a whole number, so that a journal shows 5 and not 5.0."""
    return milliseconds // MILLISECONDS if milliseconds % MILLISECONDS == 0 else milliseconds / MILLISECONDS


def _found(call: Call) -> Row:
    """The queue, if its consumer is the one that the path names."""
    row, id = call.row(), checked_id(call.params["consumer_id"])
    if call.service.state.queues[row["core"]].consumer is None or consumer_json(call.service, row)["consumer_id"] != id:
        raise missing("Consumer")
    return row


def get_consumer(call: Call) -> dict[str, Any]:
    """The queue's consumer."""
    return consumer_json(call.service, _found(call))


def delete_consumer(call: Call) -> None:
    """Take the consumer away; the queue goes on storing."""
    row = _found(call)
    call.service.execute(commands.RemoveConsumer(row["core"]))
    call.service.directory.save(row, consumer=None)


CONSUMERS = "/queues/{queue_id}/consumers"
CONSUMER = f"{CONSUMERS}/{{consumer_id}}"
OPERATIONS = (
    Operation("GET", CONSUMERS, "list_consumers", list_consumers, "ConsumerList", scope=READ),
    Operation("POST", CONSUMERS, "create_consumer", create_consumer, "Consumer", bodies.SetConsumer),
    Operation("GET", CONSUMER, "get_consumer", get_consumer, "Consumer", scope=READ),
    Operation("PUT", CONSUMER, "put_consumer", put_consumer, "Consumer", bodies.SetConsumer),
    Operation("DELETE", CONSUMER, "delete_consumer", delete_consumer),
)
