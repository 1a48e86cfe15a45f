"""Time for the account's reader: the only place of the linter that knows what time it is, and that waits."""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections import deque
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from cfq_lint.account.errors import WAIT_SECONDS_MAX, TooLong
from cfq_lint.facts import limits

if TYPE_CHECKING:
    from cfq_lint.facts.errors import AccountError

BACKOFF_SECONDS = 0.5
"""The first wait where the server names none; each further one is twice as long."""
READ_SECONDS_MAX = 30 * 60
_DIGITS_MAX = 9


class Clock:
    """The time, and waiting. Tests have one of their own."""

    def now(self) -> dt.datetime:
        """This moment."""
        return dt.datetime.now(dt.UTC)

    def monotonic(self) -> float:
        """Seconds since some moment; they never jump."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


class Pace:
    """Keeps within Cloudflare's requests per window, whatever is asked, and bounds all waiting."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._begun = clock.monotonic()
        self._sent: deque[float] = deque(maxlen=limits.API_REQUESTS)
        self._waited = 0.0

    async def turn(self) -> None:
        """Wait until one more request is within the limit, and count it. Raises TooLong."""
        now = self._clock.monotonic()
        if len(self._sent) == limits.API_REQUESTS:
            # The clock is read anew: a sleep may be short of what was asked.
            while (early := self._sent[0] + limits.API_WINDOW_SECONDS - now) > 0:
                await self._clock.sleep(early)
                now = self._clock.monotonic()
        if now - self._begun > READ_SECONDS_MAX:
            raise TooLong(READ_SECONDS_MAX)
        self._sent.append(now)

    async def wait(self, error: AccountError, tries: int) -> None:
        """Wait before asking again after an error that came `tries` times. Raises it where that cannot help or takes long."""
        seconds = BACKOFF_SECONDS * 2 ** (tries - 1) if error.wait_seconds is None else error.wait_seconds
        if tries > error.retries or self._waited + seconds > WAIT_SECONDS_MAX:
            raise error
        self._waited += seconds
        await self._clock.sleep(seconds)


def seconds_asked(retry_after: str | None, now: dt.datetime) -> float | None:
    """The seconds in a Retry-After header, which holds them or an HTTP date; None where it holds neither."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdecimal():
        return float(text[:_DIGITS_MAX])  # beyond that all are too long
    until = moment(text)
    return None if until is None else max(0.0, (until - now).total_seconds())


def moment(date: str | None) -> dt.datetime | None:
    """The moment of an HTTP date; None for what is none."""
    try:
        found = parsedate_to_datetime((date or "").strip())
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    return found.replace(tzinfo=dt.UTC) if found.tzinfo is None else found
