"""Requests within Cloudflare's limit, and waits that end; on a clock that costs no time."""

from __future__ import annotations

import asyncio
import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cfq_lint.account import errors, pace
from cfq_lint.account.pace import Pace, seconds_asked
from cfq_lint.facts import limits

from .hostile import FakeClock

NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@given(st.lists(st.floats(0, 2), min_size=1, max_size=60), st.integers(2_400, 4_000))
def test_no_window_of_five_minutes_has_more_requests_than_cloudflare_allows(gaps, count):
    clock = FakeClock()
    moments = []

    async def ask():
        turns = Pace(clock)
        for number in range(count):
            clock.seconds += gaps[number % len(gaps)] / 10
            try:
                await turns.turn()
            except errors.TooLong:
                return
            moments.append(clock.seconds)

    asyncio.run(ask())
    for first, beyond in zip(moments, moments[limits.API_REQUESTS :], strict=False):
        assert beyond - first >= limits.API_WINDOW_SECONDS - 1e-6


def test_below_the_limit_nobody_waits():
    clock = FakeClock()

    async def ask():
        turns = Pace(clock)
        for _ in range(limits.API_REQUESTS):
            await turns.turn()
        assert clock.slept == []
        await turns.turn()

    asyncio.run(ask())
    assert clock.slept == [limits.API_WINDOW_SECONDS]


def test_a_sleep_that_ends_early_is_slept_again():
    clock = FakeClock()
    whole = clock.sleep

    async def short(seconds):
        await whole(seconds / 2 if seconds > 1 else seconds)

    clock.sleep = short

    async def ask():
        turns = Pace(clock)
        for _ in range(limits.API_REQUESTS + 1):
            await turns.turn()

    asyncio.run(ask())
    assert clock.seconds >= limits.API_WINDOW_SECONDS


def test_a_reading_that_takes_half_an_hour_is_given_up():
    clock = FakeClock()

    async def ask():
        turns = Pace(clock)
        while True:
            await turns.turn()

    with pytest.raises(errors.TooLong, match="30 minutes"):
        asyncio.run(ask())
    assert clock.seconds <= pace.READ_SECONDS_MAX + limits.API_WINDOW_SECONDS


def waits(*given):
    """How long was waited after errors, until one was raised."""
    clock = FakeClock()

    async def ask():
        turns = Pace(clock)
        for error, tries in given:
            await turns.wait(error, tries)

    try:
        asyncio.run(ask())
    except errors.AccountError as error:
        return clock.slept, error
    return clock.slept, None


def test_each_wait_is_twice_as_long_and_the_fourth_try_is_the_last():
    error = errors.ServerFailed("h", 500, None)
    assert waits(*((error, tries) for tries in (1, 2, 3, 4))) == ([0.5, 1.0, 2.0], error)


def test_the_server_s_word_counts_more_than_ours():
    assert waits((errors.TooManyRequests("h", 429, 7.0), 1), (errors.ServerFailed("h", 503, 0.0), 2)) == ([7.0, 0.0], None)


def test_all_waits_together_have_an_end():
    error = errors.TooManyRequests("h", 429, 25.0)
    assert waits((error, 1), (error, 2)) == ([25.0], error)


@pytest.mark.parametrize(
    "error", [errors.WrongAccess("x"), errors.NotTrusted("h", "x"), errors.Refused("h", 400), errors.Redirected("h", 302, "x"), errors.NotJson("h", "x"), errors.TooLarge("h", 1)]
)
def test_where_asking_again_cannot_help_nobody_does(error):
    assert waits((error, 1)) == ([], error)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None), ("", None), ("soon", None), ("-1", None), ("1.5", None), ("1e9", None), ("٣", None), ("nan", None), ("Thu, 99 Jan", None),
        ("0", 0), (" 30 ", 30), ("007", 7), ("9" * 5_000, 999_999_999),
        ("Thu, 01 Jan 2026 00:01:00 GMT", 60), ("Wed, 31 Dec 2025 23:59:00 GMT", 0), ("Thu, 01 Jan 2026 01:00:30 +0100", 30),
        ("Thu, 01 Jan 2026 00:00:10 -0000", 10), ("Thursday, 01-Jan-26 00:00:20 GMT", 20), ("Thu Jan  1 00:00:20 2026", 20),
    ],
)  # fmt: skip
def test_retry_after_is_seconds_or_a_date_and_anything_else_is_nothing(header, seconds):
    assert seconds_asked(header, NOW) == seconds


@given(st.text(max_size=60))
def test_no_retry_after_breaks_anything(header):
    seconds = seconds_asked(header, NOW)
    assert seconds is None or seconds >= 0


def test_every_error_says_what_to_do():
    made = [
        errors.NotReached("h", "w"), errors.TimedOut("h", 10), errors.BrokenOff("h", "w"), errors.NotTrusted("h", "w"), errors.Unauthorized("h", 403, "s", ()),
        errors.NotFound("h", 404, "s", ()), errors.TooManyRequests("h", 429, None), errors.ServerFailed("h", 500, None), errors.Redirected("h", 302, "t"),
        errors.NotJson("h", "w"), errors.AnotherShape("h", "w", "y"), errors.TooLarge("h", 1), errors.NoEnd("h", "w"), errors.Incomplete("h", 2, 1), errors.TooLong(60),
    ]  # fmt: skip
    for error in made:
        assert any(word in str(error) for word in ("check", "Check", "try", "Try", "token needs")), error
        assert isinstance(error, errors.AccountError)
    names = {type(each).__name__ for each in made}
    named = {word for word in errors.__doc__.split() if word.rstrip(":") in vars(errors)}
    assert names <= {word.rstrip(":") for word in named}, "the tree in the docstring is whole"
