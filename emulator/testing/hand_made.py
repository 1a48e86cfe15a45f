"""Batches made by hand, for a test of a handler alone: `createMessageBatch` and `getQueueResult` of Cloudflare's test pool.

>>> batch = create_batch("jobs", [{"id": "a", "timestamp": 1000, "attempts": 1, "body": {"n": 1}}])
>>> batch.messages[0].ack()
>>> result_of(batch).explicit_acks
['a']

https://developers.cloudflare.com/workers/testing/vitest-integration/test-apis/ (createMessageBatch, getQueueResult).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from emulator.core.limits import STRICT
from emulator.core.messages import Columns
from emulator.core.model import QueueConfig, QueueState
from emulator.engine import bodies
from emulator.engine.clock import moment_us
from emulator.engine.metrics import Metrics
from emulator.engine.targets.batch import MessageBatch

_FIELDS = ("id", "timestamp", "attempts", "body")
_MILLISECOND_US = 1_000


class RetryBatch(NamedTuple):
    """Whether `retryAll()` was called, and the delay that it named, in seconds."""

    retry: bool
    delay_seconds: int | None


class RetryMessage(NamedTuple):
    """A message that `retry()` was called on, and the delay that it named, in seconds."""

    msg_id: str
    delay_seconds: int | None


class QueueResult(NamedTuple):
    """What a handler's calls come to: lists are in the order of the batch. `outcome` is "ok": an error is the test's own.

    `warnings` are workerd's, on calls that had no effect.
    """

    outcome: str
    ack_all: bool
    retry_batch: RetryBatch
    explicit_acks: list[str]
    retry_messages: list[RetryMessage]
    warnings: list[str]


class HandMadeBatch(MessageBatch):
    """A batch of no queue: it is given to a handler by a test, and `result_of` tells what became of it."""

    __slots__ = ("ids",)

    def __init__(self, queue: str, columns: Columns) -> None:
        super().__init__(queue, lambda: columns, Metrics(QueueState(QueueConfig(queue))), STRICT, lambda _text: None)
        self.ids = columns.ids


def create_batch(queue: str, messages: Iterable[Mapping[str, Any]]) -> HandMadeBatch:
    """A batch for a handler: each message is `{"id", "timestamp", "attempts", "body"}`, the time as datetime or milliseconds.

    A handler sees a copy of each body. Raises TypeError for a field that is missing, not known, or of another type.
    """
    if isinstance(messages, Mapping | str | bytes) or not isinstance(messages, Iterable):
        message = f"create_batch() takes a list of messages, not {type(messages).__name__}"
        raise TypeError(message)
    rows = [_row(each, entry) for entry, each in enumerate(messages, 1)]
    return HandMadeBatch(str(queue), Columns(*zip(*rows, strict=True)) if rows else Columns((), (), (), (), ()))


def result_of(batch: HandMadeBatch) -> QueueResult:
    """What has been asked for the messages of a batch that `create_batch` made. Raises TypeError for another one."""
    if not isinstance(batch, HandMadeBatch):
        message = f"result_of() takes a batch made by create_batch(), not {type(batch).__name__}"
        raise TypeError(message)
    said = batch.calls()
    return QueueResult(
        said.outcome,
        said.ack_all,
        RetryBatch(said.retry_all, said.retry_all_delay_seconds),
        [id for id in batch.ids if id in said.acks],
        [RetryMessage(id, delay) for id, delay in said.retries],
        list(said.warnings),
    )


def _row(given: Mapping[str, Any], entry: int) -> tuple[str, int, bytes, str, int]:
    if not isinstance(given, Mapping):
        message = f"a message is a mapping of {', '.join(_FIELDS)}, not {type(given).__name__}"
        raise TypeError(message)
    unknown, missing = [name for name in given if name not in _FIELDS], [name for name in _FIELDS if name not in given]
    if unknown or missing:
        what = f"has no {missing[0]!r}" if missing else f"has {unknown[0]!r}"
        message = f"message {entry} {what}: each message has {', '.join(_FIELDS)}"
        raise TypeError(message)
    attempts = given["attempts"]
    if type(attempts) is not int or attempts < 1:
        message = f"message {entry}: 'attempts' counts deliveries from 1, and is {attempts!r}"
        raise TypeError(message)
    at_us = _timestamp_us(given["timestamp"], entry)
    return str(given["id"]), attempts, bodies.encode(given["body"], "v8"), "v8", at_us


def _timestamp_us(given: object, entry: int) -> int:
    if isinstance(given, datetime | str):
        return moment_us(given)
    if isinstance(given, int | float) and not isinstance(given, bool):
        return round(given * _MILLISECOND_US)
    message = f"message {entry}: 'timestamp' is a datetime or milliseconds since 1970, not {type(given).__name__}"
    raise TypeError(message)
