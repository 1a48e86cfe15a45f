"""The runtime's own result of a queue event: what it makes of a batch.

`{outcome, ackAll, retryBatch, explicitAcks, retryMessages}`:
https://github.com/cloudflare/workerd/blob/main/src/workerd/api/queue.h.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from cfq_lint.facts import limits
from emulator.core.commands import Settle
from emulator.engine.options import bounded_delay

if TYPE_CHECKING:
    from emulator.core.events import Delivered

_OUTCOME_CHARACTERS_MAX = 100


class _RetryBatch(msgspec.Struct):
    retry: bool = False
    delaySeconds: int | None = None  # noqa: N815 - the runtime's name


class _RetryMessage(msgspec.Struct):
    msgId: str  # noqa: N815 - the runtime's name
    delaySeconds: int | None = None  # noqa: N815 - the runtime's name


class _Result(msgspec.Struct):
    """What an endpoint says of a batch."""

    outcome: str
    ackAll: bool = False  # noqa: N815 - the runtime's name
    retryBatch: _RetryBatch | None = None  # noqa: N815 - the runtime's name
    explicitAcks: list[str] = []  # noqa: N815 - the runtime's name; msgspec copies defaults
    retryMessages: list[_RetryMessage] = []  # noqa: N815 - as above


def settlement(event: Delivered, answer: bytes) -> Settle:
    """What an endpoint's answer makes of a batch. Raises ValueError for one that names messages it was not given."""
    result = msgspec.json.decode(answer, type=_Result)
    known, retried = set(event.ids), result.retryMessages
    if not {*result.explicitAcks, *(each.msgId for each in retried)} <= known:
        raise ValueError("the answer names messages that are not in the batch")
    batch = result.retryBatch or _RetryBatch()
    warnings: list[str] = []

    def bounded(delay_seconds: int | None, call: str) -> int | None:
        if delay_seconds is None:
            return None
        taken, warning = bounded_delay(delay_seconds, limits.DELAY_SECONDS_MAX, call)
        warnings.extend([warning] if warning else [])
        return taken

    retries = tuple([(each.msgId, bounded(each.delaySeconds, f"retry() of message {each.msgId}")) for each in retried])
    batch_delay = bounded(batch.delaySeconds, "retryAll()")
    return Settle(
        event.queue, event.batch, result.outcome[:_OUTCOME_CHARACTERS_MAX], None, frozenset(result.explicitAcks),
        retries, result.ackAll, batch.retry, batch_delay, warnings=tuple(warnings),
    )  # fmt: skip
