"""A snapshot of the account as a JSON file: the plan, and the queues with their settings and consumers. For `--facts`."""

from __future__ import annotations

import os
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from cfq_lint.facts import Facts, QueueFacts
from cfq_lint.settings import WrongSettings

_Seconds = Annotated[int, Field(strict=True, ge=0)]


class SnapshotConsumer(BaseModel):
    """A consumer of a queue in the account, by the names of Cloudflare's API."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: Literal["worker", "http_pull", "notification"] = "worker"
    script_name: str | None = None
    dead_letter_queue: str | None = None
    settings: dict[str, int | None] = {}


class SnapshotQueue(BaseModel):
    """A queue in the account. Times are seconds; a jurisdiction of null is global."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    message_retention_period: _Seconds | None = None
    jurisdiction: Literal["eu", "us", "fedramp"] | None = None
    delivery_delay: _Seconds | None = None
    delivery_paused: bool | None = None
    consumers: list[SnapshotConsumer] | None = Field(None, description="null where nobody looked; empty where there is none")


class Snapshot(BaseModel):
    """What is known of an account."""

    model_config = ConfigDict(extra="forbid", frozen=True, title="Snapshot of an account for cfq-lint check --facts")

    version: Literal[1] = 1
    plan: Literal["free", "paid"] | None = None
    queues: dict[str, SnapshotQueue] = Field({}, description="all queues of the account, by name")


def load(path: str) -> Facts:
    """Read a snapshot. Raises WrongSettings, which says what is wrong with the file."""
    try:
        with open(path, "rb") as file:
            snapshot = Snapshot.model_validate_json(file.read())
    except OSError as error:
        raise WrongSettings(f"{path}: cannot be read: {error.strerror or error}") from error
    except ValidationError as error:
        said = [(".".join(map(str, mistake["loc"])), mistake["msg"]) for mistake in error.errors(include_url=False)]
        lines = [f"{path}: {where}: {what}" if where else f"{path}: {what}" for where, what in said]
        raise WrongSettings("\n".join(lines)) from error
    queues = {
        name: QueueFacts(
            jurisdiction=queue.jurisdiction or "global",
            message_retention_period=queue.message_retention_period,
            delivery_delay=queue.delivery_delay,
            delivery_paused=queue.delivery_paused,
            consumers=None if queue.consumers is None else tuple(consumer.type for consumer in queue.consumers),
        )
        for name, queue in snapshot.queues.items()
    }
    return Facts(snapshot.plan, queues, frozenset(queues), f"in {os.path.basename(path)}")
