"""The course's decision: try again after so many seconds, or stop for a reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .backoff import Backoff, linear
from .errors import ErrorClass, RateLimited, chain, classify

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_RETRIES = 3
DELAYS: Mapping[ErrorClass, Backoff] = {
    ErrorClass.NETWORK: linear(30),
    ErrorClass.RATE_LIMIT: linear(60),
    ErrorClass.SERVER: linear(30),
    ErrorClass.UNKNOWN: linear(30),
}
"""The course's delays: 30 * (k + 1) seconds, twice that when the other side limits the rate."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Either `retry` with `delay_seconds`, or not, with a `reason`."""

    retry: bool
    delay_seconds: int | None
    reason: str | None
    error_class: ErrorClass


def decide_retry(
    error: Any, retries: int, *, max_retries: int = MAX_RETRIES, delays: Mapping[ErrorClass, Backoff] | None = None
) -> Decision:
    """Whether to try again. `retries` is how many there were: `message.attempts - 1`, for attempts start at 1.

    `delays` stands in for DELAYS, class by class. An answer's own Retry-After (RateLimited.retry_after_seconds) is kept when
    it is longer than the curve. The reason is "max retries exceeded (N)" or "client error: …".
    """
    kind = classify(error)
    if retries >= max_retries:
        return Decision(False, None, f"max retries exceeded ({max_retries})", kind)
    if kind is ErrorClass.CLIENT:
        return Decision(False, None, f"client error: {error}", kind)
    backoff = (delays or DELAYS).get(kind) or DELAYS[kind]
    return Decision(True, max(backoff(retries), asked_for(error, backoff.longest_seconds)), None, kind)


def asked_for(error: Any, longest_seconds: int) -> int:
    """The seconds that a rate limited answer asked to wait; 0 when it did not."""
    if not isinstance(error, BaseException):
        return 0
    asked = [one.retry_after_seconds or 0 for one in chain(error) if isinstance(one, RateLimited)]
    return min(max([0, *asked]), longest_seconds)
