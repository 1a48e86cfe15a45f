"""What is checked: strict is what Cloudflare allows, relaxed lifts every number. None means unbounded.

The numbers come from `cfq_lint.facts.limits`. A test that needs a small backlog limit, say, takes `STRICT._replace(...)`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cfq_lint.facts import limits


class Limits(NamedTuple):
    """The bounds that the core enforces; None for one that is not enforced."""

    message_size_bytes: int | None = limits.MESSAGE_SIZE_BYTES
    batch_count: int | None = limits.SEND_BATCH_COUNT_MAX
    batch_size_bytes: int | None = limits.SEND_BATCH_SIZE_BYTES
    delay_seconds: int | None = limits.DELAY_SECONDS_MAX
    throughput_per_second: int | None = limits.THROUGHPUT_PER_SECOND
    backlog_size_bytes: int | None = limits.BACKLOG_SIZE_BYTES
    queues: int | None = limits.QUEUES_PER_ACCOUNT
    consumer_batch_size: int | None = limits.BATCH_SIZE_MAX
    consumer_batch_timeout_seconds: int | None = limits.BATCH_TIMEOUT_SECONDS_MAX
    consumer_retries: int | None = limits.RETRIES_MAX
    consumer_concurrency: int | None = limits.CONCURRENCY_MAX
    pull_batch_size: int | None = limits.BATCH_SIZE_MAX
    visibility_timeout_ms: int | None = limits.VISIBILITY_TIMEOUT_MS_MAX
    retention_seconds_min: int | None = limits.RETENTION_SECONDS_MIN
    retention_seconds_max: int | None = limits.RETENTION_SECONDS_MAX


STRICT = Limits()
RELAXED = Limits(*[None] * len(Limits._fields))
_MODES = {"strict": STRICT, "relaxed": RELAXED}

QUEUE_NAME = re.compile(limits.QUEUE_NAME_PATTERN)
SECOND_US = 1_000_000


def limits_of(mode: str | Limits) -> Limits:
    """The limits of a mode, "strict" or "relaxed", or the limits given. Raises ValueError for another mode."""
    if isinstance(mode, Limits):
        return mode
    if mode not in _MODES:
        message = f"limits must be 'strict', 'relaxed' or a Limits value, not {mode!r}"
        raise ValueError(message)
    return _MODES[mode]


def retention_seconds(plan: str) -> int:
    """How long a queue of that plan keeps a message when nobody says otherwise, in seconds."""
    return limits.RETENTION_SECONDS_FREE if plan == "free" else limits.RETENTION_SECONDS_DEFAULT


def within(value: float, low: float | None, high: float | None) -> bool:
    """Whether a value lies in a closed range; None is an open end."""
    return (low is None or value >= low) and (high is None or value <= high)
