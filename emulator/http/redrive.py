"""Redrive: dead letters go to their source again, as new messages.

Sent first, deleted second: a crash in between doubles a message, and never loses one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cfq_lint import limits
from emulator.core import commands
from emulator.core.decide.manage import find
from emulator.core.model import FLYING
from emulator.ids import Ids

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.core.model import Message
    from emulator.http.service import Service


def redrive(service: Service, source: str, target: str, ids: list[str] | None, limit: int) -> int:
    """Move messages by their ids, or the first `limit`. What a consumer has in hand stays. How many were moved."""
    held = find(service.state, source).messages
    find(service.state, target)
    chosen = list(held.values()) if ids is None else [held[id] for id in dict.fromkeys(ids) if id in held]
    chosen = [message for message in chosen if message.place < FLYING][:limit]
    draw = Ids(None)
    for batch in _batches(chosen):
        service.execute(
            commands.Send(
                target, draw.take(len(batch)), tuple([m.body for m in batch]), tuple([m.content_type for m in batch]),
                (None,) * len(batch), None, many=True,
            )
        )  # fmt: skip
        service.execute(commands.Purge(source, tuple([m.id for m in batch])))
    return len(chosen)


def _batches(messages: list[Message]) -> Iterator[list[Message]]:
    """As many together as one sendBatch() takes."""
    batch: list[Message] = []
    size_bytes = 0
    for message in messages:
        full = len(batch) == limits.SEND_BATCH_COUNT_MAX or size_bytes + len(message.body) > limits.SEND_BATCH_SIZE_BYTES
        if batch and full:
            yield batch
            batch, size_bytes = [], 0
        batch.append(message)
        size_bytes += len(message.body)
    if batch:
        yield batch
