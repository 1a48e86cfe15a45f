"""What is checked: strict is what Cloudflare allows, relaxed lifts every number. None means unbounded.

The numbers come from `cfq_lint.facts.limits`. A test that needs a small backlog limit, say, takes `STRICT._replace(...)`.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from cfq_lint.facts import limits as cloudflare


class Limits(NamedTuple):
    """The bounds that the core enforces; None for one that is not enforced."""

    message_size_bytes: int | None = cloudflare.MESSAGE_SIZE_BYTES
    batch_count: int | None = cloudflare.SEND_BATCH_COUNT_MAX
    batch_size_bytes: int | None = cloudflare.SEND_BATCH_SIZE_BYTES
    delay_seconds: int | None = cloudflare.DELAY_SECONDS_MAX
    throughput_per_second: int | None = cloudflare.THROUGHPUT_PER_SECOND
    backlog_size_bytes: int | None = cloudflare.BACKLOG_SIZE_BYTES
    queues: int | None = cloudflare.QUEUES_PER_ACCOUNT
    consumer_batch_size: int | None = cloudflare.BATCH_SIZE_MAX
    consumer_batch_timeout_seconds: int | None = cloudflare.BATCH_TIMEOUT_SECONDS_MAX
    consumer_retries: int | None = cloudflare.RETRIES_MAX
    consumer_concurrency: int | None = cloudflare.CONCURRENCY_MAX
    pull_batch_size: int | None = cloudflare.BATCH_SIZE_MAX
    visibility_timeout_ms: int | None = cloudflare.VISIBILITY_TIMEOUT_MS_MAX
    retention_seconds_min: int | None = cloudflare.RETENTION_SECONDS_MIN
    retention_seconds_max: int | None = cloudflare.RETENTION_SECONDS_MAX
    free_operations_per_day: int | None = cloudflare.FREE_OPERATIONS_PER_DAY
    free_subrequests: int | None = cloudflare.SUBREQUESTS_FREE
    paid_subrequests: int | None = cloudflare.SUBREQUESTS_PAID


STRICT = Limits()
RELAXED = Limits(*[None] * len(Limits._fields))
_MODES = {"strict": STRICT, "relaxed": RELAXED}

QUEUE_NAME = re.compile(cloudflare.QUEUE_NAME_PATTERN)
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
    return cloudflare.RETENTION_SECONDS_FREE if plan == "free" else cloudflare.RETENTION_SECONDS_DEFAULT


def fixed_retention_seconds(plan: str, limits: Limits) -> int | None:
    """The retention that every queue of that plan has; None where each queue has its own."""
    return cloudflare.RETENTION_SECONDS_FREE if plan == "free" and limits.retention_seconds_max is not None else None


def subrequests(plan: str, limits: Limits) -> int | None:
    """How many calls an invocation may make on that plan; None without a limit."""
    return limits.free_subrequests if plan == "free" else limits.paid_subrequests


def within(value: float, low: float | None, high: float | None) -> bool:
    """Whether a value lies in a closed range; None is an open end."""
    return (low is None or value >= low) and (high is None or value <= high)
